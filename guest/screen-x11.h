/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A connection to an X server, and what can be seen there.  One thread uses
 * it.  A server that dies ends neither that thread nor the program: whatever
 * is asked then fails with SB_BUSY, and x11_dead() tells.
 */

#include <stdbool.h>

#include "common/err.h"
#include "guest/picture.h"

struct x11;

#define X11_COOKIE_LEN 16

/*
 * cookie (X11_COOKIE_LEN bytes): what the server wants to see; NULL: look for
 * it where programs do, in $XAUTHORITY.
 */
int x11_open(const char *display, const unsigned char *cookie, struct x11 **ret,
	     struct sb_err *err);
void x11_close(struct x11 *x);

/* Its socket.  Another thread that shuts it down ends any wait in here. */
int x11_fd(const struct x11 *x);
/* Whether the server is gone, as far as can be told without asking it. */
bool x11_dead(struct x11 *x);

/* For the files beside this one that use Xlib, too: its Display. */
struct _XDisplay *x11_display(struct x11 *x);
/*
 * Whether the server has refused anything since x11_trap(), once it has
 * answered all of it: for windows that may vanish while they are looked at.
 */
void x11_trap(struct x11 *x);
int x11_check(struct x11 *x, const char *what, struct sb_err *err);
/* Have that error, of X, not count if it was the first. */
void x11_forgive(struct x11 *x, int code);

/* The size of the screen as it is now. */
int x11_size(struct x11 *x, int *width, int *height, struct sb_err *err);

/*
 * The pixels of a region, which must lie on the screen (SB_INVALID).  They are
 * in memory that is shared with the server, may be drawn upon, and are good
 * until the next capture.
 */
int x11_capture(struct x11 *x, const struct rect *region, struct picture *ret,
		struct sb_err *err);

struct x11_cursor {
	int x, y; /* of its hot spot, on the screen */
	bool visible;
};
int x11_cursor(struct x11 *x, struct x11_cursor *ret, struct sb_err *err);
/* Draw the cursor upon a picture of the region. */
int x11_draw_cursor(struct x11 *x, const struct rect *region, struct picture *p,
		    struct sb_err *err);

/* Have another size, by RandR; SB_INVALID if the server cannot. */
int x11_resize(struct x11 *x, int width, int height, struct sb_err *err);
/* Fill the background of the screen as it is now. */
int x11_wallpaper(struct x11 *x, struct sb_err *err);
