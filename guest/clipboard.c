/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the clipboard, and the job. */
#include "config.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <poll.h>
#include <string.h>

#include "common/clock.h"
#include "guest/clipboard.h"

#define WAIT_MS 2000	/* for the owner's next word */
#define WORDS_AT_MOST 4 /* of that length */

const char *const clipboard_selections[SELECTIONS] = { "CLIPBOARD", "PRIMARY" };

const char *const clipboard_targets[CLIPBOARD_TYPES][CLIPBOARD_TARGETS] = {
	[CLIPBOARD_TEXT] = { "UTF8_STRING", "text/plain;charset=utf-8",
			     "text/plain", "TEXT", "STRING" },
	[CLIPBOARD_PNG] = { "image/png" },
};

struct reader {
	struct x11 *x;
	Display *dpy;
	Window w;
	Atom selection, property, incr;
	int limit_ms;
	int64_t end_ms;
};

/* The next event of a type on our window; false if it does not come. */
static bool await(struct reader *r, int type, XEvent *ret)
{
	int64_t end = MIN(clock_ms() + r->limit_ms, r->end_ms);

	for (;;) {
		struct pollfd p = { x11_fd(r->x), POLLIN, 0 };
		int64_t left = end - clock_ms();

		if (XCheckTypedWindowEvent(r->dpy, r->w, type, ret))
			return true;
		if (left <= 0 || x11_dead(r->x) || poll(&p, 1, (int)left) < 0)
			return false;
	}
}

/* Take the property away and append it; its type, None if there is none. */
static Atom take_property(struct reader *r, struct buf *out, bool *empty,
			  struct sb_err *err)
{
	unsigned char *data = NULL;
	unsigned long n = 0, left = 0;
	Atom type = None;
	int format = 0;

	if (XGetWindowProperty(r->dpy, r->w, r->property, 0, CLIPBOARD_MAX / 4,
			       True, AnyPropertyType, &type, &format, &n, &left,
			       &data) != Success)
		return None;
	*empty = n == 0;
	if (left || out->len + n > CLIPBOARD_MAX) {
		sb_fail(err, SB_LIMIT, "the clipboard has more than %d MiB",
			CLIPBOARD_MAX >> 20);
		type = None;
	} else if (type != r->incr && format == 8) {
		buf_add(out, data, n);
	}
	if (data)
		XFree(data);
	return type;
}

/* Piece by piece: each is there when the last was taken. */
static int take_pieces(struct reader *r, struct buf *out, struct sb_err *err)
{
	bool empty = false;
	XEvent e;

	while (!empty) {
		if (!await(r, PropertyNotify, &e))
			return sb_fail(err, SB_TIMEOUT,
				       "the program that has copied it does "
				       "not hand it out");
		if (e.xproperty.atom != r->property ||
		    e.xproperty.state != PropertyNewValue)
			continue;
		sb_fail(err, SB_BUSY, "the clipboard has just changed");
		if (take_property(r, out, &empty, err) == None)
			return -1;
	}
	return 0;
}

/* 1 if there is something of that kind, 0 if not. */
static int read_target(struct reader *r, const char *name, struct buf *out,
		       struct sb_err *err)
{
	Atom type;
	bool empty;
	XEvent e;

	XConvertSelection(r->dpy, r->selection,
			  XInternAtom(r->dpy, name, False), r->property, r->w,
			  CurrentTime);
	XFlush(r->dpy);
	if (!await(r, SelectionNotify, &e)) {
		sb_fail(err, SB_TIMEOUT,
			"the program that has copied it does not answer");
		return -1;
	}
	if (e.xselection.property == None)
		return 0;
	while (XCheckTypedWindowEvent(r->dpy, r->w, PropertyNotify, &e))
		;
	sb_fail(err, SB_BUSY, "the clipboard has just changed");
	type = take_property(r, out, &empty, err);
	if (type == None)
		return -1;
	if (type == r->incr && take_pieces(r, out, err) < 0)
		return -1;
	return 1;
}

/* 1 if there is something of that type, 0 if not. */
static int read_type(struct reader *r, enum clipboard_type type,
		     struct buf *out, struct sb_err *err)
{
	const char *const *name = clipboard_targets[type];
	int n = 0;

	if (XGetSelectionOwner(r->dpy, r->selection) == None)
		return 0;
	for (; *name && n == 0; name++)
		n = read_target(r, *name, out, err);
	return n;
}

int clipboard_read(struct x11 *x, int selection, enum clipboard_type type,
		   int limit_ms, struct buf *out, bool *found,
		   struct sb_err *err)
{
	struct reader r = { x, x11_display(x), .limit_ms = limit_ms };
	int n;

	r.end_ms = clock_ms() + limit_ms * WORDS_AT_MOST;
	x11_trap(x);
	r.selection =
		XInternAtom(r.dpy, clipboard_selections[selection], False);
	r.property = XInternAtom(r.dpy, "_SANDBOX_CLIPBOARD", False);
	r.incr = XInternAtom(r.dpy, "INCR", False);
	r.w = XCreateSimpleWindow(r.dpy, DefaultRootWindow(r.dpy), -10, -10, 1,
				  1, 0, 0, 0);
	XSelectInput(r.dpy, r.w, PropertyChangeMask);
	n = read_type(&r, type, out, err);
	XDestroyWindow(r.dpy, r.w);
	*found = n > 0;
	return n < 0 ? -1 : x11_check(x, "read the clipboard", err);
}

int screen_clipboard_job(struct x11 *x, void *arg, struct sb_err *err)
{
	struct screen_clipboard *s = arg;

	if (s->set)
		return clipboard_own(DisplayString(x11_display(x)), s->type,
				     &s->data, err);
	return clipboard_read(x, SELECTION_CLIPBOARD, s->type, WAIT_MS,
			      &s->data, &s->found, err);
}
