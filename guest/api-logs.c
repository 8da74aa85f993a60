/* SPDX-License-Identifier: Apache-2.0 */
/* The route that reads logs. */
#include "config.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log-line.h"
#include "common/log-read.h"
#include "common/log.h"
#include "guest/api.h"
#include "guest/guestd.h"
#include "guest/child-log.h"

#define DEFAULT_LINES 100
#define MAX_LINES 10000
#define MAX_REPLY (8 << 20)
/* Smaller numbers are seconds ago, not since 1970. */
#define FIRST_TIME 1000000000

static char *guestd_log(const struct guestd *g)
{
	return log_path();
}

static char *kernels_log(const struct guestd *g)
{
	return child_log_path(g->kernel_log);
}

static char *desktop_log(const struct guestd *g)
{
	return child_log_path(g->desktop_log);
}

/* What can be read: a name, and where that log is. */
static const struct source {
	const char *name;
	char *(*path)(const struct guestd *g);
} sources[] = {
	{ "guestd", guestd_log },
	{ "kernel", kernels_log },
	{ "desktop", desktop_log },
};

enum format { FORMAT_JSON, FORMAT_NDJSON, FORMAT_TEXT };

/* A request for lines, and the stream that it may become. */
struct reading {
	struct http_req *req; /* until it is answered */
	struct guestd *g;
	const struct source *source;
	char *path;
	long long lines;
	int64_t since_ms;
	const char *from; /* Last-Event-ID, NULL: none */
	bool follow;
	enum format format;
	struct log_reader *reader;
	json_t *list; /* FORMAT_JSON */
	struct buf text;
	int rc;
	struct sb_err err;
	struct http_stream *stream;
	uv_fs_event_t watch;
	bool full; /* until on_drain */
};

static void reading_free(struct reading *r)
{
	log_reader_free(r->reader);
	json_decref(r->list);
	buf_done(&r->text);
	free(r->path);
	free(r);
}

static int open_log(void *arg, bool older)
{
	const struct reading *r = arg;
	autofree char *path = xasprintf("%s%s", r->path, older ? ".1" : "");

	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static int parse_source(struct reading *r, struct sb_err *err)
{
	const char *name = http_query(r->req, "source");
	autobuf struct buf names = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!name || strcmp(name, sources[i].name) == 0) {
			r->source = &sources[i];
			r->path = sources[i].path(r->g);
			return r->path ? 0
				       : sb_fail(err, SB_NOTFOUND,
						 "'%s' logs to no file",
						 sources[i].name);
		}
		buf_addf(&names, "%s%s", i ? ", " : "", sources[i].name);
	}
	sb_fail(err, SB_NOTFOUND, "there is no log '%.64s'", name);
	return sb_hint(err, "there are: %s", names.p);
}

static int parse_since(struct reading *r, struct sb_err *err)
{
	const char *since = http_query(r->req, "since");
	long long seconds;

	if (!since || clock_parse(since, &r->since_ms) == 0)
		return 0;
	if (parse_num(since, FIRST_TIME, INT64_MAX / 1000, &seconds) == 0)
		r->since_ms = seconds * 1000;
	else if (parse_duration(since, &seconds) == 0 && seconds < FIRST_TIME)
		r->since_ms = clock_wall_ms() - seconds * 1000;
	else
		return sb_fail(err, SB_INVALID,
			       "'since' must be a time such as "
			       "2026-01-31T12:34:56Z, seconds since 1970, or "
			       "how long ago, such as 15m");
	return 0;
}

static void parse_format(struct reading *r)
{
	const char *accept = http_header(r->req, "accept");

	if (accept && strstr(accept, "application/x-ndjson"))
		r->format = FORMAT_NDJSON;
	else if (accept && strstr(accept, "text/plain"))
		r->format = FORMAT_TEXT;
}

static int parse(struct reading *r, struct sb_err *err)
{
	r->lines = http_query(r->req, "since") ? MAX_LINES : DEFAULT_LINES;
	r->from = http_header(r->req, "last-event-id");
	parse_format(r);
	if (parse_source(r, err) < 0 || parse_since(r, err) < 0 ||
	    http_query_bool(r->req, "follow", &r->follow, err) < 0)
		return -1;
	return http_query_int(r->req, "lines", 0, MAX_LINES, &r->lines, err);
}

static void collect(struct reading *r)
{
	const char *line;
	size_t len, bytes = 0;

	if (r->format == FORMAT_JSON)
		r->list = json_array();
	while (bytes < MAX_REPLY &&
	       log_reader_next(r->reader, true, &line, &len)) {
		autojson json_t *j = log_line_json(line, len);

		bytes += len + 1;
		if (r->format == FORMAT_JSON) {
			json_array_append(r->list, j);
		} else if (r->format == FORMAT_NDJSON) {
			autofree char *text = json_print(j);

			buf_addf(&r->text, "%s\n", text);
		} else {
			log_record_text(j, &r->text);
			buf_adds(&r->text, "\n");
		}
	}
}

/* On a thread of the pool: the log may be on a slow share. */
static void look(void *arg)
{
	struct reading *r = arg;

	r->reader = log_reader_new(open_log, r);
	if (r->follow && r->from)
		r->rc = log_reader_seek(r->reader, r->from, &r->err);
	else
		log_reader_tail(r->reader, r->lines, r->since_ms);
	if (!r->follow)
		collect(r);
}

static void reply(struct reading *r)
{
	char id[LOG_READ_ID];

	if (r->format != FORMAT_JSON) {
		http_reply(r->req, 200,
			   r->format == FORMAT_TEXT
				   ? "text/plain; charset=utf-8"
				   : "application/x-ndjson",
			   r->text.p ? r->text.p : "", r->text.len);
		return;
	}
	log_reader_id(r->reader, id);
	http_reply_json(r->req, 200,
			json_pack("{s:s, s:O, s:s}", "source", r->source->name,
				  "lines", r->list, "last_id", id));
}

/* Send what is new, as much as the client takes. */
static void pump(struct reading *r)
{
	size_t waiting = 0, len;
	char id[LOG_READ_ID];
	const char *line;

	while (!r->full && log_reader_next(r->reader, false, &line, &len)) {
		autojson json_t *j = log_line_json(line, len);
		autofree char *text = json_print(j);

		log_reader_id(r->reader, id);
		waiting = http_stream_event(r->stream, id, "log", text);
		r->full = waiting >= HTTP_STREAM_HIGH;
	}
}

static void on_change(uv_fs_event_t *w, const char *name, int events,
		      int status)
{
	pump(w->data);
}

static void on_drain(struct http_stream *s, void *arg)
{
	struct reading *r = arg;

	r->full = false;
	pump(r);
}

static void on_watch_closed(uv_handle_t *h)
{
	reading_free(h->data);
}

static void on_close(struct http_stream *s, void *arg)
{
	struct reading *r = arg;

	uv_close((uv_handle_t *)&r->watch, on_watch_closed);
}

static void follow(struct reading *r)
{
	static const struct http_stream_ops ops = {
		.on_drain = on_drain,
		.on_close = on_close,
	};
	autofree char *path = xstrdup(r->path);

	uv_fs_event_init(loop_uv(r->g->loop), &r->watch);
	r->watch.data = r;
	/* The folder: a file that is renamed takes its watch with it. */
	if (uv_fs_event_start(&r->watch, on_change, dirname(path), 0) < 0) {
		sb_fail(&r->err, SB_BUSY, "too many files are watched");
		http_fail(r->req, &r->err);
		uv_close((uv_handle_t *)&r->watch, on_watch_closed);
		return;
	}
	r->stream =
		http_stream_begin(r->req, 200, "text/event-stream", &ops, r);
	pump(r);
}

static void answer(void *arg)
{
	struct reading *r = arg;

	if (r->rc == 0 && r->follow) {
		follow(r);
		return;
	}
	if (r->rc < 0)
		http_fail(r->req, &r->err);
	else
		reply(r);
	reading_free(r);
}

static void get_logs(struct http_req *req)
{
	struct reading *r = xcalloc(1, sizeof(*r));

	r->req = req;
	r->g = http_ctx(req);
	r->rc = parse(r, &r->err);
	if (r->rc < 0)
		answer(r);
	else
		loop_work(r->g->loop, look, answer, r);
}

static const struct http_field logs_in[] = {
	{ "source", HTTP_STR, "Whose log", .words = "guestd|kernel|desktop",
	  .dflt = "'guestd'" },
	{ "lines", HTTP_INT, "The last ones; 100, or all since that time",
	  .max = MAX_LINES },
	{ "since", HTTP_STR,
	  "A time such as 2026-01-31T12:34:56Z, seconds since 1970, or how "
	  "long ago, such as 15m" },
	{ "follow", HTTP_BOOL, "Send events as lines come", .dflt = "false" },
	{ "Last-Event-ID", HTTP_STR, "With follow: go on behind that event",
	  HTTP_HEADER },
	{ 0 },
};

static const struct http_schema line_schema = {
	"LogLine",
	(const struct http_field[]){
		{ "ts", HTTP_STR, "When it was written", .maybe = true },
		{ "level", HTTP_STR, "How grave it is", .maybe = true },
		{ "msg", HTTP_STR, "What happened" },
		{ 0 } },
	"A line of a log, with fields of its own",
	"{'ts': '2026-01-02T03:04:05.678Z', 'level': 'info',"
	" 'msg': 'guestd ends'}",
	.open = true,
};

static const struct http_schema logs_schema = {
	"Logs",
	(const struct http_field[]){
		{ "source", HTTP_STR, "Whose log" },
		{ "lines", HTTP_LIST, "The oldest first",
		  .schema = &line_schema },
		{ "last_id", HTTP_STR, "To follow from here: Last-Event-ID" },
		{ 0 } },
	"A part of a log",
	NULL,
};

static const struct http_event log_events[] = {
	{ "log", &line_schema, "A line" },
	{ 0 },
};

static const struct http_answer logs_out[] = {
	{ 200,
	  "The lines, in the form that Accept asks for; with follow, "
	  "events",
	  &logs_schema },
	{ 200, NULL, .events = log_events },
	{ 200, NULL, .type = "application/x-ndjson" },
	{ 200, NULL, .type = "text/plain" },
	{ 0 },
};

/* clang-format off */
const struct http_route log_routes[] = {
	{ "GET", "/v1/logs", get_logs, 0,
	  "What guestd or the kernels have logged, and go on logging", { NULL },
	  logs_in, logs_out, { SB_NOTFOUND, SB_BUSY },
	  .example = "{'lines': 5}" },
	{ 0 },
};
/* clang-format on */
