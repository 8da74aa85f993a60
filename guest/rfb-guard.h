/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What someone who may only look can say to an RFB (VNC) server: all that is
 * needed to see, and nothing that types, points, pastes or resizes.  Reads the
 * client's side of the protocol as it comes and hands on what is allowed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util.h"

struct rfb_guard {
	int stage;
	/* The head of a message, until its length is known. */
	uint8_t head[16];
	size_t have;
	/* What follows it. */
	uint64_t rest;
	bool pass;
};

void rfb_guard_init(struct rfb_guard *g);
/* Add to out what may go on.  -1: this is not RFB as we know it; hang up. */
int rfb_guard_feed(struct rfb_guard *g, const void *data, size_t len,
		   struct buf *out);
