/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A line to a kernel of a sandbox: Jupyter's messages on the WebSocket of
 * guestd's gateway.  A connection that is lost is taken up again, and nothing
 * is seen twice.
 */

#include <jansson.h>
#include <poll.h>
#include <stdint.h>

#include "common/jframe.h"
#include "host/ctl-wsline.h"

#define KLINE_ID_LEN 32
#define KLINE_MAX_MESSAGE (256 * 1024 * 1024)
#define KLINE_SEEN 2048
#define KLINE_MAX_TYPE 48

/* What came; all of it is gone when the handler returns. */
struct kline_msg {
	const struct frame *frame;
	char type[KLINE_MAX_TYPE];
	char parent[KLINE_ID_LEN + 1]; /* our message that it is about, or "" */
	json_t *content;
};

struct kline {
	const struct guestd_at *at;
	struct wsline ws;
	char *id; /* of the kernel */
	char session[KLINE_ID_LEN + 1];
	uint64_t seen[KLINE_SEEN]; /* hashes of the last messages */
	size_t nseen;
	int lost;   /* so often: messages may come again */
	int futile; /* of these the last ones, without a new message */
	/* Non-zero: no more messages in this turn. */
	int (*on_message)(void *arg, const struct kline_msg *m);
	void *arg;
};

/*
 * The id of a kernel: of the one that all share (which NULL), of the one that
 * all share of a kernelspec, or of a kernel by its id.  It is started if need
 * be.
 */
int kline_find(const struct guestd_at *at, const char *which, char **ret_id,
	       struct sb_err *err);

int kline_open(struct kline *l, const struct guestd_at *at,
	       char *id /* takes */, struct sb_err *err);
void kline_close(struct kline *l);

/* Queue a message; returns its id, in id[] (may be NULL). */
void kline_send(struct kline *l, enum frame_channel c, const char *type,
		json_t *content /* takes */, const json_t *metadata,
		char id[KLINE_ID_LEN + 1]);

/*
 * Wait for messages, if listen, or for one of the others, at most timeout_ms
 * (-1: no limit), and hand on what came.  -1 when the line was lost for good.
 */
int kline_wait(struct kline *l, bool listen, struct pollfd *others, size_t n,
	       int timeout_ms, struct sb_err *err);

int kline_interrupt(const struct kline *l, struct sb_err *err);
/* Returns when it is up again. */
int kline_restart(const struct kline *l, struct sb_err *err);
/* The same for one that is dead, unless another client has done so already: what
 * that has defined since would be gone. */
int kline_revive(const struct kline *l, struct sb_err *err);
