/* SPDX-License-Identifier: Apache-2.0 */
/* A connection: reading its requests, writing what is queued. */
#include "config.h"

#include <errno.h>
#include <libwebsockets.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/httpd-private.h"

/* Seconds. */
#define IDLE_TIMEOUT 75
#define HEAD_TIMEOUT 10 /* a slow head would hold the connection */
#define BODY_TIMEOUT 60
#define STALL_TIMEOUT 60 /* a client that does not read its reply */
#define LINGER_TIMEOUT 2

/*
 * A WebSocket is read while bytes wait to leave, or a client could never stop
 * a flood; but not when it makes us answer more than it takes.
 */
#define WS_MAX_PENDING (4 * HTTP_STREAM_HIGH)

#define KEEP_CAPACITY (64 * 1024)
#define UNCHANGED (-1)

/* A request that is answered at once would set four, of which one counts. */
static void set_timeout(struct http_conn *c, int seconds)
{
	c->timeout = seconds;
	if (c->in_rx || seconds == UNCHANGED)
		return;
	c->timeout = UNCHANGED;
	lws_set_timeout(c->wsi,
			seconds ? PENDING_TIMEOUT_USER_REASON_BASE
				: NO_PENDING_TIMEOUT,
			seconds);
}

size_t conn_pending(const struct http_conn *c)
{
	return c->out.len - c->out_sent;
}

/*
 * While bytes wait to leave, nothing is read: a client that sends without
 * reading is stopped, and one that is gone shows in the next write.  Nor while
 * a handler is at work that does not ask whether the client left: one that
 * only has nothing more to say looks like that, and still gets its answer.
 */
static void update_rx(struct http_conn *c)
{
	bool off = conn_pending(c) ||
		   (c->state == CONN_BUSY && c->in.len >= HTTP1_MAX_HEAD) ||
		   (c->state == CONN_BUSY && c->req && !c->req->on_leave) ||
		   (c->state == CONN_BODY && c->req->paused);

	if (c->state == CONN_WS)
		off = c->ws->paused || conn_pending(c) >= WS_MAX_PENDING;
	if (c->state == CONN_RAW)
		off = c->raw->paused;

	if (off == c->rx_off)
		return;
	c->rx_off = off;
	lws_rx_flow_control(c->wsi, !off);
}

void conn_kick(struct http_conn *c)
{
	if (c->state != CONN_WS && c->state != CONN_RAW) {
		c->state = CONN_BUSY;
		if (!c->stream || c->stream->sized)
			set_timeout(c, STALL_TIMEOUT);
	}
	if (c->in_rx) {
		c->kicked = true;
		return;
	}
	update_rx(c);
	lws_callback_on_writable(c->wsi);
}

void conn_begin_ws(struct http_conn *c, struct http_ws *ws)
{
	c->ws = ws;
	c->state = CONN_WS;
	c->close = false;
	set_timeout(c, 0);
	conn_kick(c);
}

void conn_begin_raw(struct http_conn *c, struct http_raw *raw)
{
	c->raw = raw;
	c->state = CONN_RAW;
	c->close = false;
	set_timeout(c, 0);
	conn_kick(c);
}

void conn_peer(const struct http_conn *c, char out[CONN_PEER_LEN])
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	out[0] = '\0';
	if (c->local ||
	    getpeername(lws_get_socket_fd(c->wsi), (struct sockaddr *)&ss,
			&len) < 0 ||
	    getnameinfo((struct sockaddr *)&ss, len, out, CONN_PEER_LEN, NULL,
			0, NI_NUMERICHOST) != 0)
		out[0] = '\0';
}

void conn_cut(struct http_conn *c, int seconds)
{
	c->timeout = UNCHANGED;
	lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_REASON_BASE,
			seconds ? seconds : LWS_TO_KILL_ASYNC);
}

void conn_open(struct http_conn *c)
{
	set_timeout(c, IDLE_TIMEOUT);
}

static int check_framing(struct http_conn *c, struct http_req *req,
			 struct sb_err *err)
{
	c->body_left = 0;
	c->chunked = (struct http1_chunked){ 0 };
	c->unread = true; /* until we know better */
	if (http1_framing(&req->head, &c->framing, &c->body_left, err) < 0)
		return -1;
	c->unread = c->framing == HTTP1_CHUNKED || c->body_left;
	return 0;
}

static void run_request(struct http_conn *c)
{
	struct http_req *req = c->req;

	c->state = CONN_BUSY;
	c->unread = false;
	set_timeout(c, 0);
	req->running = true;
	req->route->run(req);
}

static struct http_req *new_request(struct http_conn *c)
{
	struct http_req *req = xcalloc(1, sizeof(*req));

	req->conn = c;
	req->loop = c->h->loop;
	req->ctx = c->h->cfg.ctx;
	req->began_ms = clock_ms();
	c->req = req;
	c->unread = true;
	return req;
}

static void start_request(struct http_conn *c, size_t head_len)
{
	struct http_req *req = new_request(c);
	struct sb_err err;
	int r;

	r = http1_parse_request(c->in.p, head_len, &req->head, &err);
	buf_drop(&c->in, head_len);
	if (r < 0) {
		http_fail(req, &err);
		return;
	}
	req->is_head = strcmp(req->head.method, "HEAD") == 0;
	req->keep =
		req->head.minor > 0
			? !http1_has_token(&req->head, "connection", "close")
			: http1_has_token(&req->head, "connection",
					  "keep-alive");
	if (check_framing(c, req, &err) < 0 || req_admit(req, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	if (req->route->flags & HTTP_STREAM_BODY) {
		c->state = CONN_BODY;
		req->running = true;
		req->route->run(req);
	} else if (c->unread) {
		conn_accept_body(c);
	} else {
		run_request(c);
	}
}

void conn_accept_body(struct http_conn *c)
{
	c->state = CONN_BODY;
	set_timeout(c, BODY_TIMEOUT);
	if (c->unread &&
	    http1_has_token(&c->req->head, "expect", "100-continue")) {
		buf_adds(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
		lws_callback_on_writable(c->wsi);
	}
}

static bool body_is_whole(const struct http_conn *c)
{
	return c->framing == HTTP1_CHUNKED ? c->chunked.done : !c->body_left;
}

/* Hand on what has come of the body, unless the handler wants no more. */
static void stream_body(struct http_conn *c)
{
	struct http_req *req = c->req;
	autobuf struct buf piece = { 0 };
	struct sb_err err;
	ssize_t n;

	if (!req->body_ops || req->paused)
		return;
	set_timeout(c, BODY_TIMEOUT);
	if (c->framing == HTTP1_CHUNKED) {
		n = http1_chunked_feed(&c->chunked, c->in.p, c->in.len, &piece,
				       SIZE_MAX, &err);
		if (n < 0) {
			req->body_ops->on_fail(req->body_arg, &err);
			return;
		}
	} else {
		n = MIN(c->body_left, c->in.len);
		buf_add(&piece, c->in.p, n);
		c->body_left -= n;
	}
	buf_drop(&c->in, n);
	if (piece.len)
		req->body_ops->on_data(req->body_arg, piece.p, piece.len);
	if (c->state != CONN_BODY)
		return; /* replied to, and gone */
	if (req->paused)
		set_timeout(c, 0);
	if (req->paused || !body_is_whole(c))
		return;
	c->state = CONN_BUSY;
	c->unread = false;
	set_timeout(c, 0);
	req->body_ops->on_end(req->body_arg);
}

void conn_read_on(struct http_conn *c)
{
	if (c->state == CONN_BODY)
		stream_body(c);
	update_rx(c);
}

/* Take what has come of the body; run the request when it is whole. */
static void read_body(struct http_conn *c)
{
	struct http_req *req = c->req;
	struct sb_err err;
	ssize_t n;

	if (c->framing == HTTP1_CHUNKED) {
		n = http1_chunked_feed(&c->chunked, c->in.p, c->in.len,
				       &req->body, c->h->cfg.max_body, &err);
		if (n < 0) {
			http_fail(req, &err);
			return;
		}
	} else {
		n = MIN(c->body_left, c->in.len);
		buf_add(&req->body, c->in.p, n);
		c->body_left -= n;
	}
	buf_drop(&c->in, n);
	if (body_is_whole(c))
		run_request(c);
}

static void read_input(struct http_conn *c)
{
	struct sb_err err;
	ssize_t n;

	if (c->state == CONN_HEAD) {
		/* Robustness, RFC 9112, 2.2: empty lines before a request. */
		while (c->in.len >= 2 && memcmp(c->in.p, "\r\n", 2) == 0)
			buf_drop(&c->in, 2);
		n = http1_head_len(c->in.p, c->in.len, &err);
		if (n < 0)
			http_fail(new_request(c), &err);
		else if (n > 0)
			start_request(c, n);
	}
	if (c->state == CONN_BODY && c->req->running)
		stream_body(c);
	else if (c->state == CONN_BODY && c->in.len)
		read_body(c);
}

int conn_rx(struct http_conn *c, const char *data, size_t len)
{
	int r = 0;

	if (c->state == CONN_LINGER || c->h->stopped)
		return 0;
	if (c->state == CONN_WS) {
		ws_rx(c->ws, data, len);
		update_rx(c);
		return 0;
	}
	if (c->state == CONN_RAW) {
		raw_rx(c->raw, data, len);
		update_rx(c);
		return 0;
	}
	c->timeout = UNCHANGED;
	c->in_rx = true;
	if (c->state == CONN_HEAD && !c->in.len)
		set_timeout(c, HEAD_TIMEOUT);
	buf_add(&c->in, data, len);
	read_input(c);
	/* Most replies are ready now, and most sockets take them whole. */
	if (c->kicked || conn_pending(c)) {
		c->kicked = false;
		r = conn_writable(c);
	}
	c->in_rx = false;
	if (r < 0)
		return r;
	if (c->kicked)
		lws_callback_on_writable(c->wsi);
	c->kicked = false;
	set_timeout(c, c->timeout);
	update_rx(c);
	return 0;
}

/* The reply has left: go on with the next request, or end. */
static int next_request(struct http_conn *c)
{
	if (c->close && c->unread) {
		shutdown(lws_get_socket_fd(c->wsi), SHUT_WR);
		c->state = CONN_LINGER;
		set_timeout(c, LINGER_TIMEOUT);
		buf_done(&c->in);
	} else if (c->close) {
		return -1;
	} else {
		c->state = CONN_HEAD;
		set_timeout(c, c->in.len ? HEAD_TIMEOUT : IDLE_TIMEOUT);
		read_input(c);
	}
	return 0;
}

/*
 * To the socket itself: libwebsockets would keep the rest of a write that does
 * not fit, and not read meanwhile.
 */
static int write_out(struct http_conn *c)
{
	while (conn_pending(c)) {
		ssize_t n = send(lws_get_socket_fd(c->wsi),
				 c->out.p + c->out_sent, conn_pending(c),
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -1;
		if (n <= 0)
			break;
		c->out_sent += n;
	}
	if (c->out_sent == c->out.len) {
		c->out.len = c->out_sent = 0;
		if (c->out.cap > KEEP_CAPACITY)
			buf_done(&c->out);
	} else if (c->out_sent >= KEEP_CAPACITY &&
		   c->out_sent >= c->out.len / 2) {
		buf_drop(&c->out, c->out_sent);
		c->out_sent = 0;
	}
	return 0;
}

int conn_writable(struct http_conn *c)
{
	int r = 0;

	if (write_out(c) < 0)
		return -1;
	if (conn_pending(c)) {
		if (c->state == CONN_BUSY && !c->req &&
		    (!c->stream || c->stream->sized))
			set_timeout(c, STALL_TIMEOUT);
		lws_callback_on_writable(c->wsi);
		return 0;
	}
	/* From here on it is not the client who is slow. */
	if (c->stream && c->stream->sized)
		set_timeout(c, 0);
	if (c->stream)
		stream_drained(c->stream);
	if ((c->state == CONN_WS || c->state == CONN_RAW) && c->close)
		return next_request(c);
	if (c->state == CONN_WS)
		ws_drained(c->ws);
	if (c->state == CONN_RAW)
		raw_drained(c->raw);
	if (c->state == CONN_BUSY && !c->req && !c->stream && !conn_pending(c))
		r = next_request(c);
	update_rx(c);
	return r;
}

void conn_closed(struct http_conn *c)
{
	struct http_req *req = c->req;

	if (c->stream)
		stream_gone(c->stream);
	if (c->ws)
		ws_gone(c->ws);
	if (c->raw)
		raw_gone(c->raw);
	if (req && req->running) {
		req->conn = NULL;
		if (req->on_leave)
			req->on_leave(req->on_leave_arg);
	} else {
		req_free(req);
	}
	buf_done(&c->in);
	buf_done(&c->out);
	free(c);
}
