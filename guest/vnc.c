/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/util.h"
#include "common/ws.h"
#include "guest/rfb-guard.h"
#include "guest/vnc.h"

#define PIECE (64 * 1024)
/* What may wait for a server that does not read; it reads all there is. */
#define MAX_WAITING (4 * 1024 * 1024)

struct bridge {
	struct http_ws *ws;
	uv_pipe_t pipe;
	struct rfb_guard guard;
	bool view_only;
	bool reading, paused;
	bool closing;
	char data[PIECE];
};

static int clients;

struct piece {
	uv_write_t write;
	struct bridge *b;
	struct buf data;
};

static void on_closed(uv_handle_t *h)
{
	clients--;
	free(h->data);
}

static void hang_up(struct bridge *b)
{
	if (b->closing)
		return;
	b->closing = true;
	uv_close((uv_handle_t *)&b->pipe, on_closed);
}

/* Either side ends the other one. */
static void end(struct bridge *b, int code, const char *why)
{
	if (b->ws)
		http_ws_close(b->ws, code, why);
	else
		hang_up(b);
}

static void on_alloc(uv_handle_t *h, size_t wanted, uv_buf_t *ret)
{
	struct bridge *b = h->data;

	*ret = uv_buf_init(b->data, sizeof(b->data));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *data)
{
	struct bridge *b = s->data;

	if (n < 0) {
		uv_read_stop(s);
		end(b, WS_GOING_AWAY, "the screen is gone");
		return;
	}
	if (n > 0 && b->ws &&
	    http_ws_send(b->ws, false, data->base, (size_t)n) >
		    HTTP_STREAM_HIGH) {
		uv_read_stop(s);
		b->reading = false;
	}
}

static void read_on(struct bridge *b)
{
	if (!b->reading && !b->closing)
		b->reading = uv_read_start((uv_stream_t *)&b->pipe, on_alloc,
					   on_read) == 0;
}

static void on_written(uv_write_t *w, int status)
{
	struct piece *p = w->data;
	struct bridge *b = p->b;

	buf_done(&p->data);
	free(p);
	if (b->paused && b->ws && b->pipe.write_queue_size == 0) {
		b->paused = false;
		http_ws_resume(b->ws);
	}
}

static void send_on(struct bridge *b, struct buf *data /* takes */)
{
	struct piece *p = xcalloc(1, sizeof(*p));
	uv_buf_t buf;

	p->b = b;
	p->data = *data;
	p->write.data = p;
	buf = uv_buf_init(p->data.p, (unsigned int)p->data.len);
	if (uv_write(&p->write, (uv_stream_t *)&b->pipe, &buf, 1, on_written) <
	    0) {
		buf_done(&p->data);
		free(p);
		end(b, WS_GOING_AWAY, "the screen is gone");
		return;
	}
	if (b->pipe.write_queue_size > MAX_WAITING && !b->paused) {
		b->paused = true;
		http_ws_pause(b->ws);
	}
}

static void on_message(struct http_ws *ws, bool text, const char *data,
		       size_t len, void *arg)
{
	struct bridge *b = arg;
	struct buf out = { 0 };

	if (text) {
		http_ws_close(ws, WS_UNSUPPORTED, "RFB goes in binary frames");
		return;
	}
	if (!b->view_only) {
		buf_add(&out, data, len);
	} else if (rfb_guard_feed(&b->guard, data, len, &out) < 0) {
		buf_done(&out);
		http_ws_close(ws, WS_POLICY, "this link is for looking only");
		return;
	}
	if (out.len)
		send_on(b, &out);
	else
		buf_done(&out);
}

static void on_drain(struct http_ws *ws, void *arg)
{
	read_on(arg);
}

static void on_close(struct http_ws *ws, void *arg)
{
	struct bridge *b = arg;

	b->ws = NULL;
	hang_up(b);
}

static const struct http_ws_ops ops = {
	.on_message = on_message,
	.on_drain = on_drain,
	.on_close = on_close,
};

/* A server that listens is connected to at once. */
static int open_socket(const char *path, int *ret, struct sb_err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	autoclose int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return sb_fail(err, SB_BUSY, "no socket: %m");
	if (strlen(path) >= sizeof(to.sun_path))
		return sb_fail(err, SB_SYSTEM, "'%s' is too long", path);
	strcpy(to.sun_path, path);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return sb_fail(err, SB_BUSY, "the screen does not answer: %m");
	*ret = steal_fd(&fd);
	return 0;
}

void vnc_bridge(struct http_req *req, struct loop *l, const char *path,
		bool view_only)
{
	autoclose int fd = -1;
	struct sb_err err;
	struct bridge *b;

	if (clients >= VNC_MAX_CLIENTS)
		sb_fail(&err, SB_BUSY, "%d clients look at the screen already",
			clients);
	if (clients >= VNC_MAX_CLIENTS || http_ws_check(req, &err) < 0 ||
	    open_socket(path, &fd, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	clients++;
	b = xcalloc(1, sizeof(*b));
	b->view_only = view_only;
	rfb_guard_init(&b->guard);
	uv_pipe_init(loop_uv(l), &b->pipe, 0);
	b->pipe.data = b;
	b->ws = http_ws_accept(
		req, http_ws_offers(req, "binary") ? "binary" : NULL, &ops, b);
	if (b->ws && uv_pipe_open(&b->pipe, fd) == 0) {
		steal_fd(&fd);
		read_on(b);
	} else {
		end(b, WS_FAILED, NULL);
	}
}
