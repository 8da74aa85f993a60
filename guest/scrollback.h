/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The last bytes that a terminal printed, by their offset in all that it ever
 * printed, for viewers that come later or fall behind.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/util.h"

#define SCROLLBACK_SIZE (256 * 1024)

/*
 * Where in the terminal's language a byte stands: between characters and
 * sequences (GROUND), or inside of one.
 */
enum vt_state {
	VT_GROUND,
	VT_UTF8,       /* more bytes of a character follow */
	VT_ESCAPE,     /* after ESC */
	VT_CSI,	       /* ESC [ … up to a letter */
	VT_STRING,     /* OSC, DCS and the like, up to BEL or ESC \ */
	VT_STRING_ESC, /* ESC in one of these */
};

struct vt_place {
	enum vt_state state;
	int more; /* bytes of a character */
};

/* The place after one more byte. */
void vt_step(struct vt_place *p, unsigned char c);

/* Starts as all zero; the bytes from start to end are there. */
struct scrollback {
	char *ring;
	size_t cap;
	uint64_t start, end;
	struct vt_place at_start;
};

void scrollback_done(struct scrollback *s);
void scrollback_add(struct scrollback *s, const char *data, size_t len);
/* Copy up to max bytes from offset, which is between start and end, on. */
size_t scrollback_read(const struct scrollback *s, uint64_t offset, char *data,
		       size_t max);
/*
 * The first place at or after offset from which one can begin to show what
 * follows: not inside of a character or an escape sequence.
 */
uint64_t scrollback_sane(const struct scrollback *s, uint64_t offset);
