/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What is to be sent, in order.  Any thread adds; the I/O thread takes.  Text
 * that follows text of the same stream and parent becomes one message: it is
 * held back for a few milliseconds, or until something else follows it, or
 * until it is large.  Whoever finds the box full waits for room: nothing is
 * dropped.
 */

#include <pthread.h>
#include <stdint.h>

#include "guest/kernel/request.h"

#define OUTBOX_LIMIT (8U << 20)	      /* bytes, then writers wait */
#define OUTBOX_CHUNK (64U << 10)      /* text that is not held back */
#define OUTBOX_MAX_CHUNK (512U << 10) /* text of one message */
#define OUTBOX_FIRST_MS 2	      /* so that print's newline comes along */
#define OUTBOX_NEXT_MS 15	      /* between two messages of text */

enum stream { STREAM_NONE, STREAM_OUT, STREAM_ERR };

struct outgoing {
	TAILQ_ENTRY(outgoing) link;
	enum channel channel;
	char type[64];
	struct request *parent; /* NULL: no parent; whom replies go to */
	char *topic;		/* of iopub; NULL: made of the type */
	char *metadata;		/* JSON text; NULL is {} */
	struct buf content;	/* JSON text */
	struct buf *buffers;
	size_t nbuffers;
	/* Text of a stream, in content, that is not yet JSON. */
	enum stream stream;
	int64_t due;
	size_t cost;
};
TAILQ_HEAD(outgoing_list, outgoing);

struct outbox {
	pthread_mutex_t lock; /* nobody waits for anything while he has it */
	struct outgoing_list list;
	size_t bytes;
	struct request *current; /* the request that runs, or ran last */
	int64_t last_text;	 /* when text was last sent */
	int64_t armed;		 /* when the I/O thread looks by itself */
	int wake_fd;		 /* readable: the I/O thread is to look */
	int room_fd;		 /* readable: there is room */
	bool full, wake;
};

int outbox_init(struct outbox *box, struct sb_err *err);
void outbox_done(struct outbox *box);

struct outgoing *outgoing_new(enum channel channel, const char *type,
			      struct request *parent);
void outgoing_free(struct outgoing *o);

/* The lock; unlocking wakes the I/O thread if it has something to do. */
void outbox_lock(struct outbox *box);
void outbox_unlock(struct outbox *box);

/* With the lock: add at the end. */
void outbox_add(struct outbox *box, struct outgoing *o /* takes */);
void outbox_text(struct outbox *box, enum stream stream, const char *text,
		 size_t len);

/* With the lock: whether a writer has to wait for room_fd. */
bool outbox_full(const struct outbox *box);

/*
 * The first message that may be sent now; else NULL and *ret_wait, the
 * milliseconds until there is one (-1: until somebody adds).  After it was
 * sent, outbox_sent() frees it and makes room.
 */
struct outgoing *outbox_take(struct outbox *box, int64_t now, int *ret_wait);
void outbox_sent(struct outbox *box, struct outgoing *o /* takes */);
