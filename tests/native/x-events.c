/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x-events X Y WIDTH HEIGHT: a window there, above all others, which has the
 * keyboard; prints "ready", then each event of mouse and keyboard in a line,
 * until stdin ends.
 */
#include "config.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print_key(XKeyEvent *e, const char *what)
{
	KeySym sym = NoSymbol;
	const char *name;

	XLookupString(e, NULL, 0, &sym, NULL);
	name = XKeysymToString(sym);
	printf("%s %s %u\n", what, name ? name : "?", e->state & 0xff);
}

static void print_event(XEvent *e)
{
	switch (e->type) {
	case KeyPress:
		print_key(&e->xkey, "press");
		break;
	case KeyRelease:
		print_key(&e->xkey, "release");
		break;
	case ButtonPress:
		printf("down %u %d %d %u\n", e->xbutton.button,
		       e->xbutton.x_root, e->xbutton.y_root,
		       e->xbutton.state & 0xff);
		break;
	case ButtonRelease:
		printf("up %u %d %d\n", e->xbutton.button, e->xbutton.x_root,
		       e->xbutton.y_root);
		break;
	case MotionNotify:
		printf("move %d %d\n", e->xmotion.x_root, e->xmotion.y_root);
		break;
	case MappingNotify:
		XRefreshKeyboardMapping(&e->xmapping);
		break;
	default:
		break;
	}
	fflush(stdout);
}

int main(int argc, char *argv[])
{
	XSetWindowAttributes a = { .override_redirect = True };
	Display *dpy = XOpenDisplay(NULL);
	struct pollfd p[2] = { { 0, POLLIN, 0 }, { 0, POLLIN, 0 } };
	long pid = getpid();
	XEvent e;
	Window w;

	if (argc != 5 || !dpy)
		return 2;
	w = XCreateWindow(dpy, DefaultRootWindow(dpy), atoi(argv[1]),
			  atoi(argv[2]), (unsigned int)atoi(argv[3]),
			  (unsigned int)atoi(argv[4]), 0, CopyFromParent,
			  InputOutput, NULL, CWOverrideRedirect, &a);
	XChangeProperty(dpy, w, XInternAtom(dpy, "_NET_WM_PID", False),
			XA_CARDINAL, 32, PropModeReplace, (unsigned char *)&pid,
			1);
	XSelectInput(dpy, w,
		     KeyPressMask | KeyReleaseMask | ButtonPressMask |
			     ButtonReleaseMask | PointerMotionMask |
			     ExposureMask);
	XMapRaised(dpy, w);
	do
		XNextEvent(dpy, &e);
	while (e.type != Expose);
	XSetInputFocus(dpy, w, RevertToPointerRoot, CurrentTime);
	/* A window manager that finds that the window before this one has gone
	 * may still give the keyboard to another one. */
	while (XGrabKeyboard(dpy, w, False, GrabModeAsync, GrabModeAsync,
			     CurrentTime) != GrabSuccess)
		poll(NULL, 0, 10);
	puts("ready");
	fflush(stdout);
	p[1].fd = ConnectionNumber(dpy);
	for (;;) {
		while (XPending(dpy)) {
			XNextEvent(dpy, &e);
			print_event(&e);
		}
		if (poll(p, 2, -1) < 0 || p[0].revents)
			break;
	}
	XCloseDisplay(dpy);
	return 0;
}
