/* SPDX-License-Identifier: Apache-2.0 */
/* A WebSocket to guestd. */
#include "config.h"

#include <errno.h>
#include <sys/socket.h>

#include "host/ctl-wsline.h"

#define BLOCK (32 * 1024)
/* Bytes that wait to leave: then a ping is not answered, lest a guest that
 * reads nothing fills our memory with the answers. */
#define MAX_PONGS (64 * 1024)

int wsline_open(struct wsline *l, const struct guestd_at *at,
		const struct wsline_kind *kind, struct sb_err *err)
{
	size_t max = kind->max_message ? kind->max_message : WSLINE_MAX_MESSAGE;

	*l = (struct wsline){ .reader = { .client = true,
					  .max_message = max } };
	if (guestd_open(at, GUESTD_ANSWER_MS, -1, &l->client, err) < 0)
		return -1;
	hclient_set_deadline(l->client, GUESTD_ANSWER_MS);
	if (hclient_upgrade(l->client, kind->path, kind->protocol, &l->fd,
			    &l->in, err) == 0)
		return 0;
	wsline_close(l);
	return -1;
}

void wsline_close(struct wsline *l)
{
	hclient_free(l->client);
	ws_reader_done(&l->reader);
	buf_done(&l->in);
	buf_done(&l->out);
	*l = (struct wsline){ 0 };
}

void wsline_send(struct wsline *l, enum ws_opcode op, const void *data,
		 size_t len)
{
	ws_put(&l->out, op, true, data, len);
}

int wsline_flush(struct wsline *l, struct sb_err *err)
{
	while (l->out.len) {
		ssize_t n = send(l->fd, l->out.p, l->out.len, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n < 0)
			return sb_fail(err, SB_SYSTEM, "cannot send: %m");
		buf_drop(&l->out, n);
	}
	return 0;
}

/* Hand on the messages that are whole. */
static int take(struct wsline *l,
		int (*on_message)(void *arg, const struct ws_event *e),
		void *arg, struct sb_err *err)
{
	size_t at = 0;
	int stop = 0;

	while (at < l->in.len && !stop) {
		struct ws_event e = { 0 };
		ssize_t n = ws_read(&l->reader, l->in.p + at, l->in.len - at,
				    &e, err);

		if (n < 0) {
			err->code = SB_GUEST;
			return -1;
		}
		at += n;
		if (e.op == WS_PING && l->out.len <= MAX_PONGS)
			wsline_send(l, WS_PONG, e.data, e.len);
		else if (e.op == WS_PING)
			continue;
		else if (e.op != WS_MORE && e.op != WS_PONG)
			stop = on_message(arg, &e);
		else if (!n)
			break;
	}
	buf_drop(&l->in, at);
	return stop;
}

int wsline_receive(struct wsline *l,
		   int (*on_message)(void *arg, const struct ws_event *e),
		   void *arg, struct sb_err *err)
{
	char block[BLOCK];
	ssize_t n;
	int rc = take(l, on_message, arg, err);

	if (rc)
		return rc;
	n = recv(l->fd, block, sizeof(block), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return sb_fail(err, SB_SYSTEM, "the connection was lost");
	buf_add(&l->in, block, n);
	return take(l, on_message, arg, err);
}
