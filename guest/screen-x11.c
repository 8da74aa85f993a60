/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to an X server: capture by shared memory, cursor. */
#include "config.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <X11/extensions/Xfixes.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "guest/screen-x11.h"

#define ANSWER_MS 5000

struct x11 {
	Display *dpy;
	Window root;
	Visual *visual;
	unsigned int depth;
	bool dead, has_cursor;
	int refused; /* code of the first error since x11_trap() */
	XShmSegmentInfo shm;
	size_t shm_size;
};

/* The connection that this thread is asking something: Xlib's handlers of
 * errors are those of the whole program, and are told but the Display. */
static __thread struct x11 *asking;

static int on_error(Display *dpy, XErrorEvent *e)
{
	if (asking && asking->dpy == dpy && !asking->refused)
		asking->refused = e->error_code;
	return 0;
}

/* The default one would print to stderr. */
static int on_io_error(Display *dpy)
{
	return 0;
}

/* When this returns, so does the call that has found out. */
static void on_death(Display *dpy, void *arg)
{
	((struct x11 *)arg)->dead = true;
}

static int gone(struct sb_err *err)
{
	sb_fail(err, SB_BUSY, "the X server has gone");
	return sb_hint(err, "it is started again: ask again in a moment");
}

void x11_trap(struct x11 *x)
{
	asking = x;
	x->refused = 0;
}

void x11_forgive(struct x11 *x, int code)
{
	if (x->refused == code)
		x->refused = 0;
}

int x11_check(struct x11 *x, const char *what, struct sb_err *err)
{
	char text[128] = "";

	if (!x->dead)
		XSync(x->dpy, False);
	if (x->dead)
		return gone(err);
	if (!x->refused)
		return 0;
	XGetErrorText(x->dpy, x->refused, text, sizeof(text));
	return sb_fail(err, SB_SYSTEM, "the X server refuses to %s: %s", what,
		       text);
}

/* Shared memory is made when its size is known, at the first capture. */
static int set_up(struct x11 *x, struct sb_err *err)
{
	int screen = DefaultScreen(x->dpy), event, error;
	const Visual *v = DefaultVisual(x->dpy, screen);

	x->root = RootWindow(x->dpy, screen);
	x->visual = DefaultVisual(x->dpy, screen);
	x->depth = (unsigned int)DefaultDepth(x->dpy, screen);
	x->shm.shmid = -1;
	if ((x->depth != 24 && x->depth != 32) || v->red_mask != 0xff0000 ||
	    v->green_mask != 0xff00 || v->blue_mask != 0xff ||
	    ImageByteOrder(x->dpy) != LSBFirst)
		return sb_fail(err, SB_MISSING,
			       "the X server has no colours of 24 bits");
	if (!XShmQueryExtension(x->dpy))
		return sb_fail(err, SB_MISSING,
			       "the X server does not share memory (MIT-SHM)");
	x->has_cursor = XFixesQueryExtension(x->dpy, &event, &error);
	return 0;
}

/*
 * Whether a server on this machine answers at all: XOpenDisplay() would wait
 * for one that is stopped as long as it is.  It answers also whom it refuses.
 */
static int check_answers(const char *display, struct sb_err *err)
{
	static const char hello[12] = { 'l', 0, 11 };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	autoclose int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (!display || display[0] != ':')
		return 0;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/tmp/.X11-unix/X%.*s",
		 (int)strcspn(display + 1, "."), display + 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    send(fd, hello, sizeof(hello), MSG_NOSIGNAL) < 0)
		return sb_fail(err, SB_BUSY,
			       "cannot connect to the X server '%s': %m",
			       display);
	if (poll(&p, 1, ANSWER_MS) == 1)
		return 0;
	sb_fail(err, SB_BUSY, "the X server '%s' does not answer", display);
	return sb_hint(err, "ask again in a moment");
}

int x11_open(const char *display, const unsigned char *cookie, struct x11 **ret,
	     struct sb_err *err)
{
	struct x11 *x;

	if (check_answers(display, err) < 0)
		return -1;
	x = xcalloc(1, sizeof(*x));
	XSetErrorHandler(on_error);
	XSetIOErrorHandler(on_io_error);
	if (cookie)
		XSetAuthorization((char *)"MIT-MAGIC-COOKIE-1", 18,
				  (char *)cookie, X11_COOKIE_LEN);
	x->shm.shmid = -1;
	x->dpy = XOpenDisplay(display);
	if (!x->dpy) {
		free(x);
		return sb_fail(err, SB_BUSY,
			       "cannot connect to the X server '%s'", display);
	}
	XSetIOErrorExitHandler(x->dpy, on_death, x);
	if (set_up(x, err) < 0) {
		x11_close(x);
		return -1;
	}
	*ret = x;
	return 0;
}

static void forget_shm(struct x11 *x)
{
	if (x->shm.shmid < 0)
		return;
	if (!x->dead)
		XShmDetach(x->dpy, &x->shm);
	shmdt(x->shm.shmaddr);
	x->shm.shmid = -1;
	x->shm_size = 0;
}

void x11_close(struct x11 *x)
{
	if (!x)
		return;
	x11_trap(x);
	/* XCloseDisplay() would wait for a last answer, and for one that hangs
	 * as long as it does.  With the connection the server forgets all. */
	if (!x->dead)
		XFlush(x->dpy);
	shutdown(x11_fd(x), SHUT_RDWR);
	x->dead = true;
	forget_shm(x);
	XCloseDisplay(x->dpy);
	asking = NULL;
	free(x);
}

int x11_fd(const struct x11 *x)
{
	return ConnectionNumber(x->dpy);
}

bool x11_dead(struct x11 *x)
{
	char c;

	if (!x->dead && recv(x11_fd(x), &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		x->dead = true;
	return x->dead;
}

struct _XDisplay *x11_display(struct x11 *x)
{
	return x->dpy;
}

/* Asked each time: that is quicker than it is to keep track of events. */
int x11_size(struct x11 *x, int *width, int *height, struct sb_err *err)
{
	unsigned int w, h, border, depth;
	int left, top;
	Window root;

	x11_trap(x);
	if (!XGetGeometry(x->dpy, x->root, &root, &left, &top, &w, &h, &border,
			  &depth))
		return gone(err);
	*width = (int)w;
	*height = (int)h;
	return 0;
}

/* A server that runs as somebody else may use what we have made. */
static void give_memory(const struct x11 *x)
{
	struct shmid_ds ds;
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(x11_fd(x), SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
	    peer.uid == geteuid() || peer.uid == (uid_t)-1 ||
	    shmctl(x->shm.shmid, IPC_STAT, &ds) < 0)
		return;
	ds.shm_perm.uid = peer.uid;
	shmctl(x->shm.shmid, IPC_SET, &ds);
}

/* The segment is marked for removal at once: nothing can leave it behind. */
static int share_memory(struct x11 *x, size_t size, struct sb_err *err)
{
	if (x->shm_size >= size)
		return 0;
	forget_shm(x);
	x->shm.shmid = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	if (x->shm.shmid < 0)
		return sb_fail(err, SB_BUSY, "no shared memory: %m");
	x->shm.shmaddr = shmat(x->shm.shmid, NULL, 0);
	x->shm.readOnly = False;
	if (x->shm.shmaddr == (void *)-1) {
		shmctl(x->shm.shmid, IPC_RMID, NULL);
		x->shm.shmid = -1;
		return sb_fail(err, SB_BUSY, "no shared memory: %m");
	}
	give_memory(x);
	x11_trap(x);
	XShmAttach(x->dpy, &x->shm);
	XSync(x->dpy, False);
	shmctl(x->shm.shmid, IPC_RMID, NULL);
	x->shm_size = size;
	if (x->dead || x->refused) {
		sb_fail(err, SB_BUSY, "the X server does not take our memory");
		forget_shm(x);
		return -1;
	}
	return 0;
}

static int check_region(const struct rect *r, int width, int height,
			struct sb_err *err)
{
	if (r->x >= 0 && r->y >= 0 && r->width > 0 && r->height > 0 &&
	    r->width <= width - r->x && r->height <= height - r->y)
		return 0;
	sb_fail(err, SB_INVALID, "the region %d,%d,%d,%d is not on the screen",
		r->x, r->y, r->width, r->height);
	return sb_hint(err, "the screen has %dx%d pixels", width, height);
}

int x11_capture(struct x11 *x, const struct rect *region, struct picture *ret,
		struct sb_err *err)
{
	int width, height;
	XImage *image;
	Status ok;

	if (x11_size(x, &width, &height, err) < 0 ||
	    check_region(region, width, height, err) < 0 ||
	    share_memory(x, (size_t)width * (size_t)height * 4, err) < 0)
		return -1;
	image = XShmCreateImage(
		x->dpy, x->visual, x->depth, ZPixmap, x->shm.shmaddr, &x->shm,
		(unsigned int)region->width, (unsigned int)region->height);
	if (!image || image->bits_per_pixel != 32) {
		if (image)
			XFree(image);
		return sb_fail(err, SB_MISSING,
			       "the X server has pixels of a strange size");
	}
	x11_trap(x);
	ok = XShmGetImage(x->dpy, x->root, image, region->x, region->y,
			  AllPlanes);
	*ret = (struct picture){ region->width, region->height,
				 (size_t)image->bytes_per_line,
				 (uint8_t *)x->shm.shmaddr };
	XFree(image); /* not its memory, which is shared */
	if (ok)
		return 0;
	if (x->dead)
		return gone(err);
	sb_fail(err, SB_BUSY, "the screen has just changed its size");
	return sb_hint(err, "ask again");
}

int x11_cursor(struct x11 *x, struct x11_cursor *ret, struct sb_err *err)
{
	int left, top;
	unsigned int buttons;
	Window root, child;

	x11_trap(x);
	ret->visible = XQueryPointer(x->dpy, x->root, &root, &child, &ret->x,
				     &ret->y, &left, &top, &buttons);
	return x->dead ? gone(err) : 0;
}

/* Premultiplied alpha over an opaque pixel. */
static void blend(uint8_t *p, uint32_t argb)
{
	uint32_t rest = 255 - (argb >> 24);

	for (int i = 0; i < 3; i++) {
		uint32_t v =
			(argb >> (8 * i) & 255) + (p[i] * rest + 127) / 255;

		p[i] = (uint8_t)MIN(v, 255);
	}
}

int x11_draw_cursor(struct x11 *x, const struct rect *region, struct picture *p,
		    struct sb_err *err)
{
	XFixesCursorImage *c;

	x11_trap(x);
	c = x->has_cursor ? XFixesGetCursorImage(x->dpy) : NULL;
	if (x->dead)
		return gone(err);
	if (!c)
		return 0;
	for (int row = 0; row < c->height; row++) {
		int y = c->y - c->yhot + row - region->y;

		for (int col = 0; col < c->width && y >= 0 && y < p->height;
		     col++) {
			int left = c->x - c->xhot + col - region->x;

			if (left >= 0 && left < p->width)
				blend(p->pixels + (size_t)y * p->stride +
					      (size_t)left * 4,
				      (uint32_t)
					      c->pixels[row * c->width + col]);
		}
	}
	XFree(c);
	return 0;
}
