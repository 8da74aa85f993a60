/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Sixel, the pictures of DEC's terminals, from a PPM that a guest made.  PPM
 * because there is nothing in it to decode: a line, and the pixels.
 */

#include <stddef.h>

#include "common/err.h"
#include "common/util.h"

#define SIXEL_MAX_SIDE 4096 /* pixels */

/* A picture that was read; the pixels are the reader's caller's. */
struct ppm {
	int width, height;
	const unsigned char *rgb;
};

/*
 * "P6\n<width> <height>\n255\n" and the pixels, as guestd writes it and in no
 * other way; SB_GUEST for all else.
 */
int ppm_read(const void *data, size_t len, struct ppm *ret, struct sb_err *err);

/* Append the picture in 216 colours, as one sequence for the terminal. */
void sixel_encode(const struct ppm *p, struct buf *out);
