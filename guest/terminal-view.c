/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One that looks at a terminal.  It is sent what it takes, from the
 * scrollback; one that may type is waited for, one that may not loses what it
 * is too slow for and is told so by another hello.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/ws.h"
#include "guest/signame.h"
#include "guest/terminal-view.h"

#define PIECE (32 * 1024)
#define KEEP_BEHIND (32 * 1024) /* what is left to one that was too slow */

struct viewer {
	struct http_ws *ws;
	struct terminal *t;
	struct terminal_watch watch;
	bool writable;
	bool full; /* until on_drain */
	bool acking;
	uint64_t acked;
	bool ended; /* exit was said */
};

static size_t send_json(struct viewer *v, json_t *j /* takes */)
{
	autofree char *text = json_print(j);

	json_decref(j);
	return http_ws_send(v->ws, true, text, strlen(text));
}

static void send_error(struct viewer *v, const struct sb_err *err)
{
	json_t *j = http_problem(err);

	json_put(j, "type", json_str("error"));
	send_json(v, j);
}

/* skipped: bytes that the client will never see. */
static void send_hello(struct viewer *v, uint64_t skipped)
{
	struct terminal_status st;
	json_t *j = json_object();

	terminal_get_status(v->t, &st);
	json_put(j, "type", json_str("hello"));
	json_put(j, "id", json_str(st.id));
	json_put(j, "offset", json_integer((json_int_t)v->watch.at));
	/* What comes up to here was printed before. */
	json_put(j, "end",
		 json_integer((json_int_t)terminal_output(v->t)->end));
	json_put(j, "cols", json_integer(st.cols));
	json_put(j, "rows", json_integer(st.rows));
	json_put(j, "pid", json_integer(st.pid));
	json_put(j, "writable", json_boolean(v->writable));
	if (skipped)
		json_put(j, "skipped", json_integer((json_int_t)skipped));
	send_json(v, j);
}

static void send_exit(struct viewer *v, const struct terminal_status *st)
{
	json_t *j = json_object();

	json_put(j, "type", json_str("exit"));
	json_put(j, "exit_code", json_integer(st->exit_code));
	json_put(j, "signal", signame_json(st->signal));
	send_json(v, j);
	v->ended = true;
	v->watch.holds = false;
	http_ws_close(v->ws, WS_NORMAL, "the terminal has ended");
}

/* It was too slow: what it missed is gone. */
static void skip_ahead(struct viewer *v)
{
	const struct scrollback *out = terminal_output(v->t);
	uint64_t before = v->watch.at;

	v->watch.at = scrollback_sane(out, out->end - KEEP_BEHIND);
	if (v->acking)
		v->acked = v->watch.at;
	send_hello(v, v->watch.at - before);
}

/* How much it may be sent now. */
static size_t room(const struct viewer *v)
{
	uint64_t ahead = v->watch.at - v->acked;

	if (!v->acking)
		return PIECE;
	return ahead < TERMINAL_WINDOW ? MIN(TERMINAL_WINDOW - ahead, PIECE)
				       : 0;
}

static void pump(struct viewer *v)
{
	const struct scrollback *out = terminal_output(v->t);
	struct terminal_status st;
	char data[PIECE];
	size_t n;

	if (v->ended || v->full)
		return;
	if (v->watch.at < out->start)
		skip_ahead(v);
	while (!v->full &&
	       (n = scrollback_read(out, v->watch.at, data, room(v)))) {
		v->watch.at += n;
		v->full = http_ws_send(v->ws, false, data, n) >=
			  HTTP_STREAM_HIGH;
	}
	terminal_get_status(v->t, &st);
	if (!st.running && v->watch.at == out->end)
		send_exit(v, &st);
	terminal_went_on(v->t);
}

static void on_news(void *arg)
{
	pump(arg);
}

static void on_resize(void *arg)
{
	struct viewer *v = arg;
	struct terminal_status st;

	terminal_get_status(v->t, &st);
	send_json(v, json_pack("{s:s, s:i, s:i}", "type", "resize", "cols",
			       st.cols, "rows", st.rows));
}

static void on_room(void *arg)
{
	struct viewer *v = arg;

	http_ws_resume(v->ws);
}

static void on_drain(struct http_ws *ws, void *arg)
{
	struct viewer *v = arg;

	v->full = false;
	pump(v);
}

static int take_resize(struct viewer *v, const json_t *j, struct sb_err *err)
{
	long long cols = 0, rows = 0;

	if (json_get_int(j, "cols", 1, TERMINAL_MAX_SIZE, &cols, err) < 0 ||
	    json_get_int(j, "rows", 1, TERMINAL_MAX_SIZE, &rows, err) < 0)
		return -1;
	if (!cols || !rows)
		return sb_fail(err, SB_INVALID,
			       "'cols' and 'rows' are both needed");
	return terminal_resize(v->t, (int)cols, (int)rows, err);
}

static int take_ack(struct viewer *v, const json_t *j, struct sb_err *err)
{
	long long offset = -1;

	if (json_get_int(j, "offset", 0, INT64_MAX, &offset, err) < 0)
		return -1;
	if (offset < 0 || (uint64_t)offset > v->watch.at)
		return sb_fail(err, SB_INVALID,
			       "'offset' must be that of output that was sent");
	v->acked = v->acking ? MAX(v->acked, (uint64_t)offset)
			     : (uint64_t)offset;
	v->acking = true;
	pump(v);
	return 0;
}

static int take_signal(struct viewer *v, const json_t *j, struct sb_err *err)
{
	int signum;

	if (signame_parse(json_object_get(j, "signal"), &signum, err) < 0)
		return -1;
	return terminal_signal(v->t, signum, err);
}

static int check_writable(const struct viewer *v, struct sb_err *err)
{
	if (v->writable)
		return 0;
	sb_fail(err, SB_DENIED, "this viewer may only look");
	return sb_hint(err, "connect without 'view' to type");
}

static int take_text(struct viewer *v, const char *data, size_t len,
		     struct sb_err *err)
{
	autojson json_t *j = NULL;
	const char *type;

	if (json_parse(data, len, &j, err) < 0)
		return -1;
	type = json_str_or(j, "type", "");
	if (strcmp(type, "ack") == 0)
		return take_ack(v, j, err);
	if (check_writable(v, err) < 0)
		return -1;
	if (strcmp(type, "resize") == 0)
		return take_resize(v, j, err);
	if (strcmp(type, "signal") == 0)
		return take_signal(v, j, err);
	if (strcmp(type, "close") != 0)
		return sb_fail(err, SB_INVALID,
			       "'type' must be resize, ack, signal or close");
	terminal_kill(v->t);
	return 0;
}

static int take_input(struct viewer *v, const char *data, size_t len,
		      struct sb_err *err)
{
	size_t waiting;

	if (check_writable(v, err) < 0 ||
	    terminal_write(v->t, data, len, &waiting, err) < 0)
		return -1;
	if (waiting >= TERMINAL_INPUT_HIGH)
		http_ws_pause(v->ws);
	return 0;
}

static void on_message(struct http_ws *ws, bool text, const char *data,
		       size_t len, void *arg)
{
	struct viewer *v = arg;
	struct sb_err err;

	if ((text ? take_text(v, data, len, &err)
		  : take_input(v, data, len, &err)) < 0)
		send_error(v, &err);
}

static void on_close(struct http_ws *ws, void *arg)
{
	struct viewer *v = arg;

	terminal_unwatch(v->t, &v->watch);
	terminal_unref(v->t);
	free(v);
}

int terminal_view_check(const struct terminal *t, const struct terminal_view *v,
			struct sb_err *err)
{
	uint64_t end = terminal_output(t)->end;

	if (!v->from_offset || v->offset <= end)
		return 0;
	return sb_fail(err, SB_INVALID,
		       "'offset' is beyond the %llu bytes that were printed",
		       (unsigned long long)end);
}

void terminal_view(struct http_req *req /* takes */, struct terminal *t,
		   const struct terminal_view *cfg)
{
	static const struct http_ws_ops ops = {
		.on_message = on_message,
		.on_drain = on_drain,
		.on_close = on_close,
	};
	const struct scrollback *out = terminal_output(t);
	struct viewer *v = xcalloc(1, sizeof(*v));

	v->ws = http_ws_accept(req, NULL, &ops, v);
	if (!v->ws) {
		free(v);
		return;
	}
	v->t = terminal_ref(t);
	v->writable = cfg->writable;
	v->watch = (struct terminal_watch){
		.holds = v->writable,
		.on_news = on_news,
		.on_resize = on_resize,
		.on_room = on_room,
		.arg = v,
	};
	v->watch.at = cfg->from_offset && cfg->offset >= out->start
			      ? cfg->offset
			      : scrollback_sane(out, out->start);
	terminal_watch(t, &v->watch);
	send_hello(v, cfg->from_offset ? v->watch.at - cfg->offset : 0);
	pump(v);
}
