/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XInput2.h>
#include <X11/extensions/XShm.h>
#include <X11/extensions/Xdamage.h>
#include <X11/extensions/Xfixes.h>
#include <X11/extensions/Xrandr.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/recorder/cursor.h"
#include "guest/recorder/grab.h"

#define ANSWER_S 10

struct rows {
	int from, to; /* none: from >= to */
};

struct grab {
	Display *dpy;
	Window root;
	Damage damage;
	XserverRegion region;
	int damage_event, fixes_event, randr_event, xi_opcode;
	bool changed, resized;
	/* The picture, in memory that the server shares. */
	XImage *image;
	XShmSegmentInfo shm;
	/* The pointer: where, and where it was drawn last. */
	bool with_cursor, new_shape, moved;
	struct cursor cursor;
	struct rows drawn;
};

/* Xlib ends the process when the server goes; the film is to be closed. */
static bool server_gone;

static int on_io_error(Display *dpy)
{
	server_gone = true;
	return 0;
}

/* Of the connection, for the time when the server does not answer. */
static volatile sig_atomic_t socket_fd = -1;

/*
 * A server that is stopped would hold us for as long as it is.  Without the
 * connection it is one that has gone; and if there is none yet, there is nothing
 * to end properly.
 */
static void on_alarm(int signum)
{
	static const char ended[] =
		"{\"event\": \"ended\", \"reason\": \"display\", "
		"\"error\": \"the X server does not answer\"}\n";

	if (socket_fd >= 0)
		shutdown(socket_fd, SHUT_RDWR);
	else if (write(STDOUT_FILENO, ended, sizeof(ended) - 1) != 0)
		_exit(1);
}

static void on_io_exit(Display *dpy, void *arg)
{
}

/* A window of the wrong moment is no reason to stop. */
static int on_error(Display *dpy, XErrorEvent *e)
{
	return 0;
}

static void rows_add(struct rows *r, int from, int to)
{
	if (from >= to)
		return;
	if (r->from >= r->to)
		*r = (struct rows){ from, to };
	r->from = MIN(r->from, from);
	r->to = MAX(r->to, to);
}

static void free_image(struct grab *g)
{
	if (!g->image)
		return;
	if (!server_gone)
		XShmDetach(g->dpy, &g->shm);
	g->image->data = NULL; /* the segment's, not Xlib's */
	XDestroyImage(g->image);
	shmdt(g->shm.shmaddr);
	g->image = NULL;
}

/* A picture as large as the screen is now. */
static int make_image(struct grab *g, struct sb_err *err)
{
	XWindowAttributes a;

	free_image(g);
	g->resized = false;
	if (!XGetWindowAttributes(g->dpy, g->root, &a) || server_gone)
		return sb_fail(err, SB_BUSY, "the X server has gone");
	g->image = XShmCreateImage(g->dpy, a.visual, (unsigned)a.depth, ZPixmap,
				   NULL, &g->shm, (unsigned)a.width,
				   (unsigned)a.height);
	if (!g->image)
		return sb_fail(err, SB_SYSTEM, "no memory for a picture");
	g->shm.shmid = shmget(IPC_PRIVATE,
			      (size_t)g->image->bytes_per_line *
				      (size_t)g->image->height,
			      IPC_CREAT | 0600);
	g->shm.shmaddr = g->shm.shmid < 0 ? (char *)-1
					  : shmat(g->shm.shmid, NULL, 0);
	if (g->shm.shmaddr == (char *)-1) {
		XDestroyImage(g->image);
		g->image = NULL;
		return sb_fail(err, SB_SYSTEM,
			       "no shared memory for a picture: %m");
	}
	g->image->data = g->shm.shmaddr;
	XShmAttach(g->dpy, &g->shm);
	XSync(g->dpy, False);
	/* It lives until the last of both has let go of it. */
	shmctl(g->shm.shmid, IPC_RMID, NULL);
	g->drawn = (struct rows){ 0, 0 };
	return 0;
}

/* Every way in which the server says that the pointer moved. */
static int watch_pointer(struct grab *g, struct sb_err *err)
{
	unsigned char bits[XIMaskLen(XI_LASTEVENT)] = { 0 };
	XIEventMask mask = { XIAllMasterDevices, sizeof(bits), bits };
	int event, error, major = 2, minor = 2;

	if (!XQueryExtension(g->dpy, "XInputExtension", &g->xi_opcode, &event,
			     &error) ||
	    XIQueryVersion(g->dpy, &major, &minor) != Success)
		return sb_fail(err, SB_MISSING,
			       "the X server has no XInput 2 extension");
	XISetMask(bits, XI_RawMotion);
	XISelectEvents(g->dpy, g->root, &mask, 1);
	XFixesSelectCursorInput(g->dpy, g->root, XFixesDisplayCursorNotifyMask);
	g->new_shape = g->moved = true;
	return 0;
}

static int watch(struct grab *g, struct sb_err *err)
{
	int error, major = 5, minor = 0;

	if (!XShmQueryExtension(g->dpy))
		return sb_fail(err, SB_MISSING,
			       "the X server has no MIT-SHM extension");
	if (!XDamageQueryExtension(g->dpy, &g->damage_event, &error) ||
	    !XFixesQueryExtension(g->dpy, &g->fixes_event, &error) ||
	    !XRRQueryExtension(g->dpy, &g->randr_event, &error) ||
	    !XFixesQueryVersion(g->dpy, &major, &minor))
		return sb_fail(err, SB_MISSING,
			       "the X server has no DAMAGE, XFIXES or RANDR");
	g->damage = XDamageCreate(g->dpy, g->root, XDamageReportNonEmpty);
	g->region = XFixesCreateRegion(g->dpy, NULL, 0);
	XRRSelectInput(g->dpy, g->root, RRScreenChangeNotifyMask);
	if (g->with_cursor && watch_pointer(g, err) < 0)
		return -1;
	/* The first picture is all of it. */
	g->changed = g->resized = true;
	return 0;
}

int grab_open(const char *display, bool cursor, struct grab **ret,
	      struct sb_err *err)
{
	struct grab *g = xcalloc(1, sizeof(*g));
	int rc;

	g->with_cursor = cursor;
	signal(SIGALRM, on_alarm);
	alarm(ANSWER_S);
	g->dpy = XOpenDisplay(display);
	if (!g->dpy) {
		alarm(0);
		sb_fail(err, SB_BUSY, "cannot open the display %s",
			XDisplayName(display));
		free(g);
		return -1;
	}
	socket_fd = ConnectionNumber(g->dpy);
	XSetErrorHandler(on_error);
	XSetIOErrorHandler(on_io_error);
	XSetIOErrorExitHandler(g->dpy, on_io_exit, NULL);
	g->root = DefaultRootWindow(g->dpy);
	rc = watch(g, err);
	alarm(0);
	if (rc < 0)
		grab_close(g);
	else
		*ret = g;
	return rc;
}

void grab_close(struct grab *g)
{
	if (!g)
		return;
	free_image(g);
	cursor_done(&g->cursor);
	/* XCloseDisplay() would ask a server that may hang; the end of the
	 * process closes it as well. */
	free(g);
}

int grab_fd(const struct grab *g)
{
	return ConnectionNumber(g->dpy);
}

static void take_event(struct grab *g, XEvent *e)
{
	if (e->type == g->damage_event + XDamageNotify) {
		g->changed = true;
	} else if (e->type == g->randr_event + RRScreenChangeNotify) {
		XRRUpdateConfiguration(e);
		g->changed = g->resized = true;
	} else if (e->type == g->fixes_event + XFixesCursorNotify) {
		g->changed = g->new_shape = true;
	} else if (e->type == GenericEvent &&
		   e->xcookie.extension == g->xi_opcode) {
		g->changed = g->moved = true;
	}
}

int grab_changed(struct grab *g)
{
	XEvent e;

	while (!server_gone && XPending(g->dpy) > 0) {
		XNextEvent(g->dpy, &e);
		take_event(g, &e);
	}
	return server_gone ? -1 : g->changed;
}

/* The rows that changed since the last time; asking makes it forget them. */
static struct rows damaged_rows(struct grab *g)
{
	XRectangle bounds = { 0 }, *list;
	int n = 0;

	XDamageSubtract(g->dpy, g->damage, None, g->region);
	list = XFixesFetchRegionAndBounds(g->dpy, g->region, &n, &bounds);
	if (list)
		XFree(list);
	if (n == 0)
		return (struct rows){ 0, 0 };
	return (struct rows){ MAX(0, bounds.y),
			      MIN(bounds.y + bounds.height, g->image->height) };
}

/* Only these rows: an image that begins further down in the same memory. */
static bool copy_rows(const struct grab *g, struct rows r)
{
	XImage part = *g->image;

	if (r.from >= r.to)
		return true;
	part.data += (size_t)r.from * (size_t)part.bytes_per_line;
	part.height = r.to - r.from;
	return XShmGetImage(g->dpy, g->root, &part, 0, r.from, AllPlanes) &&
	       !server_gone;
}

static void find_pointer(struct grab *g)
{
	Window root, child;
	int x, y, wx, wy;
	unsigned int mask;

	if (g->new_shape)
		cursor_load(&g->cursor, XFixesGetCursorImage(g->dpy));
	if (XQueryPointer(g->dpy, g->root, &root, &child, &x, &y, &wx, &wy,
			  &mask))
		cursor_move(&g->cursor, x, y);
	g->new_shape = g->moved = false;
}

/* The pointer is drawn into the picture, and taken out before the next. */
static void draw_pointer(struct grab *g, struct rows *changed)
{
	const struct canvas canvas = { (uint8_t *)g->image->data,
				       g->image->width, g->image->height,
				       g->image->bytes_per_line };
	bool news = g->new_shape || g->moved;
	struct rows now;

	if (news)
		find_pointer(g);
	cursor_draw(&g->cursor, &canvas, &now.from, &now.to);
	if (news) {
		rows_add(changed, g->drawn.from, g->drawn.to);
		rows_add(changed, now.from, now.to);
	}
	g->drawn = now;
}

static int take(struct grab *g, struct grab_picture *ret, struct sb_err *err)
{
	struct rows changed = { 0, 0 };
	bool whole = g->resized;

	g->changed = false;
	if (g->image)
		cursor_undraw(&g->cursor);
	if (whole && make_image(g, err) < 0)
		return -1;
	changed = damaged_rows(g);
	if (whole)
		changed = (struct rows){ 0, g->image->height };
	if (server_gone || !copy_rows(g, changed)) {
		/* A screen that shrank meanwhile refuses: there is news. */
		if (!server_gone)
			g->changed = g->resized = true;
		return server_gone
			       ? sb_fail(err, SB_BUSY, "the X server has gone")
			       : 1;
	}
	if (g->with_cursor)
		draw_pointer(g, &changed);
	*ret = (struct grab_picture){ .pixels = (uint8_t *)g->image->data,
				      .width = g->image->width,
				      .height = g->image->height,
				      .stride = g->image->bytes_per_line,
				      .from = changed.from,
				      .to = changed.to };
	return 0;
}

int grab_take(struct grab *g, struct grab_picture *ret, struct sb_err *err)
{
	int rc;

	alarm(ANSWER_S);
	rc = take(g, ret, err);
	alarm(0);
	return rc;
}
