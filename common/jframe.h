/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A message of the Jupyter protocol as bytes, for the gateway and for its
 * clients: one run in the framing "v1.kernel.websocket.jupyter.org":
 *	u64 n, u64 offset[n] (little-endian), then what the offsets divide:
 *	channel, header, parent header, metadata, content, buffers…
 */

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/jscan.h"
#include "common/util.h"

#define FRAME_PROTOCOL "v1.kernel.websocket.jupyter.org"
#define FRAME_MAX_BUFFERS 4096

enum frame_channel { FRAME_SHELL, FRAME_CONTROL, FRAME_STDIN, FRAME_IOPUB };
#define FRAME_NCHANNELS 4

/* The parts that every message has, in their order; they are signed as one. */
enum {
	FRAME_HEADER,
	FRAME_PARENT,
	FRAME_METADATA,
	FRAME_CONTENT,
	FRAME_NPARTS
};

/* All of it points into the bytes that it was read from. */
struct frame {
	enum frame_channel channel;
	struct part part[FRAME_NPARTS];
	size_t nbuffers;
	const char *data;
};

const char *frame_channel_name(enum frame_channel c);
int frame_channel_of(struct part name, enum frame_channel *ret,
		     struct sb_err *err);

/* SB_INVALID when the bytes are not a message. */
int frame_read(const char *data, size_t len, struct frame *ret,
	       struct sb_err *err);
struct part frame_buffer(const struct frame *f, size_t i);
/* The four parts as one run. */
struct part frame_signed(const struct frame *f);

/* Add a message to out. */
void frame_write(struct buf *out, enum frame_channel c,
		 const struct part part[FRAME_NPARTS],
		 const struct part *buffers, size_t nbuffers);

/* SB_INVALID: not a message, because of why. */
int frame_bad(struct sb_err *err, const char *why);
