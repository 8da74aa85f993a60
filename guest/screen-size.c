/* SPDX-License-Identifier: Apache-2.0 */
/* The size of the screen, by RandR, and its background. */
#include "config.h"

#include <X11/Xlib.h>
#include <X11/extensions/Xrandr.h>
#include <stdio.h>

#include "guest/screen-x11.h"

/* Pixels of a millimetre at 96 dpi, times 10. */
static int millimetres(int pixels)
{
	return MAX(1, pixels * 254 / 960);
}

static RRMode find_mode(const XRRScreenResources *res, unsigned int width,
			unsigned int height)
{
	for (int i = 0; i < res->nmode; i++)
		if (res->modes[i].width == width &&
		    res->modes[i].height == height)
			return res->modes[i].id;
	return None;
}

/* A mode of any size: no monitor has to show it, so that it has no timing. */
static RRMode make_mode(Display *dpy, Window root, unsigned int width,
			unsigned int height)
{
	char name[32];
	XRRModeInfo info = {
		.width = width,
		.height = height,
		.hTotal = width,
		.vTotal = height,
		.dotClock = 60UL * width * height,
		.name = name,
	};

	info.nameLength = (unsigned int)snprintf(name, sizeof(name), "%ux%u",
						 width, height);
	return XRRCreateMode(dpy, root, &info);
}

/* A screen may not become smaller than what a CRTC shows of it. */
static void set_mode(Display *dpy, Window root, XRRScreenResources *res,
		     RRMode mode, int width, int height)
{
	RROutput output = res->outputs[0];

	XRRAddOutputMode(dpy, output, mode);
	XGrabServer(dpy);
	XRRSetCrtcConfig(dpy, res, res->crtcs[0], CurrentTime, 0, 0, None,
			 RR_Rotate_0, NULL, 0);
	XRRSetScreenSize(dpy, root, width, height, millimetres(width),
			 millimetres(height));
	XRRSetCrtcConfig(dpy, res, res->crtcs[0], CurrentTime, 0, 0, mode,
			 RR_Rotate_0, &output, 1);
	XUngrabServer(dpy);
}

int x11_resize(struct x11 *x, int width, int height, struct sb_err *err)
{
	Display *dpy = x11_display(x);
	Window root = DefaultRootWindow(dpy);
	int event, error, w = 0, h = 0;
	XRRScreenResources *res;
	RRMode mode;

	x11_trap(x);
	if (!XRRQueryExtension(dpy, &event, &error))
		return sb_fail(err, SB_MISSING,
			       "the X server cannot change its size (RandR)");
	res = XRRGetScreenResources(dpy, root);
	if (!res || !res->noutput || !res->ncrtc) {
		if (res)
			XRRFreeScreenResources(res);
		return x11_check(x, "tell its sizes", err) < 0
			       ? -1
			       : sb_fail(err, SB_MISSING,
					 "the X server has no output");
	}
	mode = find_mode(res, (unsigned int)width, (unsigned int)height);
	if (mode == None)
		mode = make_mode(dpy, root, (unsigned int)width,
				 (unsigned int)height);
	if (mode != None)
		set_mode(dpy, root, res, mode, width, height);
	XRRFreeScreenResources(res);
	if (x11_check(x, "change its size", err) < 0 ||
	    x11_size(x, &w, &h, err) < 0)
		return -1;
	if (w == width && h == height)
		return 0;
	return sb_fail(err, SB_INVALID,
		       "the X server does not take the size %dx%d; it has "
		       "%dx%d",
		       width, height, w, h);
}

/* From the top to the bottom of the screen: blue of the evening. */
static const int sky[2][3] = { { 0x1f, 0x2a, 0x44 }, { 0x4b, 0x6f, 0x8f } };

static unsigned long sky_colour(int y, int height)
{
	unsigned long v = 0;

	for (int i = 0; i < 3; i++)
		v = v << 8 |
		    (unsigned long)(sky[0][i] + (sky[1][i] - sky[0][i]) * y /
							MAX(1, height - 1));
	return v;
}

/* A narrow strip is enough, as a background repeats itself. */
int x11_wallpaper(struct x11 *x, struct sb_err *err)
{
	Display *dpy = x11_display(x);
	Window root = DefaultRootWindow(dpy);
	int width, height;
	Pixmap strip;
	GC gc;

	if (x11_size(x, &width, &height, err) < 0)
		return -1;
	strip = XCreatePixmap(
		dpy, root, 8, (unsigned int)height,
		(unsigned int)DefaultDepth(dpy, DefaultScreen(dpy)));
	gc = XCreateGC(dpy, strip, 0, NULL);
	for (int y = 0; y < height; y++) {
		XSetForeground(dpy, gc, sky_colour(y, height));
		XFillRectangle(dpy, strip, gc, 0, y, 8, 1);
	}
	XFreeGC(dpy, gc);
	XSetWindowBackgroundPixmap(dpy, root, strip);
	XFreePixmap(dpy, strip); /* the server keeps it for the window */
	XClearWindow(dpy, root);
	return x11_check(x, "draw its background", err);
}
