/* SPDX-License-Identifier: Apache-2.0 */
/* Routes about the commands that run or ran. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "guest/api.h"
#include "guest/run.h"
#include "guest/signame.h"
#include "guest/text.h"

#define DEFAULT_LIMIT (1024 * 1024)
#define MAX_WAIT_S 300

static struct process *find(struct http_req *req, struct sb_err *err)
{
	const struct guestd *g = http_ctx(req);
	const char *id = http_param(req, "id");
	struct process *p = process_find(g->processes, id);

	if (!p) {
		sb_fail(err, SB_NOTFOUND, "there is no process '%s'", id);
		sb_hint(err, "The last %d that ended are kept.",
			PROCESS_MAX_ENDED);
	}
	return p;
}

static json_t *process_json(const struct process *p)
{
	const struct output *o = process_output(p);
	struct process_status st;
	char iso[CLOCK_ISO_LEN];
	json_t *j = json_object();

	process_get_status(p, &st);
	clock_iso(st.started_wall_ms, iso);
	json_put(j, "id", json_str(process_id(p)));
	json_put(j, "pid", json_integer(process_pid(p)));
	json_put(j, "command", json_str(st.command));
	json_put(j, "user", json_str(st.user));
	json_put(j, "state", json_str(st.running ? "running" : "ended"));
	json_put(j, "started_at", json_str(iso));
	json_put(j, "stdout_bytes",
		 json_integer((json_int_t)output_total(o, OUTPUT_STDOUT)));
	json_put(j, "stderr_bytes",
		 json_integer((json_int_t)output_total(o, OUTPUT_STDERR)));
	run_put_status(j, p);
	return j;
}

static void get_processes(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	json_t *list = json_array();
	struct process *p = NULL;

	while ((p = process_next(g->processes, p)))
		json_array_append_new(list, process_json(p));
	http_reply_json(req, 200, json_pack("{s:o}", "processes", list));
}

static void get_process(struct http_req *req)
{
	struct sb_err err;
	struct process *p = find(req, &err);

	if (p)
		http_reply_json(req, 200, process_json(p));
	else
		http_fail(req, &err);
}

/* What is asked for of the output, and the wait for it. */
struct reading {
	struct http_req *req;
	struct process *p;
	struct process_watch watch;
	struct loop_timer *timer;
	enum output_stream stream;
	const char *stream_name;
	long long offset, limit, wait_s;
	bool follow;
};

static int parse_reading(struct http_req *req, struct reading *r,
			 struct sb_err *err)
{
	static const char *const names[] = { "stdout", "stderr", "output" };
	const char *name = http_query(req, "stream");
	int i = 0;

	r->limit = DEFAULT_LIMIT;
	name = name ? name : "output";
	while (i < OUTPUT_NSTREAMS && strcmp(names[i], name) != 0)
		i++;
	if (i == OUTPUT_NSTREAMS)
		return sb_fail(err, SB_INVALID,
			       "'stream' must be stdout, stderr or output");
	r->stream = i;
	r->stream_name = names[i];
	if (http_query_int(req, "offset", 0, INT64_MAX, &r->offset, err) < 0 ||
	    http_query_int(req, "limit", 1, RUN_MAX_OUTPUT, &r->limit, err) <
		    0 ||
	    http_query_int(req, "wait", 0, MAX_WAIT_S, &r->wait_s, err) < 0)
		return -1;
	return http_query_bool(req, "follow", &r->follow, err);
}

static bool has_news(const struct reading *r)
{
	const struct output *o = process_output(r->p);

	return process_is_silent(r->p) ||
	       (uint64_t)r->offset < output_kept(o, r->stream);
}

static json_t *reading_json(const struct reading *r)
{
	const struct output *o = process_output(r->p);
	uint64_t kept = output_kept(o, r->stream);
	size_t left = (uint64_t)r->offset < kept ? kept - r->offset : 0;
	size_t n = MIN(left, (size_t)r->limit), whole;
	autofree char *data = xmalloc(n + 1);
	bool base64;
	json_t *j = json_object();

	n = output_read(o, r->stream, r->offset, data, n);
	/* A character that the limit cuts comes whole with the next read. */
	whole = text_whole(data, n);
	if (whole && (n < left || !process_is_silent(r->p)))
		n = whole;
	base64 = !text_is_valid(data, n);
	json_put(j, "id", json_str(process_id(r->p)));
	json_put(j, "stream", json_str(r->stream_name));
	json_put(j, "data", text_json(data, n, base64));
	if (base64)
		json_put(j, "encoding", json_str("base64"));
	json_put(j, "offset", json_integer(r->offset));
	json_put(j, "next", json_integer(r->offset + (json_int_t)n));
	json_put(j, "total",
		 json_integer((json_int_t)output_total(o, r->stream)));
	json_put(j, "eof", json_boolean(n == left && process_is_silent(r->p)));
	json_put(j, "truncated",
		 json_boolean(kept < output_total(o, r->stream)));
	return j;
}

static void answer(void *arg)
{
	struct reading *r = arg;

	http_reply_json(r->req, 200, reading_json(r));
	process_unwatch(&r->watch);
	process_unref(r->p);
	loop_timer_free(r->timer);
	free(r);
}

static void on_change(void *arg)
{
	if (has_news(arg))
		answer(arg);
}

static void wait_for_news(const struct reading *now)
{
	const struct guestd *g = http_ctx(now->req);
	struct reading *r = xmalloc(sizeof(*r));

	*r = *now;
	process_ref(r->p);
	r->watch.fn = on_change;
	r->watch.arg = r;
	process_watch(r->p, &r->watch);
	r->timer = loop_timer_new(g->loop, answer, r);
	loop_timer_set(r->timer, r->wait_s * 1000);
}

/* The browser says where it was when it lost its stream. */
static void resume(struct reading *r)
{
	const char *last = http_header(r->req, "last-event-id");

	if (last)
		parse_num(last, 0, INT64_MAX, &r->offset);
}

static void get_process_output(struct http_req *req)
{
	struct reading r = { .req = req };
	struct sb_err err;

	r.p = find(req, &err);
	if (!r.p || parse_reading(req, &r, &err) < 0) {
		http_fail(req, &err);
	} else if (r.follow) {
		resume(&r);
		run_follow(req, r.p, r.stream, r.offset);
	} else if (r.wait_s && !has_news(&r)) {
		wait_for_news(&r);
	} else {
		http_reply_json(req, 200, reading_json(&r));
	}
}

/* A body of bytes as they are; ?close=true ends the input after it. */
static int write_bytes(struct http_req *req, struct process *p,
		       struct sb_err *err)
{
	bool end = false;
	size_t len;
	const char *data = http_body(req, &len);

	if (http_query_bool(req, "close", &end, err) < 0 ||
	    (len && process_write(p, data, len, err) < 0))
		return -1;
	if (end)
		process_close_stdin(p);
	return 0;
}

static bool has_bytes(const struct http_req *req)
{
	const char *type = http_header(req, "content-type");

	return type && str_starts(type, "application/octet-stream");
}

static int write_stdin(struct http_req *req, struct process *p,
		       struct sb_err *err)
{
	autojson json_t *body = NULL;
	autobuf struct buf b = { 0 };
	const char *data = "", *encoding = "utf-8";
	bool end = false;

	if (http_body_json(req, &body, err) < 0 ||
	    json_get_str(body, "data", &data, err) < 0 ||
	    json_get_str(body, "encoding", &encoding, err) < 0 ||
	    json_get_bool(body, "close", &end, err) < 0)
		return -1;
	if (strcmp(encoding, "base64") == 0) {
		if (text_decode(data, "data", &b, err) < 0)
			return -1;
	} else if (strcmp(encoding, "utf-8") == 0) {
		buf_adds(&b, data);
	} else {
		return sb_fail(err, SB_INVALID,
			       "'encoding' must be utf-8 or base64");
	}
	if (b.len && process_write(p, b.p, b.len, err) < 0)
		return -1;
	if (end)
		process_close_stdin(p);
	return 0;
}

static void post_process_stdin(struct http_req *req)
{
	struct sb_err err;
	struct process *p = find(req, &err);

	if (!p ||
	    (has_bytes(req) ? write_bytes : write_stdin)(req, p, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_empty(req, 204);
}

static int send_signal(struct http_req *req, struct process *p,
		       struct sb_err *err)
{
	autojson json_t *body = NULL;
	int signum = 0;

	if (http_body_json(req, &body, err) < 0 ||
	    signame_parse(json_object_get(body, "signal"), &signum, err) < 0)
		return -1;
	return process_signal(p, signum, err);
}

static void post_process_signal(struct http_req *req)
{
	struct sb_err err;
	struct process *p = find(req, &err);

	if (!p || send_signal(req, p, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_empty(req, 204);
}

/* One that has ended already is as dead as was asked for. */
static void delete_process(struct http_req *req)
{
	struct sb_err err;
	struct process *p = find(req, &err);

	if (!p ||
	    (process_signal(p, SIGKILL, &err) < 0 && err.code != SB_CONFLICT))
		http_fail(req, &err);
	else
		http_reply_empty(req, 204);
}

#define PROCESS_ID                                                         \
	{                                                                  \
		"id", HTTP_STR, "The id that its start was answered with", \
			HTTP_PATH                                          \
	}

static const struct http_field process_in[] = { PROCESS_ID, { 0 } };

static const struct http_field output_in[] = {
	PROCESS_ID,
	{ "stream", HTTP_STR, "Which output; output is both, in their order",
	  .words = "stdout|stderr|output", .dflt = "'output'" },
	{ "offset", HTTP_INT, "First byte", .max = HTTP_NO_MAX, .dflt = "0" },
	{ "limit", HTTP_INT, "Most bytes to answer with", .min = 1,
	  .max = RUN_MAX_OUTPUT, .dflt = "1048576" },
	{ "wait", HTTP_INT, "Seconds to wait if there is nothing new yet",
	  .max = MAX_WAIT_S, .dflt = "0" },
	{ "follow", HTTP_BOOL, "Send events until it ends", .dflt = "false" },
	{ "format", HTTP_STR, "With follow: events, or frames of bytes",
	  .words = "events|frames", .dflt = "'events'" },
	{ "Last-Event-ID", HTTP_INT,
	  "With follow, in place of offset: the id of the last event seen",
	  HTTP_HEADER },
	{ 0 },
};

static const struct http_field stdin_in[] = {
	PROCESS_ID,
	{ "data", HTTP_STR, "What it is to read" },
	{ "encoding", HTTP_STR, "How data is written", .words = "utf-8|base64",
	  .dflt = "'utf-8'" },
	{ "close", HTTP_BOOL, "Let it see the end of its input afterwards",
	  .dflt = "false" },
	{ "close", HTTP_BOOL, "The same for a body of bytes", HTTP_QUERY,
	  .dflt = "false" },
	{ 0 },
};

static const struct http_field signal_in[] = {
	PROCESS_ID,
	{ "signal", HTTP_STR | HTTP_INT, "Name or number: TERM, SIGTERM, 15",
	  .must = true },
	{ 0 },
};

static const struct http_schema process_schema = {
	"Process",
	(const struct http_field[]){
		{ "id", HTTP_STR, "Its name here" },
		{ "pid", HTTP_INT, "Its process id, and that of its group" },
		{ "command", HTTP_STR, "What was asked for" },
		{ "user", HTTP_STR, "The account that it runs as" },
		{ "state", HTTP_STR, "Whether it still runs",
		  .words = "running|ended" },
		{ "started_at", HTTP_STR, "When it began" },
		{ "stdout_bytes", HTTP_INT, "Bytes written to stdout so far" },
		{ "stderr_bytes", HTTP_INT, "Bytes written to stderr so far" },
		HTTP_GROUP(run_status_fields),
		{ 0 } },
	"A command that runs or ran",
	"{'id': 'p1', 'pid': 4711, 'command': 'sleep 60', 'user': 'user',"
	" 'state': 'running', 'started_at': '2026-01-02T03:04:05.678Z',"
	" 'stdout_bytes': 0, 'stderr_bytes': 0, 'exit_code': null,"
	" 'signal': null, 'timed_out': false, 'truncated': false,"
	" 'duration_ms': 1200}",
};

static const struct http_schema list_schema = {
	"ProcessList",
	(const struct http_field[]){ { "processes", HTTP_LIST, "All of them",
				       .schema = &process_schema },
				     { 0 } },
	"Commands that run or ran",
	NULL,
};

static const struct http_schema output_schema = {
	"ProcessOutput",
	(const struct http_field[]){
		{ "id", HTTP_STR, "The command" },
		{ "stream", HTTP_STR, "Which output",
		  .words = "stdout|stderr|output" },
		{ "data", HTTP_STR, "The bytes" },
		{ "encoding", HTTP_STR,
		  "There if data is not UTF-8, but base64", .words = "base64",
		  .maybe = true },
		{ "offset", HTTP_INT, "Of the first byte" },
		{ "next", HTTP_INT, "The offset to go on at" },
		{ "total", HTTP_INT, "Bytes written so far" },
		{ "eof", HTTP_BOOL, "Whether nothing more will come" },
		{ "truncated", HTTP_BOOL, "Whether some were not kept" },
		{ 0 } },
	"A part of the output",
	"{'id': 'p1', 'stream': 'output', 'data': 'hello', 'offset': 0,"
	" 'next': 5, 'total': 5, 'eof': true, 'truncated': false}",
};

static const struct http_answer list_out[] = {
	{ 200, "The commands", &list_schema },
	{ 0 },
};
static const struct http_answer process_out[] = {
	{ 200, "The command", &process_schema },
	{ 0 },
};
static const struct http_answer output_out[] = {
	{ 200, "The output, or events with follow", &output_schema },
	{ 200, NULL, .events = run_events },
	{ 0 },
};
static const struct http_answer nothing_out[] = {
	{ 204, "Done" },
	{ 0 },
};

/* clang-format off */
const struct http_route process_routes[] = {
	{ "GET", "/v1/processes", get_processes, 0,
	  "Running and recently ended commands", .out = list_out },
	{ "GET", "/v1/processes/{id}", get_process, 0, "One command", { NULL },
	  process_in, process_out, { SB_NOTFOUND } },
	{ "DELETE", "/v1/processes/{id}", delete_process, 0,
	  "Kill a command and all of its group", { NULL }, process_in,
	  nothing_out, { SB_NOTFOUND } },
	{ "GET", "/v1/processes/{id}/output", get_process_output, 0,
	  "Output of a command from any byte on", { NULL }, output_in,
	  output_out, { SB_NOTFOUND } },
	{ "POST", "/v1/processes/{id}/stdin", post_process_stdin, 0,
	  "Give a command something to read", { NULL }, stdin_in, nothing_out,
	  { SB_NOTFOUND, SB_CONFLICT, SB_BUSY },
	  .example = "{'data': 'hello', 'close': true}" },
	{ "POST", "/v1/processes/{id}/signal", post_process_signal, 0,
	  "Send a signal to a command and all of its group", { NULL },
	  signal_in, nothing_out, { SB_NOTFOUND, SB_CONFLICT },
	  .example = "{'signal': 'TERM'}" },
	{ 0 },
};
/* clang-format on */
