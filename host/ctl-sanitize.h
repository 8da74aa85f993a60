/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Guest bytes on their way to the user's terminal.  What passes is text
 * (valid UTF-8), newline, carriage return, tab and, if wanted, colours (SGR).
 * Everything else that could drive a terminal is left out: all other escape
 * sequences, strings such as OSC and DCS, and C0 and C1 controls.  Bytes that
 * are no UTF-8 become U+FFFD.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/util.h"

#define SANITIZE_MAX_SGR 64	 /* bytes of a colour sequence */
#define SANITIZE_MAX_STRING 4096 /* then an unended OSC or DCS is over */

struct sanitize {
	bool colours; /* let SGR pass */
	/* private */
	int state;
	bool dirty; /* a colour is on */
	size_t len; /* of seq[], or of the string we are in */
	char seq[SANITIZE_MAX_SGR];
	unsigned char utf8[4];
	unsigned int have, need;
};

void sanitize_init(struct sanitize *s, bool colours);

/*
 * Add what passes of data to out.  The state lasts from call to call, so that
 * it does not matter how a stream is cut.
 */
void sanitize_feed(struct sanitize *s, const char *data, size_t len,
		   struct buf *out);

/* The stream is over: add what closes it (a reset of colours). */
void sanitize_end(struct sanitize *s, struct buf *out);

/* A foreign string as one line of plain text; the caller's. */
char *sanitize_line(const char *text);
