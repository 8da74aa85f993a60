/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The side of selections that hands out.  One thread uses it. */

#include <X11/Xlib.h>

#include "guest/clipboard.h"

#define OWNER_TRANSFERS 16

/* Somebody who is about to read what is handed out, perhaps in pieces. */
struct owner_transfer {
	Window to; /* None: free */
	Atom property, target;
	const struct buf *data;
	size_t off;
	bool pieces;
	bool told; /* on_text, and it is to be told of the end, too */
};

struct clipboard_owner {
	struct x11 *x;
	Display *dpy;
	Window w;
	/* What is handed out; NULL: somebody else owns the selection. */
	const struct clipboard_goods *goods[SELECTIONS];
	/* Somebody has asked for a text, and later has read it; or NULL. */
	void (*on_text)(void *arg, Window by, bool read);
	void *arg;
	unsigned long requests; /* that have been answered, of any kind */

	Atom selections[SELECTIONS], targets, incr; /* private, as the rest */
	Atom kinds[CLIPBOARD_TYPES][CLIPBOARD_TARGETS];
	struct owner_transfer transfers[OWNER_TRANSFERS];
};

/* With a connection of its own, which another thread may then use. */
int clipboard_owner_init(struct clipboard_owner *o, const char *display,
			 struct sb_err *err);
void clipboard_owner_done(struct clipboard_owner *o);

bool clipboard_owner_take(struct clipboard_owner *o, int selection,
			  const struct clipboard_goods *goods);
/* Have others own it, or nobody. */
void clipboard_owner_leave(struct clipboard_owner *o, int selection);
bool clipboard_owner_has_any(const struct clipboard_owner *o);
/* Before goods change: whoever reads them piece by piece gets no more. */
void clipboard_owner_cut(struct clipboard_owner *o);

/* Deal with what has come; or wait for it, or for another descriptor (-1:
 * none) to be readable.  False if the server is gone. */
bool clipboard_owner_next(struct clipboard_owner *o, XEvent *e, int fd);
void clipboard_owner_event(struct clipboard_owner *o, const XEvent *e);
