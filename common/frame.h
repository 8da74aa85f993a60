/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The output of a command as frames, for clients that want bytes and no JSON
 * around them: a letter, the length of the payload in four bytes, the highest
 * first, and the payload.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/util.h"

#define FRAME_TYPE "application/vnd.sandbox.frames"
#define FRAME_HEAD 5
#define FRAME_MAX (64 * 1024) /* bytes of a payload */

enum frame_letter {
	FRAME_START = 's', /* JSON: id, pid */
	FRAME_STDOUT = '1',
	FRAME_STDERR = '2',
	FRAME_EXIT = 'x', /* JSON: exit_code, signal, truncated, … */
};

void frame_head(unsigned char head[FRAME_HEAD], enum frame_letter letter,
		size_t len);

/* Non-zero ends the stream.  data is NUL-terminated. */
typedef int (*frame_handler)(void *arg, char letter, const char *data,
			     size_t len);

/* Reads frames that may be hostile; starts as all zero but for the handler. */
struct frame_reader {
	frame_handler on_frame;
	void *arg;
	struct buf in;
};

/* 0 to go on, 1 when the handler wants no more, -1 with SB_GUEST. */
int frame_feed(struct frame_reader *r, const char *data, size_t len,
	       struct sb_err *err);
void frame_done(struct frame_reader *r);
