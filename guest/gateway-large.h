/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What is said in place of a message that is too large for a client. */

#include "guest/kernel.h"

/*
 * A message in place of f, which has this number in the journal and this size:
 * one of the same type as far as that can be, so that a client that waits for
 * it goes on.  It tells where f is.  Added to out.
 */
void gateway_large(struct kernel *k, const struct frame *f, uint64_t seq,
		   size_t size, struct buf *out);
