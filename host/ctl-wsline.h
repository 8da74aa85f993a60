/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A WebSocket to guestd, for a loop of poll(). */

#include "common/ws.h"
#include "host/ctl-guestd.h"

/* What kind of line: path, sub-protocol (NULL: none), size of a message. */
struct wsline_kind {
	const char *path, *protocol;
	size_t max_message; /* 0: WSLINE_MAX_MESSAGE */
};
#define WSLINE_MAX_MESSAGE (1024 * 1024)

struct wsline {
	struct hclient *client;
	int fd;
	struct ws_reader reader;
	struct buf in, out; /* not yet looked at, not yet sent */
};

int wsline_open(struct wsline *l, const struct guestd_at *at,
		const struct wsline_kind *kind, struct sb_err *err);
void wsline_close(struct wsline *l);

/* Queue a message. */
void wsline_send(struct wsline *l, enum ws_opcode op, const void *data,
		 size_t len);
/* Send what is queued, as far as it goes without waiting. */
int wsline_flush(struct wsline *l, struct sb_err *err);

/*
 * Take what has come; on_message returns non-zero to stop.  SB_SYSTEM when
 * the connection was lost, SB_GUEST when the server breaks the rules.
 */
int wsline_receive(struct wsline *l,
		   int (*on_message)(void *arg, const struct ws_event *e),
		   void *arg, struct sb_err *err);
