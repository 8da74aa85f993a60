/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that another server answers: its life, and the way there. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/httpd-proxy-private.h"
#include "common/log.h"

#define CONNECT_MS 10000
#define REPLY_MS 60000

void pass_unref(struct pass *p)
{
	if (--p->refs)
		return;
	if (p->on_end)
		p->on_end(p->arg);
	loop_timer_free(p->timer);
	buf_done(&p->head);
	free(p->name);
	free(p->hint);
	free(p->below);
	free(p);
}

static void on_closed(uv_handle_t *h)
{
	pass_unref(h->data);
}

void pass_hang_up(struct pass *p)
{
	if (p->closing)
		return;
	p->closing = true;
	loop_timer_clear(p->timer);
	uv_close((uv_handle_t *)&p->there, on_closed);
}

void pass_leave(struct pass *p)
{
	p->req = NULL;
	p->stream = NULL;
	p->raw = NULL;
	pass_hang_up(p);
	pass_unref(p);
}

void pass_refuse(struct pass *p, enum sb_code code, const char *what)
{
	struct http_req *req = p->req;
	struct sb_err err;

	sb_fail(&err, code, "%s %s", p->name, what);
	if (p->hint)
		sb_hint(&err, "%s", p->hint);
	http_on_leave(req, NULL, NULL);
	pass_leave(p);
	http_fail(req, &err);
}

void pass_cut(struct pass *p, const char *why)
{
	log_debug("%s %s", p->name, why);
	if (p->req)
		pass_refuse(p, SB_GUEST, why);
	else if (p->stream)
		http_stream_abort(p->stream);
	else if (p->raw)
		http_raw_end(p->raw);
	pass_hang_up(p);
}

static void on_timeout(void *arg)
{
	struct pass *p = arg;

	if (p->req)
		pass_refuse(p, SB_TIMEOUT, "did not answer in time");
	else
		pass_cut(p, "does not take what it is sent");
}

/* Towards the other server. */
struct parcel {
	uv_write_t req;
	struct pass *p;
	char data[];
};

/* Whether we wait for the other server just now, and not for the client. */
static void set_deadline(struct pass *p)
{
	if (p->closing)
		return;
	if (uv_stream_get_write_queue_size(&p->there.stream) ||
	    (p->sent && p->req))
		loop_timer_set(p->timer, p->reply_ms);
	else
		loop_timer_clear(p->timer);
}

static void go_on(struct pass *p)
{
	if (!p->stalled ||
	    uv_stream_get_write_queue_size(&p->there.stream) > HTTP_STREAM_HIGH)
		return;
	p->stalled = false;
	if (p->req)
		http_body_resume(p->req);
	else if (p->raw)
		http_raw_pause(p->raw, false);
}

static void on_written(uv_write_t *req, int status)
{
	struct parcel *parcel = (struct parcel *)req;
	struct pass *p = parcel->p;

	free(parcel);
	/* One that fails may have answered: the reading will tell. */
	if (!p->closing && status == 0) {
		set_deadline(p);
		go_on(p);
	}
}

void pass_send(struct pass *p, const char *data, size_t len)
{
	struct parcel *parcel;
	uv_buf_t b = uv_buf_init((char *)data, len);
	int n;

	if (p->closing || !len)
		return;
	n = uv_try_write(&p->there.stream, &b, 1);
	n = MAX(n, 0);
	if ((size_t)n == len)
		return;
	parcel = xmalloc(sizeof(*parcel) + len - n);
	parcel->p = p;
	memcpy(parcel->data, data + n, len - n);
	b = uv_buf_init(parcel->data, len - n);
	if (uv_write(&parcel->req, &p->there.stream, &b, 1, on_written) < 0)
		free(parcel);
	set_deadline(p);
}

bool pass_is_full(const struct pass *p)
{
	return !p->closing && uv_stream_get_write_queue_size(&p->there.stream) >
				      HTTP_STREAM_HIGH;
}

static void on_body(void *arg, const char *data, size_t len)
{
	struct pass *p = arg;
	char size[24];

	if (p->chunked) {
		snprintf(size, sizeof(size), "%zx\r\n", len);
		pass_send(p, size, strlen(size));
	}
	pass_send(p, data, len);
	if (p->chunked)
		pass_send(p, "\r\n", 2);
	if (pass_is_full(p)) {
		p->stalled = true;
		http_body_pause(p->req);
	}
}

static void on_body_end(void *arg)
{
	struct pass *p = arg;

	if (p->chunked)
		pass_send(p, "0\r\n\r\n", 5);
	p->sent = true;
	set_deadline(p);
}

static void on_body_fail(void *arg, const struct sb_err *err)
{
	struct pass *p = arg;
	struct http_req *req = p->req;

	http_on_leave(req, NULL, NULL);
	pass_leave(p);
	http_fail(req, err);
}

static const struct http_body_ops body_ops = { on_body, on_body_end,
					       on_body_fail };

static void on_leave(void *arg)
{
	struct pass *p = arg;
	struct http_req *req = p->req;

	pass_leave(p);
	http_reply_empty(req, 502); /* goes nowhere */
}

static bool is_right(struct pass *p)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	uv_os_fd_t fd;

	return !p->check_uid ||
	       (uv_fileno((uv_handle_t *)&p->there, &fd) == 0 &&
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
		cred.uid == p->uid);
}

static void on_connect(uv_connect_t *c, int status)
{
	struct pass *p = c->data;

	if (p->closing)
		return;
	if (status < 0 || !is_right(p)) {
		log_debug("%s: %s", p->name,
			  status < 0 ? uv_strerror(status)
				     : "another account has its socket");
		pass_refuse(p, SB_GUEST, "cannot be reached");
		return;
	}
	loop_timer_clear(p->timer);
	pass_send(p, p->head.p, p->head.len);
	buf_done(&p->head);
	pass_read_on(p, true);
	http_body_resume(p->req);
}

static int connect_unix(struct pass *p, const char *path)
{
	struct sockaddr_un sa;

	/* libuv would cut a longer one. */
	if (strlen(path) >= sizeof(sa.sun_path))
		return -1;
	uv_pipe_connect(&p->connect, &p->there.pipe, path, on_connect);
	return 0;
}

static int connect_tcp(struct pass *p, const char *addr, int port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} sa;

	if (uv_ip4_addr(addr, port, &sa.v4) < 0 &&
	    uv_ip6_addr(addr, port, &sa.v6) < 0)
		return -1;
	uv_tcp_nodelay(&p->there.tcp, 1);
	return uv_tcp_connect(&p->connect, &p->there.tcp, &sa.any, on_connect);
}

static struct pass *pass_new(struct http_req *req, const struct http_proxy *cfg)
{
	struct pass *p = xcalloc(1, sizeof(*p));
	uv_loop_t *uv = loop_uv(req->loop);

	if (cfg->path)
		uv_pipe_init(uv, &p->there.pipe, 0);
	else
		uv_tcp_init(uv, &p->there.tcp);
	p->there.stream.data = p->connect.data = p;
	p->req = req;
	p->refs = 2;
	p->timer = loop_timer_new(req->loop, on_timeout, p);
	p->reply_ms = cfg->reply_ms ? cfg->reply_ms : REPLY_MS;
	p->check_uid = cfg->check_uid;
	p->uid = cfg->uid;
	p->name = xstrdup(cfg->name);
	p->hint = xstrdup0(cfg->hint);
	p->below = xstrdup0(cfg->below);
	p->on_end = cfg->on_end;
	p->arg = cfg->arg;
	p->upgrade = proxy_is_upgrade(&req->head);
	p->chunked = req->conn->framing == HTTP1_CHUNKED;
	proxy_put_request(&p->head, req, cfg);
	return p;
}

void http_proxy(struct http_req *req /* takes */, const struct http_proxy *cfg)
{
	struct pass *p = pass_new(req, cfg);
	int r = cfg->path ? connect_unix(p, cfg->path)
			  : connect_tcp(p, cfg->addr, cfg->port);

	if (r < 0) {
		pass_refuse(p, SB_GUEST, "cannot be reached");
		return;
	}
	loop_timer_set(p->timer,
		       cfg->connect_ms ? cfg->connect_ms : CONNECT_MS);
	http_on_leave(req, on_leave, p);
	/* Its body waits for someone to take it. */
	http_body_pause(req);
	http_body_begin(req, &body_ops, p);
}
