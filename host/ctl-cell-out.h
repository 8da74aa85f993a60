/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a cell prints, on its way to our stdout and stderr.  It is written in
 * small pieces when there is room, so that Ctrl-C is heard while a reader is
 * slow.
 */

#include "host/ctl-sink.h"

struct cell_out {
	struct sink sink; /* what is harmless; or all of it, for --json */
	struct buf queue;
	size_t written; /* of the queue */
	int fd;		/* that the queue is for */
	bool mid_line;	/* stdout does not stand at the start of a line */
	bool failed;	/* it cannot be written */
	/* After Ctrl-C: what was under way to a terminal is not worth seeing */
	bool skip;
	unsigned long long skipped; /* bytes */
};

void cell_out_init(struct cell_out *o, bool capture);
void cell_out_done(struct cell_out *o);

/* Queue what a guest gave. */
void cell_out_push(struct cell_out *o, int fd, const char *data, size_t len);
/* The same for text that keeps colours only where they are wanted. */
void cell_out_plain(struct cell_out *o, int fd, const char *data, size_t len);
/* Stand at the start of a line. */
void cell_out_fresh_line(struct cell_out *o);

static inline bool cell_out_waits(const struct cell_out *o)
{
	return o->written < o->queue.len;
}
/* There is room: write a piece. */
void cell_out_step(struct cell_out *o);
/* Forget what waits. */
void cell_out_drop(struct cell_out *o);
/* Write all of it now. */
void cell_out_flush(struct cell_out *o);
