/* SPDX-License-Identifier: Apache-2.0 */
/* Code that a kernel is given, and all that comes back. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "guest/cell-result.h"
#include "guest/cell.h"
#include "guest/text.h"

#define MAX_OUTPUTS 1000
#define MAX_OUTPUT_BYTES (64 * 1024 * 1024) /* of all of them, as JSON */
#define LARGE (256 * 1024)
#define INTERRUPT_MS 5000 /* to end after an interrupt, then it is restarted */
#define STDOUT 0
#define STDERR 1
#define MERGED 2
#define NTEXTS 3

struct cell {
	struct cell_config cfg; /* code is not kept */
	struct buf message;	/* until the kernel has it */
	struct kernel *k;	/* NULL: it is gone, or we have heard enough */
	struct kernel_listener listener;
	struct loop_timer *timer;
	char msg_id[KERNEL_ID_LEN + 1], kernel_id[KERNEL_ID_LEN + 1];
	int64_t started_ms, ended_ms;
	int64_t deadline_ms;	 /* for its begin, if it has a time limit */
	struct buf text[NTEXTS]; /* stdout, stderr, both in their order */
	bool cut[NTEXTS];	 /* there was more */
	size_t output_bytes;
	bool truncated, timed_out, restarted, begun, idle, ended;
	bool wants_result;
	struct cell_result result;
	json_t *outputs, *shown, *reply, *error;
};

void cell_free(struct cell *c)
{
	if (!c)
		return;
	if (c->k)
		kernel_unlisten(c->k, &c->listener);
	loop_timer_free(c->timer);
	buf_done(&c->message);
	for (int i = 0; i < NTEXTS; i++)
		buf_done(&c->text[i]);
	cell_result_done(&c->result);
	json_decref(c->outputs);
	json_decref(c->shown);
	json_decref(c->reply);
	json_decref(c->error);
	free(c);
}

bool cell_is_large(const struct cell *c)
{
	return c->output_bytes + c->result.tree.len + c->result.bytes.len +
		       c->text[STDOUT].len + c->text[STDERR].len >
	       LARGE;
}

static json_t *text_of(const struct buf *b)
{
	return json_text(b->p ? b->p : "", b->len);
}

json_t *cell_output(const struct cell *c)
{
	return text_of(&c->text[MERGED]);
}

/* A cell that failed has none, whatever it has shown before. */
static json_t *result_of(const struct cell *c)
{
	if (!c->wants_result || c->timed_out ||
	    strcmp(json_str_or(c->reply, "status", ""), "ok") != 0)
		return json_null();
	if (!c->result.there && c->shown)
		return cell_result_of_bundle(c->shown);
	return cell_result_json(&c->result);
}

json_t *cell_answer(const struct cell *c)
{
	json_t *j = json_object();
	json_t *count = json_object_get(c->reply, "execution_count");
	const char *status = json_str_or(c->reply, "status", "error");

	json_put(j, "status", json_str(c->timed_out ? "timeout" : status));
	json_put(j, "stdout", text_of(&c->text[STDOUT]));
	json_put(j, "stderr", text_of(&c->text[STDERR]));
	json_put(j, "result", result_of(c));
	json_put(j, "outputs", json_incref(c->outputs));
	if (c->error)
		json_put(j, "error", json_incref(c->error));
	json_put(j, "execution_count",
		 json_is_integer(count) ? json_incref(count) : json_null());
	json_put(
		j, "truncated",
		json_boolean(c->truncated || c->cut[STDOUT] || c->cut[STDERR]));
	json_put(j, "timed_out", json_boolean(c->timed_out));
	json_put(j, "kernel_id",
		 c->kernel_id[0] ? json_str(c->kernel_id) : json_null());
	json_put(j, "kernel_restarted", json_boolean(c->restarted));
	json_put(j, "duration_ms", json_integer(c->ended_ms - c->started_ms));
	return j;
}

/* The timer calls on_end: we may be within cell_start(). */
static void finish(struct cell *c)
{
	kernel_unlisten(c->k, &c->listener);
	c->k = NULL;
	c->ended = true;
	c->ended_ms = clock_ms();
	loop_timer_set(c->timer, 0);
}

/* Up to a whole character; after a cut nothing more comes. */
static void keep_text(struct cell *c, int i, const char *text, size_t len)
{
	size_t room = c->cfg.max_output - c->text[i].len;

	if (c->cut[i])
		return;
	c->cut[i] = len > room;
	buf_add(&c->text[i], text, c->cut[i] ? text_whole(text, room) : len);
}

static void add_text(struct cell *c, struct part content)
{
	struct part name = { "", 0 };
	autojson json_t *j = NULL;
	const json_t *text;
	int i;

	jscan_str(content, "name", &name);
	i = part_is(name, "stderr") ? STDERR : STDOUT;
	if (c->cut[i] && !c->cfg.on_output)
		return;
	j = cell_parse(content);
	text = json_object_get(j, "text");
	if (!json_is_string(text)) {
		c->truncated = true;
		return;
	}
	if (c->cfg.on_output)
		c->cfg.on_output(c->cfg.arg, i == STDERR ? "stderr" : "stdout",
				 j);
	keep_text(c, i, json_string_value(text), json_string_length(text));
	if (c->cfg.merged)
		keep_text(c, MERGED, json_string_value(text),
			  json_string_length(text));
}

static void replace(json_t **old, json_t *new)
{
	json_decref(*old);
	*old = json_incref(new);
}

static void add_output(struct cell *c, const char *type, struct part content)
{
	bool fits = json_array_size(c->outputs) < MAX_OUTPUTS &&
		    content.len <= MAX_OUTPUT_BYTES - c->output_bytes;
	autojson json_t *j = fits || c->cfg.on_output ? cell_parse(content)
						      : NULL;

	if (!fits || !json_is_object(j))
		c->truncated = true;
	if (!json_is_object(j))
		return;
	json_put(j, "output_type", json_str(type));
	if (c->cfg.on_output)
		c->cfg.on_output(c->cfg.arg, "output", j);
	if (!fits)
		return;
	c->output_bytes += content.len;
	json_array_append(c->outputs, j);
	if (strcmp(type, "execute_result") == 0)
		replace(&c->shown, json_object_get(j, "data"));
	else if (strcmp(type, "error") == 0)
		replace(&c->error, j);
}

static bool says_idle(struct part content)
{
	struct part state;

	return jscan_str(content, "execution_state", &state) &&
	       part_is(state, "idle");
}

static void take(struct cell *c, const struct frame *f)
{
	static const char *const shown[] = { "execute_result", "display_data",
					     "update_display_data", "error" };
	struct part type = { "", 0 }, content = f->part[FRAME_CONTENT];

	jscan_str(f->part[FRAME_HEADER], "msg_type", &type);
	if (part_is(type, "stream")) {
		add_text(c, content);
	} else if (part_is(type, "status")) {
		c->idle = c->idle || says_idle(content);
	} else if (part_is(type, "execute_reply")) {
		json_decref(c->reply);
		c->reply = cell_parse(content);
		if (!c->reply)
			c->reply = json_object();
	} else if (c->wants_result && part_is(type, "display_data") &&
		   cell_result_take(&c->result, f)) {
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		if (part_is(type, shown[i]))
			add_output(c, shown[i], content);
}

static bool waits(const struct cell *c)
{
	return c->message.len;
}

static void hand_over(struct cell *c)
{
	autobuf struct buf b = c->message;
	struct frame f;

	c->message = (struct buf){ 0 };
	if (frame_read(b.p, b.len, &f, NULL) == 0)
		kernel_send(c->k, &f, (struct part){ b.p, b.len });
}

/*
 * One cell at a time: one that waits here can be given up, one that the kernel
 * has cannot.  A dead kernel answers within hand_over(), so not from a listener.
 */
static void look(struct cell *c)
{
	if (kernel_is_free(c->k))
		hand_over(c);
	else if (kernel_state(c->k) == KERNEL_DEAD)
		loop_timer_set(c->timer, 0);
}

/* Its time counts from here: what ran before was not its own. */
static void note_begin(struct cell *c)
{
	if (c->begun)
		return;
	c->begun = true;
	if (c->cfg.timeout_ms)
		loop_timer_set(c->timer, c->cfg.timeout_ms);
}

static void on_message(void *arg, uint64_t seq, const struct frame *f)
{
	struct cell *c = arg;
	struct part id;

	if (waits(c)) {
		look(c);
		return;
	}
	if (!jscan_str(f->part[FRAME_PARENT], "msg_id", &id) ||
	    !part_is(id, c->msg_id))
		return;
	note_begin(c);
	take(c, f);
	if (c->idle && c->reply)
		finish(c);
}

static void on_change(void *arg)
{
	struct cell *c = arg;

	if (kernel_state(c->k) == KERNEL_GONE) {
		c->kernel_id[0] = '\0';
		finish(c);
	} else if (waits(c)) {
		look(c);
	}
}

/* The time is over, and others had all of it: they are left alone. */
static void give_up(struct cell *c)
{
	autofree char *why = xasprintf(
		"the kernel was busy with other code, or not up, all the time; "
		"this code %s",
		waits(c) ? "has not run" : "may still run");

	c->timed_out = true;
	c->error = json_pack("{s:s, s:s, s:s, s:[]}", "output_type", "error",
			     "ename", "KernelBusy", "evalue", why, "traceback");
	json_array_append(c->outputs, c->error);
	finish(c);
}

/* A kernel that was dead may be another by now: then it is waited for. */
static void wait_on(struct cell *c)
{
	if (waits(c) && kernel_state(c->k) == KERNEL_DEAD)
		hand_over(c);
	else if (c->cfg.timeout_ms && clock_left(c->deadline_ms) == 0)
		give_up(c);
	else if (c->cfg.timeout_ms)
		loop_timer_set(c->timer, clock_left(c->deadline_ms));
}

/* First the cell is interrupted; if that does not help, the kernel goes. */
static void on_timer(void *arg)
{
	struct cell *c = arg;

	if (c->ended) {
		c->cfg.on_end(c->cfg.arg);
	} else if (!c->begun) {
		wait_on(c);
	} else if (c->timed_out || kernel_interrupt(c->k, NULL) < 0) {
		c->timed_out = c->restarted = true;
		kernel_restart(c->k);
	} else {
		c->timed_out = true;
		loop_timer_set(c->timer, INTERRUPT_MS);
	}
}

/* A kernel that does not know what "sandbox" asks for leaves it alone. */
static void make_message(struct cell *c)
{
	autojson json_t *content = json_pack(
		"{s:s, s:b, s:b, s:{}, s:b, s:b}", "code", c->cfg.code,
		"silent", 0, "store_history", 1, "user_expressions",
		"allow_stdin", 0, "stop_on_error", 0);
	autojson json_t *metadata = json_pack("{s:{s:s, s:i}}", "sandbox",
					      "result", c->cfg.result,
					      "max_bytes", CELL_RESULT_MAX);
	autofree char *text = json_print(content), *meta = json_print(metadata),
		      *header = NULL;
	struct part part[FRAME_NPARTS];
	char date[CLOCK_ISO_LEN];

	clock_iso(clock_wall_ms(), date);
	header = xasprintf("{\"msg_id\":\"%s\",\"session\":\"run-%s\","
			   "\"username\":\"run\",\"date\":\"%s\",\"msg_type\":"
			   "\"execute_request\",\"version\":\"5.3\"}",
			   c->msg_id, c->kernel_id, date);
	part[FRAME_HEADER] = part_of(header);
	part[FRAME_PARENT] = part_of("{}");
	part[FRAME_METADATA] = part_of(meta);
	part[FRAME_CONTENT] = part_of(text);
	frame_write(&c->message, FRAME_SHELL, part, NULL, 0);
}

struct cell *cell_start(const struct cell_config *cfg)
{
	struct cell *c = xcalloc(1, sizeof(*c));

	c->cfg = *cfg;
	c->k = cfg->k;
	c->wants_result = strcmp(cfg->result, "none") != 0;
	c->started_ms = clock_ms();
	c->outputs = json_array();
	c->timer = loop_timer_new(cfg->loop, on_timer, c);
	kernel_new_id(c->msg_id);
	memcpy(c->kernel_id, kernel_id(c->k), sizeof(c->kernel_id));
	c->listener = (struct kernel_listener){ .on_message = on_message,
						.on_change = on_change,
						.arg = c };
	kernel_listen(c->k, &c->listener);
	c->deadline_ms = c->started_ms + cfg->timeout_ms;
	if (cfg->timeout_ms)
		loop_timer_set(c->timer, cfg->timeout_ms);
	make_message(c);
	c->cfg.code = NULL;
	look(c);
	return c;
}
