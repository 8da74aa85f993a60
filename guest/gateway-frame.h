/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Messages of the Jupyter protocol for clients of the older framings, JSON text
 * and JSON with buffers behind it.  Inside, a message is one run of bytes (see
 * common/jframe.h), which a client that speaks it gets and sends as it is.  The
 * older framings are made from it and into it, without taking the JSON apart.
 */

#include <stdbool.h>

#include "common/jframe.h"

/* From what a client of the older framings sent. */
int frame_from_legacy(bool text, const char *data, size_t len, struct buf *out,
		      struct sb_err *err);
/* What such a client is sent: *ret_text says as which kind. */
int frame_to_legacy(const struct frame *f, struct buf *out, bool *ret_text,
		    struct sb_err *err);
/* The message as one JSON object, buffers in base64, with its number. */
int frame_to_json(const struct frame *f, uint64_t seq, struct buf *out,
		  struct sb_err *err);
