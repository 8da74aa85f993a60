/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a screen of X shows, as often as it changes.  The server tells of
 * changes (XDamage, XFixes, XInput, RandR), so a still screen costs nothing, and
 * only the rows that changed are copied (XShm).
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct grab;

/* A whole picture: rows of B, G, R and a byte that means nothing. */
struct grab_picture {
	const uint8_t *pixels;
	int width, height, stride;
	int from, to; /* the rows that changed */
};

/* NULL is $DISPLAY. */
int grab_open(const char *display, bool cursor, struct grab **ret,
	      struct sb_err *err);
void grab_close(struct grab *g);

/* To wait for; then ask grab_changed() until it says no. */
int grab_fd(const struct grab *g);
/* Take in what the server said: whether there is something to take.  -1 when
 * the server has gone. */
int grab_changed(struct grab *g);

/*
 * The screen as it is now, with its pointer if that was wanted; ret is good
 * until the next call.  -1: the server has gone, does not answer, or there is no
 * memory.
 */
int grab_take(struct grab *g, struct grab_picture *ret, struct sb_err *err);
