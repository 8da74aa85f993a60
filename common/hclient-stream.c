/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are taken piece by piece. */
#include "config.h"

#include <string.h>

#include "common/base64.h"
#include "common/hclient-private.h"
#include "common/json.h"
#include "common/sse.h"
#include "common/token.h"

#define WS_KEY_BYTES 16

static int read_problem(struct hclient *c, struct reply *r, struct sb_err *err)
{
	autobuf struct buf b = { 0 };

	while (!r->done)
		if (hclient_read_body(c, r, &b, HCLIENT_MAX_JSON, err) < 0)
			return hclient_failed(c);
	return hclient_problem(r->head.status, b.p, b.len, err);
}

int hclient_send_stream(struct hclient *c, const char *method, const char *path,
			const json_t *body,
			int (*on_data)(void *arg, const char *data, size_t len),
			void *arg, struct sb_err *err)
{
	autofree char *text = body ? json_print(body) : NULL;
	autoreply struct reply r = { 0 };

	if (hclient_send_request(c, method, path,
				 text ? "application/json" : NULL, text,
				 text ? strlen(text) : 0, err) < 0 ||
	    hclient_begin_reply(c, &r, err) < 0)
		return hclient_failed(c);
	if (r.head.status >= 400)
		return read_problem(c, &r, err);
	while (!r.done) {
		autobuf struct buf b = { 0 };

		if (hclient_read_body(c, &r, &b, SIZE_MAX, err) < 0)
			return hclient_failed(c);
		if (b.len && on_data(arg, b.p, b.len)) {
			c->used_up = true;
			return 0;
		}
	}
	return 0;
}

int hclient_stream(struct hclient *c, const char *path,
		   int (*on_data)(void *arg, const char *data, size_t len),
		   void *arg, struct sb_err *err)
{
	return hclient_send_stream(c, "GET", path, NULL, on_data, arg, err);
}

struct events {
	struct sse *sse;
	struct sb_err *err;
	int r;
};

static int event_bytes(void *arg, const char *data, size_t len)
{
	struct events *e = arg;

	e->r = sse_feed(e->sse, data, len, e->err);
	return e->r;
}

int hclient_send_events(struct hclient *c, const char *method, const char *path,
			const json_t *body,
			int (*on_event)(void *arg, const char *event,
					const char *data),
			void *arg, struct sb_err *err)
{
	struct events e = { .sse = sse_new(on_event, arg), .err = err };
	int r = hclient_send_stream(c, method, path, body, event_bytes, &e,
				    err);

	sse_free(e.sse);
	return e.r < 0 ? -1 : r;
}

int hclient_events(struct hclient *c, const char *path,
		   int (*on_event)(void *arg, const char *event,
				   const char *data),
		   void *arg, struct sb_err *err)
{
	return hclient_send_events(c, "GET", path, NULL, on_event, arg, err);
}

/*
 * Sec-WebSocket-Accept is not looked at: it guards against caches that know
 * nothing of WebSockets, and these are our own servers, without any between.
 */
int hclient_upgrade(struct hclient *c, const char *path, const char *protocol,
		    int *ret_fd, struct buf *rest, struct sb_err *err)
{
	autofree char *key = NULL, *more = NULL;
	const char *said;
	autoreply struct reply r = { 0 };
	unsigned char bytes[WS_KEY_BYTES];
	int rc;

	random_bytes(bytes, sizeof(bytes));
	key = base64_encode(bytes, sizeof(bytes));
	c->more = more =
		xasprintf("Upgrade: websocket\r\n"
			  "Connection: Upgrade\r\n"
			  "Sec-WebSocket-Version: 13\r\n"
			  "Sec-WebSocket-Key: %s\r\n%s%s%s",
			  key, protocol ? "Sec-WebSocket-Protocol: " : "",
			  protocol ? protocol : "", protocol ? "\r\n" : "");
	rc = hclient_send_request(c, "GET", path, NULL, NULL, 0, err);
	c->more = NULL;
	if (rc < 0 || hclient_begin_reply(c, &r, err) < 0)
		return hclient_failed(c);
	if (r.head.status >= 400)
		return read_problem(c, &r, err);
	c->used_up = true;
	if (r.head.status != 101)
		return sb_fail(err, SB_GUEST, "the server speaks no WebSocket");
	said = http1_get(&r.head, "sec-websocket-protocol");
	if (protocol && (!said || strcmp(said, protocol) != 0))
		return sb_fail(err, SB_GUEST, "the server does not speak '%s'",
			       protocol);
	buf_add(rest, c->in.p, c->in.len);
	*ret_fd = c->fd;
	return 0;
}
