/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x-draw NAME X Y WIDTH HEIGHT [CURSOR-X CURSOR-Y]: show a known picture at a
 * place of the screen, above all windows, until stdin ends.  With a cursor, put
 * the pointer there, red and 8x8.  "snow" is noise that moves.  "window NAME" in place of a picture: a plain
 * window of that title, until it is closed.  Says "drawn" when it is seen.
 */
#include "config.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The pictures; tests/native/screen.py has them, too. */
static uint32_t noise(int x, int y)
{
	uint32_t v = (uint32_t)x * 2654435761U ^ (uint32_t)y * 2246822519U;

	v ^= v >> 15;
	v *= 2246822519U;
	v ^= v >> 13;
	return v & 0xffffff;
}

static uint32_t slope(int x, int y)
{
	uint32_t r = (uint32_t)x / 4 & 255, g = (uint32_t)y / 4 & 255;

	return r << 16 | g << 8 | 128;
}

static uint32_t blue(int x, int y)
{
	(void)x;
	(void)y;
	return 0x2040c0;
}

static const struct {
	const char *name;
	uint32_t (*pixel)(int x, int y);
} pictures[] = { { "noise", noise }, { "slope", slope }, { "blue", blue } };

static void wait_for(Display *dpy, int type)
{
	XEvent e;

	do
		XNextEvent(dpy, &e);
	while (e.type != type);
}

static void put_picture(Display *dpy, Drawable w, const char *name, int width,
			int height)
{
	int screen = DefaultScreen(dpy);
	uint32_t *p = malloc((size_t)width * (size_t)height * sizeof(*p));
	size_t k = 0;
	XImage *image;

	while (k < 2 && strcmp(pictures[k].name, name) != 0)
		k++;
	if (!p)
		abort();
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			p[y * width + x] = pictures[k].pixel(x, y);
	image = XCreateImage(dpy, DefaultVisual(dpy, screen), 24, ZPixmap, 0,
			     (char *)p, (unsigned int)width,
			     (unsigned int)height, 32, 0);
	XPutImage(dpy, w, DefaultGC(dpy, screen), image, 0, 0, 0, 0,
		  (unsigned int)width, (unsigned int)height);
	XDestroyImage(image);
}

static void set_cursor(Display *dpy, Window w, int x, int y)
{
	static char full[] = { -1, -1, -1, -1, -1, -1, -1, -1 };
	XColor red = { 0 };
	Pixmap shape = XCreateBitmapFromData(dpy, w, full, 8, 8);

	red.red = 0xffff;
	XDefineCursor(dpy, w,
		      XCreatePixmapCursor(dpy, shape, shape, &red, &red, 0, 0));
	XWarpPointer(dpy, None, DefaultRootWindow(dpy), 0, 0, 0, 0, x, y);
}

static void say_drawn(Display *dpy)
{
	XSync(dpy, False);
	puts("drawn");
	fflush(stdout);
}

/* Every pixel changes each time, at no cost to us. */
static void let_snow(Display *dpy, Window w, int width, int height)
{
	const unsigned int far = 64;
	GC gc = DefaultGC(dpy, DefaultScreen(dpy));
	Pixmap p = XCreatePixmap(dpy, w, (unsigned int)width + far,
				 (unsigned int)height, 24);
	struct pollfd end = { .fd = STDIN_FILENO, .events = POLLIN };

	put_picture(dpy, p, "noise", width + (int)far, height);
	for (unsigned int i = 0; poll(&end, 1, 20) == 0; i = (i + 1) % far) {
		XCopyArea(dpy, p, w, gc, (int)i, 0, (unsigned int)width,
			  (unsigned int)height, 0, 0);
		XSync(dpy, False);
	}
}

static void show(Display *dpy, char **argv, int argc)
{
	int n[6] = { 0 };
	XSetWindowAttributes a = { .override_redirect = True,
				   .event_mask = ExposureMask };
	char byte;
	Window w;

	for (int i = 0; i < 6 && i + 2 < argc; i++)
		n[i] = atoi(argv[i + 2]);
	w = XCreateWindow(dpy, DefaultRootWindow(dpy), n[0], n[1],
			  (unsigned int)n[2], (unsigned int)n[3], 0,
			  CopyFromParent, InputOutput, CopyFromParent,
			  CWOverrideRedirect | CWEventMask, &a);
	if (argc > 7)
		set_cursor(dpy, w, n[4], n[5]);
	XMapRaised(dpy, w);
	wait_for(dpy, Expose);
	put_picture(dpy, w, argv[1], n[2], n[3]);
	say_drawn(dpy);
	if (strcmp(argv[1], "snow") == 0)
		let_snow(dpy, w, n[2], n[3]);
	while (read(0, &byte, 1) > 0)
		;
}

/* A window manager that is only starting may lose what is mapped: ask again. */
static void map_window(Display *dpy, Window w)
{
	struct pollfd more = { .fd = ConnectionNumber(dpy), .events = POLLIN };
	XEvent e;

	do {
		XUnmapWindow(dpy, w);
		XMapWindow(dpy, w);
		XSync(dpy, False);
		poll(&more, 1, 2000);
	} while (!XCheckTypedEvent(dpy, Expose, &e));
}

static void show_window(Display *dpy, const char *title)
{
	Atom close_atom = XInternAtom(dpy, "WM_DELETE_WINDOW", False);
	Window w = XCreateSimpleWindow(dpy, DefaultRootWindow(dpy), 0, 0, 200,
				       100, 0, 0, 0xffffff);

	XStoreName(dpy, w, title);
	XSetWMProtocols(dpy, w, &close_atom, 1);
	XSelectInput(dpy, w, ExposureMask);
	map_window(dpy, w);
	say_drawn(dpy);
	wait_for(dpy, ClientMessage);
}

int main(int argc, char **argv)
{
	Display *dpy = XOpenDisplay(NULL);

	if (!dpy || argc < 3) {
		fputs("x-draw: no display, or no arguments\n", stderr);
		return 1;
	}
	if (strcmp(argv[1], "window") == 0)
		show_window(dpy, argv[2]);
	else
		show(dpy, argv, argc);
	XCloseDisplay(dpy);
	return 0;
}
