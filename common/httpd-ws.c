/* SPDX-License-Identifier: Apache-2.0 */
/* WebSockets of the server. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/httpd-private.h"
#include "common/log.h"

#define PING_MS 30000
#define MAX_SILENT_PINGS 3
#define CLOSE_TIMEOUT 5	   /* seconds for the client to say goodbye, too */
#define KEEP_CAPACITY 4096 /* of the input, when idle */

int http_ws_check(struct http_req *req, struct sb_err *err)
{
	if (ws_check_request(&req->head, err) == 0)
		return 0;
	http_set_header(req, "Upgrade", "websocket");
	http_set_header(req, "Sec-WebSocket-Version", WS_VERSION);
	return -1;
}

const char *http_ws_protocols(const struct http_req *req)
{
	return http1_get(&req->head, "sec-websocket-protocol");
}

bool http_ws_offers(const struct http_req *req, const char *subprotocol)
{
	return http1_has_token(&req->head, "sec-websocket-protocol",
			       subprotocol);
}

static void beat_one(struct http_ws *ws, int64_t now, int64_t ping_ms)
{
	if (ws->ended)
		return;
	if (!ws->paused && now - ws->heard_ms >= MAX_SILENT_PINGS * ping_ms) {
		log_debug("a WebSocket client has gone silent");
		conn_cut(ws->conn, 0);
		return;
	}
	/* One that does not read needs no more to read. */
	if (ws->closing || conn_pending(ws->conn) >= HTTP_STREAM_HIGH)
		return;
	ws_put(&ws->conn->out, WS_PING, false, NULL, 0);
	conn_kick(ws->conn);
}

static int64_t ping_ms(const struct httpd *h)
{
	return h->cfg.ws_ping_ms ? h->cfg.ws_ping_ms : PING_MS;
}

static void beat(void *arg)
{
	struct httpd *h = arg;
	int64_t now = clock_ms();
	struct http_ws *ws;

	LIST_FOREACH(ws, &h->websockets, next)
		beat_one(ws, now, ping_ms(h));
	if (!LIST_EMPTY(&h->websockets))
		loop_timer_set(h->ws_beat, ping_ms(h));
}

static void watch(struct httpd *h, struct http_ws *ws)
{
	if (!h->ws_beat)
		h->ws_beat = loop_timer_new(h->loop, beat, h);
	if (LIST_EMPTY(&h->websockets))
		loop_timer_set(h->ws_beat, ping_ms(h));
	LIST_INSERT_HEAD(&h->websockets, ws, next);
}

static void ws_free(void *arg)
{
	struct http_ws *ws = arg;

	if (ws->ops->on_close)
		ws->ops->on_close(ws, ws->arg);
	ws_reader_done(&ws->reader);
	free(ws);
}

static void put_reply(struct http_req *req, const char *subprotocol)
{
	char accept[WS_ACCEPT_LEN + 1];

	ws_accept_key(http1_get(&req->head, "sec-websocket-key"), accept);
	if (subprotocol)
		http_set_header(req, "Sec-WebSocket-Protocol", subprotocol);
	reply_begin_head(req, 101, NULL);
	buf_addf(&req->conn->out,
		 "Upgrade: websocket\r\nConnection: Upgrade\r\n"
		 "Sec-WebSocket-Accept: %s\r\n\r\n",
		 accept);
}

struct http_ws *http_ws_accept(struct http_req *req /* takes */,
			       const char *subprotocol,
			       const struct http_ws_ops *ops, void *arg)
{
	struct http_conn *c = req->conn;
	struct http_ws *ws;
	struct sb_err err;

	if (http_ws_check(req, &err) < 0) {
		http_fail(req, &err);
		return NULL;
	}
	ws = xcalloc(1, sizeof(*ws));
	ws->conn = c;
	ws->ops = ops;
	ws->arg = arg;
	ws->reader.max_message = ops->max_message ? ops->max_message
						  : HTTP_WS_MESSAGE;
	ws->heard_ms = clock_ms();
	if (c) {
		put_reply(req, subprotocol);
		c->req = NULL;
		watch(c->h, ws);
		conn_begin_ws(c, ws);
	} else {
		ws->ended = ws->closing = true;
		loop_post(req->loop, ws_free, ws);
	}
	req_free(req);
	return ws;
}

size_t http_ws_send(struct http_ws *ws, bool text, const void *data, size_t len)
{
	if (!ws->conn || ws->closing)
		return 0;
	ws->waiting = true;
	ws_put(&ws->conn->out, text ? WS_TEXT : WS_BINARY, false, data, len);
	conn_kick(ws->conn);
	return conn_pending(ws->conn);
}

void http_ws_ping(struct http_ws *ws, uint64_t mark)
{
	if (!ws->conn || ws->closing)
		return;
	ws_put(&ws->conn->out, WS_PING, false, &mark, sizeof(mark));
	conn_kick(ws->conn);
}

static void on_pong(struct http_ws *ws, const struct ws_event *ev)
{
	uint64_t mark;

	if (ws->closing || !ws->ops->on_pong || ev->len != sizeof(mark))
		return;
	memcpy(&mark, ev->data, sizeof(mark));
	ws->ops->on_pong(ws, mark, ws->arg);
}

bool http_ws_parted(const struct http_ws *ws)
{
	return ws->parted;
}

void http_ws_pause(struct http_ws *ws)
{
	ws->paused = true;
	if (ws->conn && !ws->ended)
		conn_kick(ws->conn);
}

void http_ws_resume(struct http_ws *ws)
{
	if (!ws->paused)
		return;
	ws->paused = false;
	ws->heard_ms = clock_ms();
	/* What was read already is delivered by ws_drained(). */
	if (ws->conn && !ws->ended)
		conn_kick(ws->conn);
}

static void say_goodbye(struct http_ws *ws, int code, const char *reason)
{
	ws->closing = true;
	ws_put_close(&ws->conn->out, code, reason, false);
	conn_cut(ws->conn, CLOSE_TIMEOUT);
	conn_kick(ws->conn);
}

void http_ws_close(struct http_ws *ws, int code, const char *reason)
{
	if (!ws->conn || ws->closing)
		return;
	ws->paused = false; /* the client's goodbye must be read */
	say_goodbye(ws, code, reason);
}

/* Nothing more is read: end when what is queued has left. */
static void finish(struct http_ws *ws)
{
	ws->ended = true;
	ws->conn->close = true;
	conn_kick(ws->conn);
}

static void on_event(struct http_ws *ws, const struct ws_event *ev)
{
	switch (ev->op) {
	case WS_TEXT:
	case WS_BINARY:
		if (!ws->closing && ws->ops->on_message)
			ws->ops->on_message(ws, ev->op == WS_TEXT, ev->data,
					    ev->len, ws->arg);
		ws_reader_rest(&ws->reader);
		break;
	case WS_PING:
		if (ws->closing)
			break;
		ws_put(&ws->conn->out, WS_PONG, false, ev->data, ev->len);
		conn_kick(ws->conn);
		break;
	case WS_PONG:
		on_pong(ws, ev);
		break;
	case WS_CLOSE:
		ws->parted = true;
		if (!ws->closing)
			say_goodbye(ws, ev->code, NULL);
		finish(ws);
		break;
	default:
		break;
	}
}

static void read_on(struct http_ws *ws)
{
	struct buf *in = &ws->conn->in;
	struct ws_event ev;
	struct sb_err err;
	size_t at = 0;
	ssize_t n;

	while (at < in->len && !ws->ended && !ws->paused) {
		n = ws_read(&ws->reader, in->p + at, in->len - at, &ev, &err);
		if (n < 0) {
			log_debug("%s", err.msg);
			if (!ws->closing)
				say_goodbye(ws, ws->reader.failed, err.msg);
			/* Bytes that nobody reads would reset what we say. */
			ws->conn->unread = true;
			finish(ws);
			break;
		}
		at += n;
		on_event(ws, &ev);
	}
	buf_drop(in, ws->ended ? in->len : at);
	if (!in->len && in->cap > KEEP_CAPACITY)
		buf_done(in);
}

void ws_rx(struct http_ws *ws, const char *data, size_t len)
{
	if (ws->ended)
		return;
	ws->heard_ms = clock_ms();
	buf_add(&ws->conn->in, data, len);
	read_on(ws);
}

void ws_drained(struct http_ws *ws)
{
	if (ws->waiting) {
		ws->waiting = false;
		if (ws->ops->on_drain && !ws->closing)
			ws->ops->on_drain(ws, ws->arg);
	}
	if (!ws->paused && ws->conn->in.len)
		read_on(ws);
}

void ws_gone(struct http_ws *ws)
{
	LIST_REMOVE(ws, next);
	ws->conn = NULL;
	ws_free(ws);
}
