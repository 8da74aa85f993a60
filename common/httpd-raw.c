/* SPDX-License-Identifier: Apache-2.0 */
/* Connections whose bytes are no longer ours to read. */
#include "config.h"

#include <stdlib.h>

#include "common/httpd-private.h"

static void raw_free(void *arg)
{
	struct http_raw *r = arg;

	r->ops->on_close(r->arg);
	free(r);
}

struct http_raw *http_raw_begin(struct http_req *req /* takes */,
				const struct http_raw_ops *ops, void *arg)
{
	struct http_raw *r = xcalloc(1, sizeof(*r));
	struct http_conn *c = req->conn;

	r->conn = c;
	r->ops = ops;
	r->arg = arg;
	if (c) {
		c->req = NULL;
		conn_begin_raw(c, r);
	} else {
		r->ended = true;
		loop_post(req->loop, raw_free, r);
	}
	req_free(req);
	return r;
}

size_t http_raw_write(struct http_raw *r, const void *data, size_t len)
{
	if (!r->conn || r->ended)
		return 0;
	buf_add(&r->conn->out, data, len);
	conn_kick(r->conn);
	return conn_pending(r->conn);
}

void http_raw_pause(struct http_raw *r, bool pause)
{
	r->paused = pause;
	if (r->conn)
		conn_kick(r->conn);
}

void http_raw_end(struct http_raw *r)
{
	if (!r->conn || r->ended)
		return;
	r->ended = true;
	r->conn->close = true;
	conn_kick(r->conn);
}

static void hand_on(struct http_raw *r)
{
	struct buf in = r->conn->in;

	r->conn->in = (struct buf){ 0 };
	if (in.len && !r->ended)
		r->ops->on_data(r->arg, in.p, in.len);
	buf_done(&in);
}

void raw_rx(struct http_raw *r, const char *data, size_t len)
{
	buf_add(&r->conn->in, data, len);
	hand_on(r);
}

/* Also when it has just begun: the client may have sent something already. */
void raw_drained(struct http_raw *r)
{
	if (!r->paused)
		hand_on(r);
	r->ops->on_drain(r->arg);
}

void raw_gone(struct http_raw *r)
{
	r->conn = NULL;
	raw_free(r);
}
