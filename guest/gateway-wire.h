/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Messages between gateway and kernel, signed with the kernel's key
 * (HMAC-SHA256): signature, header, parent header, metadata, content, buffers.
 */

#include "guest/gateway-frame.h"

#define WIRE_SIGNATURE_LEN 64

/* The signature of a message in hex. */
void wire_sign(const char *key, const struct frame *f,
	       char out[WIRE_SIGNATURE_LEN + 1]);

/*
 * A message from its parts, of which the first is the signature: added to out,
 * and read into *ret.  SB_INVALID when it is malformed or not signed.
 */
int wire_read(const char *key, enum frame_channel c, const struct part *parts,
	      size_t n, struct buf *out, struct frame *ret, struct sb_err *err);

/* The parts that a message is sent as, the signature first; the caller's. */
struct part *wire_parts(const struct frame *f, struct part signature,
			size_t *ret_n);
