/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, as the window manager tells of them (EWMH). */
#include "config.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <string.h>

#include "common/json.h"
#include "guest/screen-module.h"

#define MAX_WINDOWS 1024
#define MAX_TEXT 1024 /* words of 4 bytes */

/* A property, the caller's to XFree(); NULL if it is not there or not so. */
static void *get_property(Display *dpy, Window w, const char *name, Atom type,
			  int format, long max, unsigned long *ret_n)
{
	Atom atom = XInternAtom(dpy, name, False), real = None;
	unsigned char *data = NULL;
	unsigned long left;
	int real_format = 0;

	*ret_n = 0;
	if (XGetWindowProperty(dpy, w, atom, 0, max, False, type, &real,
			       &real_format, ret_n, &left, &data) != Success)
		return NULL;
	if (real_format == format && *ret_n)
		return data;
	if (data)
		XFree(data);
	*ret_n = 0;
	return NULL;
}

static json_t *text_property(Display *dpy, Window w, const char *name,
			     Atom type)
{
	unsigned long n;
	char *text = get_property(dpy, w, name, type, 8, MAX_TEXT, &n);
	json_t *j = text ? json_text(text, n) : NULL;

	if (text)
		XFree(text);
	return j;
}

static json_t *title_json(Display *dpy, Window w)
{
	json_t *j = text_property(dpy, w, "_NET_WM_NAME",
				  XInternAtom(dpy, "UTF8_STRING", False));

	if (!j)
		j = text_property(dpy, w, "WM_NAME", AnyPropertyType);
	return j ? j : json_str("");
}

static json_t *class_json(Display *dpy, Window w)
{
	XClassHint hint = { 0 };
	json_t *j;

	if (!XGetClassHint(dpy, w, &hint))
		return json_null();
	j = json_str(hint.res_class);
	if (hint.res_name)
		XFree(hint.res_name);
	if (hint.res_class)
		XFree(hint.res_class);
	return j;
}

static json_t *pid_json(Display *dpy, Window w)
{
	unsigned long n;
	long *pid = get_property(dpy, w, "_NET_WM_PID", XA_CARDINAL, 32, 1, &n);
	json_t *j = pid ? json_integer(*pid) : json_null();

	if (pid)
		XFree(pid);
	return j;
}

static Window active_window(Display *dpy)
{
	unsigned long n;
	Window *p = get_property(dpy, DefaultRootWindow(dpy),
				 "_NET_ACTIVE_WINDOW", XA_WINDOW, 32, 1, &n);
	Window w = p ? *p : None;

	if (p)
		XFree(p);
	return w;
}

/* NULL for one that has just gone. */
static json_t *window_json(struct x11 *x, Window w, Window active)
{
	Display *dpy = x11_display(x);
	XWindowAttributes a;
	int left = 0, top = 0;
	Window child;
	json_t *j;

	x11_trap(x);
	if (!XGetWindowAttributes(dpy, w, &a) ||
	    !XTranslateCoordinates(dpy, w, a.root, 0, 0, &left, &top, &child))
		return NULL;
	j = json_object();
	json_put(j, "id", json_sprintf("0x%lx", w));
	json_put(j, "title", title_json(dpy, w));
	json_put(j, "class", class_json(dpy, w));
	json_put(j, "pid", pid_json(dpy, w));
	json_put(j, "x", json_integer(left));
	json_put(j, "y", json_integer(top));
	json_put(j, "width", json_integer(a.width));
	json_put(j, "height", json_integer(a.height));
	json_put(j, "visible", json_boolean(a.map_state == IsViewable));
	json_put(j, "focused", json_boolean(w == active));
	return j;
}

/* From the bottom to the top; NULL with *ret_n 0 if there are none. */
static Window *list_windows(Display *dpy, unsigned long *ret_n)
{
	return get_property(dpy, DefaultRootWindow(dpy),
			    "_NET_CLIENT_LIST_STACKING", XA_WINDOW, 32,
			    MAX_WINDOWS, ret_n);
}

int screen_windows_job(struct x11 *x, void *arg, struct sb_err *err)
{
	struct screen_windows *s = arg;
	Display *dpy = x11_display(x);
	Window active, *list;
	unsigned long n;

	x11_trap(x);
	active = active_window(dpy);
	list = list_windows(dpy, &n);
	s->list = json_array();
	while (n-- > 0) {
		json_t *j = window_json(x, list[n], active);

		if (j)
			json_array_append_new(s->list, j);
	}
	if (list)
		XFree(list);
	x11_trap(x); /* windows that have gone are no error */
	if (x11_check(x, "list windows", err) == 0)
		return 0;
	json_decref(s->list);
	s->list = NULL;
	return -1;
}

static bool is_listed(Display *dpy, Window w)
{
	unsigned long n;
	Window *list = list_windows(dpy, &n);
	bool found = false;

	while (n-- > 0)
		found = found || list[n] == w;
	if (list)
		XFree(list);
	return found;
}

int screen_window_job(struct x11 *x, void *arg, struct sb_err *err)
{
	const struct screen_window *s = arg;
	Display *dpy = x11_display(x);
	XEvent e = { 0 };

	x11_trap(x);
	if (!is_listed(dpy, s->id)) {
		if (x11_check(x, "list windows", err) < 0)
			return -1;
		sb_fail(err, SB_NOTFOUND, "there is no window 0x%lx", s->id);
		return sb_hint(err, "GET /v1/screen/windows lists them");
	}
	e.xclient.type = ClientMessage;
	e.xclient.window = s->id;
	e.xclient.message_type = XInternAtom(dpy,
					     s->act == SCREEN_FOCUS
						     ? "_NET_ACTIVE_WINDOW"
						     : "_NET_CLOSE_WINDOW",
					     False);
	e.xclient.format = 32;
	/* From a pager, which window managers obey. */
	e.xclient.data.l[s->act == SCREEN_FOCUS ? 0 : 1] = 2;
	XSendEvent(dpy, DefaultRootWindow(dpy), False,
		   SubstructureNotifyMask | SubstructureRedirectMask, &e);
	return x11_check(x, "tell the window manager", err);
}
