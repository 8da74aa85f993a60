/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox-wallpaper: the background of the screen, in each size it gets. */
#include "config.h"

#include <X11/Xlib.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest/screen-x11.h"

/* The next event, unless the server goes: XNextEvent() would wait for one that
 * never comes, and then read it all the same. */
static bool next_event(struct x11 *x, XEvent *ret)
{
	struct pollfd p = { .fd = x11_fd(x), .events = POLLIN };

	while (!x11_dead(x) && XPending(x11_display(x)) == 0)
		if (!x11_dead(x))
			poll(&p, 1, -1);
	if (x11_dead(x))
		return false;
	XNextEvent(x11_display(x), ret);
	return true;
}

static int stay(struct x11 *x, struct sb_err *err)
{
	Display *dpy = x11_display(x);
	XEvent e;

	x11_trap(x);
	XSelectInput(dpy, DefaultRootWindow(dpy), StructureNotifyMask);
	for (;;) {
		if (x11_wallpaper(x, err) < 0)
			return -1;
		do
			if (!next_event(x, &e))
				return 0;
		while (e.type != ConfigureNotify);
	}
}

int main(void)
{
	struct x11 *x;
	struct sb_err err;

	if (x11_open(NULL, NULL, &x, &err) < 0 || stay(x, &err) < 0) {
		fprintf(stderr, "sandbox-wallpaper: %s\n", err.msg);
		return 1;
	}
	x11_close(x);
	return 0;
}
