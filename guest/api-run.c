/* SPDX-License-Identifier: Apache-2.0 */
/* Code in a kernel that keeps its state: POST /v1/run. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "guest/api.h"
#include "guest/guestd.h"
#include "guest/kernel.h"
#include "guest/run.h"

#define MAX_OUTPUTS 1000
#define MAX_UNREAD (32 * 1024 * 1024)
#define INTERRUPT_MS 2000 /* to end after an interrupt, then it is restarted */
#define STDOUT 0
#define STDERR 1

/* One request and the cell that it runs. */
struct cell {
	struct http_req *req;	    /* or */
	struct http_stream *stream; /* of events */
	struct kernel *k;
	struct kernel_listener listener;
	struct loop_timer *timer;
	char msg_id[KERNEL_ID_LEN + 1];
	size_t max_output;
	int64_t started_ms;
	struct buf text[2]; /* stdout, stderr */
	bool truncated, timed_out, restarted;
	bool idle;
	json_t *outputs, *result, *reply, *error;
};

static void cell_free(struct cell *c)
{
	loop_timer_free(c->timer);
	buf_done(&c->text[STDOUT]);
	buf_done(&c->text[STDERR]);
	json_decref(c->outputs);
	json_decref(c->result);
	json_decref(c->reply);
	json_decref(c->error);
	free(c);
}

static json_t *answer(const struct cell *c)
{
	json_t *j = json_object();
	json_t *count = json_object_get(c->reply, "execution_count");
	const char *status = json_str_or(c->reply, "status", "error");

	json_put(j, "status", json_str(c->timed_out ? "timeout" : status));
	json_put(j, "stdout",
		 json_text(c->text[STDOUT].p ? c->text[STDOUT].p : "",
			   c->text[STDOUT].len));
	json_put(j, "stderr",
		 json_text(c->text[STDERR].p ? c->text[STDERR].p : "",
			   c->text[STDERR].len));
	json_put(j, "result", c->result ? json_incref(c->result) : json_null());
	json_put(j, "outputs", json_incref(c->outputs));
	if (c->error)
		json_put(j, "error", json_incref(c->error));
	json_put(j, "execution_count",
		 json_is_integer(count) ? json_incref(count) : json_null());
	json_put(j, "truncated", json_boolean(c->truncated));
	json_put(j, "timed_out", json_boolean(c->timed_out));
	json_put(j, "kernel_id",
		 c->k ? json_str(kernel_id(c->k)) : json_null());
	json_put(j, "kernel_restarted", json_boolean(c->restarted));
	json_put(j, "duration_ms", json_integer(clock_ms() - c->started_ms));
	return j;
}

/* One who does not read is cut off: the journal has it all. */
static void send_event(const struct cell *c, const char *event, const json_t *j)
{
	autofree char *text = json_print(j);

	if (http_stream_event(c->stream, NULL, event, text) > MAX_UNREAD)
		http_stream_abort(c->stream);
}

static void finish(struct cell *c)
{
	json_t *j = answer(c);

	if (c->k)
		kernel_unlisten(&c->listener);
	c->k = NULL;
	loop_timer_clear(c->timer);
	if (c->req) {
		http_reply_json(c->req, 200, j);
		cell_free(c);
		return;
	}
	/* A stream frees it when it is closed. */
	send_event(c, "end", j);
	json_decref(j);
	http_stream_end(c->stream);
}

static json_t *parse(struct part text)
{
	json_t *j = json_loadb(text.p, text.len,
			       JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	return j ? j : json_object();
}

static void add_text(struct cell *c, const json_t *content)
{
	bool is_err = strcmp(json_str_or(content, "name", ""), "stderr") == 0;
	struct buf *b = &c->text[is_err ? STDERR : STDOUT];
	const json_t *text = json_object_get(content, "text");
	size_t len = json_string_length(text);
	size_t room = c->max_output - MIN(b->len, c->max_output);

	if (c->stream)
		send_event(c, is_err ? "stderr" : "stdout", content);
	c->truncated = c->truncated || len > room;
	buf_add(b, json_string_value(text), MIN(len, room));
}

static void add_output(struct cell *c, const char *type,
		       json_t *content /* takes */)
{
	json_put(content, "output_type", json_str(type));
	if (c->stream)
		send_event(c, "output", content);
	if (json_array_size(c->outputs) < MAX_OUTPUTS)
		json_array_append(c->outputs, content);
	else
		c->truncated = true;
	if (strcmp(type, "execute_result") == 0) {
		json_decref(c->result);
		c->result = json_incref(json_object_get(content, "data"));
	} else if (strcmp(type, "error") == 0) {
		json_decref(c->error);
		c->error = json_incref(content);
	}
	json_decref(content);
}

static void take(struct cell *c, const struct frame *f)
{
	static const char *const shown[] = { "execute_result", "display_data",
					     "update_display_data", "error" };
	struct part type = { "", 0 };
	autojson json_t *content = parse(f->part[FRAME_CONTENT]);

	jscan_str(f->part[FRAME_HEADER], "msg_type", &type);
	if (part_is(type, "stream"))
		add_text(c, content);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		if (part_is(type, shown[i]))
			add_output(c, shown[i], json_incref(content));
	if (part_is(type, "status") &&
	    strcmp(json_str_or(content, "execution_state", ""), "idle") == 0)
		c->idle = true;
	if (part_is(type, "execute_reply")) {
		json_decref(c->reply);
		c->reply = steal(&content);
	}
}

static void on_message(void *arg, uint64_t seq, const struct frame *f)
{
	struct cell *c = arg;
	struct part id;

	if (!jscan_str(f->part[FRAME_PARENT], "msg_id", &id) ||
	    !part_is(id, c->msg_id))
		return;
	take(c, f);
	if (c->idle && c->reply)
		finish(c);
}

static void on_change(void *arg)
{
	struct cell *c = arg;

	if (kernel_state(c->k) != KERNEL_GONE)
		return;
	kernel_unlisten(&c->listener);
	c->k = NULL;
	finish(c);
}

/* First the cell is interrupted; if that does not help, the kernel goes. */
static void on_timer(void *arg)
{
	struct cell *c = arg;

	if (c->timed_out || kernel_interrupt(c->k, NULL) < 0) {
		c->timed_out = c->restarted = true;
		kernel_restart(c->k);
		return;
	}
	c->timed_out = true;
	loop_timer_set(c->timer, INTERRUPT_MS);
}

/* Nobody waits for it any more, but the cell goes on. */
static void on_close(struct http_stream *s, void *arg)
{
	struct cell *c = arg;

	if (c->k)
		kernel_unlisten(&c->listener);
	cell_free(c);
}

static const struct http_stream_ops stream_ops = { .on_close = on_close };

static void send_code(struct cell *c, const char *code)
{
	autojson json_t *content =
		json_pack("{s:s, s:b, s:b, s:{}, s:b, s:b}", "code", code,
			  "silent", 0, "store_history", 1, "user_expressions",
			  "allow_stdin", 0, "stop_on_error", 0);
	autofree char *text = json_print(content), *header = NULL;
	struct part part[FRAME_NPARTS];
	autobuf struct buf b = { 0 };
	char date[CLOCK_ISO_LEN];
	struct frame f;

	clock_iso(clock_wall_ms(), date);
	header = xasprintf("{\"msg_id\":\"%s\",\"session\":\"run-%s\","
			   "\"username\":\"run\",\"date\":\"%s\",\"msg_type\":"
			   "\"execute_request\",\"version\":\"5.3\"}",
			   c->msg_id, kernel_id(c->k), date);
	part[FRAME_HEADER] = part_of(header);
	part[FRAME_PARENT] = part_of("{}");
	part[FRAME_METADATA] = part_of("{}");
	part[FRAME_CONTENT] = part_of(text);
	frame_write(&b, FRAME_SHELL, part, NULL, 0);
	if (http_header(c->req, "accept") &&
	    strstr(http_header(c->req, "accept"), "text/event-stream"))
		c->stream = http_stream_begin(steal(&c->req), 200,
					      "text/event-stream", &stream_ops,
					      c);
	if (frame_read(b.p, b.len, &f, NULL) == 0)
		kernel_send(c->k, &f, (struct part){ b.p, b.len });
}

static int find_kernel(struct guestd *g, const json_t *body,
		       struct kernel **ret, struct sb_err *err)
{
	const char *id = NULL;

	if (json_get_str(body, "kernel_id", &id, err) < 0)
		return -1;
	return id ? gateway_find(g->gateway, id, ret, err)
		  : gateway_default(g->gateway, ret, err);
}

static int parse_body(struct http_req *req, json_t **ret, const char **ret_code,
		      struct run_params *params, struct kernel **ret_k,
		      struct sb_err *err)
{
	const char *result = "auto";

	if (http_body_json(req, ret, err) < 0 ||
	    json_get_str(*ret, "code", ret_code, err) < 0 ||
	    json_get_str(*ret, "result", &result, err) < 0 ||
	    run_parse(*ret, params, err) < 0)
		return -1;
	if (!*ret_code)
		return sb_fail(err, SB_INVALID, "'code' is missing");
	if (strcmp(result, "auto") != 0 && strcmp(result, "none") != 0)
		return sb_fail(err, SB_INVALID,
			       "'result' must be \"auto\" or \"none\"");
	return find_kernel(http_ctx(req), *ret, ret_k, err);
}

static void post_run(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	autojson json_t *body = NULL;
	struct run_params params;
	const char *code = NULL;
	struct kernel *k;
	struct cell *c;
	struct sb_err err;

	if (parse_body(req, &body, &code, &params, &k, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->req = req;
	c->k = k;
	c->max_output = params.max_output;
	c->started_ms = clock_ms();
	c->outputs = json_array();
	c->timer = loop_timer_new(g->loop, on_timer, c);
	kernel_new_id(c->msg_id);
	c->listener = (struct kernel_listener){ .on_message = on_message,
						.on_change = on_change,
						.arg = c };
	kernel_listen(k, &c->listener);
	if (params.timeout_ms)
		loop_timer_set(c->timer, params.timeout_ms);
	send_code(c, code);
}

static const struct http_field run_in[] = {
	{ "code", HTTP_STR, "What to run", .must = true },
	{ "kernel_id", HTTP_STR, "Where; else in the kernel that all share" },
	{ "timeout", HTTP_NUM, "Seconds until it is interrupted; 0: never",
	  .min = 0, .max = 7 * 24 * 3600, .dflt = "0" },
	{ "max_output", HTTP_INT,
	  "Bytes of stdout, and of stderr, in the answer", .min = 0,
	  .max = RUN_MAX_OUTPUT, .dflt = "1048576" },
	{ "result", HTTP_STR,
	  "Whether the value of the last expression matters",
	  .words = "auto|none", .dflt = "'auto'" },
	{ 0 },
};
static const struct http_field cell_fields[] = {
	{ "status", HTTP_STR, "How it ended",
	  .words = "ok|error|timeout|aborted" },
	{ "stdout", HTTP_STR, "What it printed" },
	{ "stderr", HTTP_STR, "What it printed there" },
	{ "result", HTTP_OBJ | HTTP_NULL, "The last expression, by MIME type" },
	{ "outputs", HTTP_LIST, "Results, displays and errors in their order",
	  .of = HTTP_OBJ },
	{ "error", HTTP_OBJ, "ename, evalue, traceback", .maybe = true },
	{ "execution_count", HTTP_INT | HTTP_NULL, "Number of the cell" },
	{ "truncated", HTTP_BOOL, "Whether there was more output" },
	{ "timed_out", HTTP_BOOL, "Whether it took too long" },
	{ "kernel_id", HTTP_STR | HTTP_NULL, "Where it ran" },
	{ "kernel_restarted", HTTP_BOOL, "Whether its state is lost" },
	{ "duration_ms", HTTP_INT, "How long it took" },
	{ 0 },
};
static const struct http_schema run_schema = { "Run", cell_fields,
					       "How a cell ended" };
static const struct http_answer run_out[] = {
	{ 200, "How it ended", &run_schema },
	{ 200, NULL, .type = "text/event-stream" },
	{ 0 },
};

/* clang-format off */
const struct http_route run_routes[] = {
	{ "POST", "/v1/run", post_run, 0,
	  "Run code in a kernel that keeps its state", { NULL },
	  run_in, run_out, { SB_NOTFOUND, SB_DENIED, SB_MISSING },
	  .example = "{'code': '6 * 7', 'timeout': 10}" },
	{ 0 },
};
/* clang-format on */
