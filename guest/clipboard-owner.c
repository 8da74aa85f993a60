/* SPDX-License-Identifier: Apache-2.0 */
/* Who has copied something: hands it out until somebody else copies. */
#include "config.h"

#include <X11/Xatom.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "guest/clipboard-owner.h"

#define PIECE (256 * 1024) /* more is handed out in pieces */

static int find_selection(const struct clipboard_owner *o, Atom name)
{
	int i = 0;

	while (i < SELECTIONS && o->selections[i] != name)
		i++;
	return i;
}

/* The data that is meant; NULL if there is none of that kind. */
static const struct buf *find_data(const struct clipboard_owner *o,
				   const XSelectionRequestEvent *e, int *type)
{
	int i = find_selection(o, e->selection);

	if (i == SELECTIONS || !o->goods[i])
		return NULL;
	for (*type = 0; *type < CLIPBOARD_TYPES; ++*type)
		for (int k = 0; o->kinds[*type][k]; k++)
			if (o->kinds[*type][k] == e->target &&
			    o->goods[i]->has[*type])
				return &o->goods[i]->data[*type];
	return NULL;
}

static void give_targets(struct clipboard_owner *o,
			 const XSelectionRequestEvent *e, Atom property)
{
	Atom list[1 + CLIPBOARD_TYPES * CLIPBOARD_TARGETS];
	int i = find_selection(o, e->selection), n = 0;

	list[n++] = o->targets;
	for (int type = 0; i < SELECTIONS && type < CLIPBOARD_TYPES; type++)
		for (int k = 0; o->kinds[type][k]; k++)
			if (o->goods[i] && o->goods[i]->has[type])
				list[n++] = o->kinds[type][k];
	XChangeProperty(o->dpy, e->requestor, property, XA_ATOM, 32,
			PropModeReplace, (unsigned char *)list, n);
}

static void end_transfer(struct clipboard_owner *o, struct owner_transfer *t)
{
	Window by = t->to, to = by;
	bool told = t->told;

	*t = (struct owner_transfer){ 0 };
	for (int i = 0; i < OWNER_TRANSFERS; i++)
		if (o->transfers[i].to == to)
			to = None;
	if (to != None)
		XSelectInput(o->dpy, to, NoEventMask);
	if (told)
		o->on_text(o->arg, by, true);
}

/* A free one, or that of the same requestor, who has thought better of it. */
static struct owner_transfer *begin_transfer(struct clipboard_owner *o,
					     const XSelectionRequestEvent *e,
					     Atom property)
{
	struct owner_transfer *free_one = NULL;

	for (int i = 0; i < OWNER_TRANSFERS; i++) {
		struct owner_transfer *t = &o->transfers[i];

		if (t->to == e->requestor && t->property == property)
			end_transfer(o, t);
		if (t->to == None && !free_one)
			free_one = t;
	}
	if (free_one) {
		free_one->to = e->requestor;
		free_one->property = property;
		free_one->target = e->target;
		XSelectInput(o->dpy, e->requestor,
			     PropertyChangeMask | StructureNotifyMask);
	}
	return free_one;
}

/* false if too many read already. */
static bool give_data(struct clipboard_owner *o,
		      const XSelectionRequestEvent *e, Atom property,
		      const struct buf *data, bool is_text)
{
	struct owner_transfer *t = NULL;
	long size = (long)data->len;
	bool pieces = data->len > PIECE, tell = is_text && o->on_text;

	if (pieces || tell)
		t = begin_transfer(o, e, property);
	if (!t && pieces)
		return false;
	if (pieces)
		XChangeProperty(o->dpy, e->requestor, property, o->incr, 32,
				PropModeReplace, (unsigned char *)&size, 1);
	else
		XChangeProperty(o->dpy, e->requestor, property, e->target, 8,
				PropModeReplace, (unsigned char *)data->p,
				(int)data->len);
	if (t) {
		t->data = data;
		t->pieces = pieces;
		t->told = tell;
	}
	if (tell)
		o->on_text(o->arg, e->requestor, false);
	return true;
}

/* The empty one that follows the last tells that it was the last. */
static void next_piece(struct clipboard_owner *o, struct owner_transfer *t)
{
	size_t left = t->data ? t->data->len - t->off : 0;
	size_t n = MIN(left, PIECE);

	XChangeProperty(
		o->dpy, t->to, t->property, t->target, 8, PropModeReplace,
		n ? (unsigned char *)t->data->p + t->off : (unsigned char *)"",
		(int)n);
	t->off += n;
	t->pieces = n > 0;
}

static void on_delete(struct clipboard_owner *o, const XPropertyEvent *e)
{
	for (int i = 0; i < OWNER_TRANSFERS; i++) {
		struct owner_transfer *t = &o->transfers[i];

		if (t->to != e->window || t->property != e->atom)
			continue;
		if (t->pieces)
			next_piece(o, t);
		else
			end_transfer(o, t);
	}
}

static void on_destroy(struct clipboard_owner *o, Window w)
{
	for (int i = 0; i < OWNER_TRANSFERS; i++)
		if (o->transfers[i].to == w)
			end_transfer(o, &o->transfers[i]);
}

static void give(struct clipboard_owner *o, const XSelectionRequestEvent *e)
{
	Atom property = e->property == None ? e->target : e->property;
	XEvent answer = { .xselection = {
				  .type = SelectionNotify,
				  .requestor = e->requestor,
				  .selection = e->selection,
				  .target = e->target,
				  .time = e->time,
				  .property = property,
			  } };
	int type = 0;
	const struct buf *data = find_data(o, e, &type);

	if (e->target == o->targets)
		give_targets(o, e, property);
	else if (!data ||
		 !give_data(o, e, property, data, type == CLIPBOARD_TEXT))
		answer.xselection.property = None;
	XSendEvent(o->dpy, e->requestor, False, 0, &answer);
	o->requests++;
}

void clipboard_owner_event(struct clipboard_owner *o, const XEvent *e)
{
	int i;

	if (e->type == SelectionRequest) {
		give(o, &e->xselectionrequest);
	} else if (e->type == SelectionClear) {
		i = find_selection(o, e->xselectionclear.selection);
		if (i < SELECTIONS)
			o->goods[i] = NULL;
	} else if (e->type == PropertyNotify) {
		if (e->xproperty.state == PropertyDelete)
			on_delete(o, &e->xproperty);
	} else if (e->type == DestroyNotify) {
		on_destroy(o, e->xdestroywindow.window);
	}
}

bool clipboard_owner_next(struct clipboard_owner *o, XEvent *e, int fd)
{
	struct pollfd p[2] = { { x11_fd(o->x), POLLIN, 0 }, { fd, POLLIN, 0 } };

	e->type = 0;
	if (XPending(o->dpy))
		XNextEvent(o->dpy, e);
	else if (!x11_dead(o->x))
		poll(p, 2, -1);
	return !x11_dead(o->x);
}

void clipboard_owner_cut(struct clipboard_owner *o)
{
	for (int i = 0; i < OWNER_TRANSFERS; i++) {
		o->transfers[i].data = NULL;
		o->transfers[i].told = false;
	}
}

bool clipboard_owner_take(struct clipboard_owner *o, int selection,
			  const struct clipboard_goods *goods)
{
	Atom name = o->selections[selection];

	XSetSelectionOwner(o->dpy, name, o->w, CurrentTime);
	if (XGetSelectionOwner(o->dpy, name) != o->w)
		return false;
	o->goods[selection] = goods;
	return true;
}

void clipboard_owner_leave(struct clipboard_owner *o, int selection)
{
	if (!o->goods[selection])
		return;
	XSetSelectionOwner(o->dpy, o->selections[selection], None, CurrentTime);
	o->goods[selection] = NULL;
}

bool clipboard_owner_has_any(const struct clipboard_owner *o)
{
	for (int i = 0; i < SELECTIONS; i++)
		if (o->goods[i])
			return true;
	return false;
}

int clipboard_owner_init(struct clipboard_owner *o, const char *display,
			 struct sb_err *err)
{
	memset(o, 0, sizeof(*o));
	if (x11_open(display, NULL, &o->x, err) < 0)
		return -1;
	o->dpy = x11_display(o->x);
	o->w = XCreateSimpleWindow(o->dpy, DefaultRootWindow(o->dpy), -10, -10,
				   1, 1, 0, 0, 0);
	o->targets = XInternAtom(o->dpy, "TARGETS", False);
	o->incr = XInternAtom(o->dpy, "INCR", False);
	for (int i = 0; i < SELECTIONS; i++)
		o->selections[i] =
			XInternAtom(o->dpy, clipboard_selections[i], False);
	for (int i = 0; i < CLIPBOARD_TYPES; i++)
		for (int k = 0; clipboard_targets[i][k]; k++)
			o->kinds[i][k] = XInternAtom(
				o->dpy, clipboard_targets[i][k], False);
	return 0;
}

void clipboard_owner_done(struct clipboard_owner *o)
{
	x11_close(o->x);
	o->x = NULL;
}

void clipboard_goods_done(struct clipboard_goods *g)
{
	for (int i = 0; i < CLIPBOARD_TYPES; i++)
		buf_done(&g->data[i]);
	*g = (struct clipboard_goods){ 0 };
}

/* What was copied once and for all. */
struct copied {
	struct clipboard_owner o;
	struct clipboard_goods goods;
};

static void copied_free(struct copied *c)
{
	clipboard_owner_done(&c->o);
	clipboard_goods_done(&c->goods);
	free(c);
}

static void *run(void *arg)
{
	struct copied *c = arg;
	XEvent e;

	x11_trap(c->o.x);
	while (clipboard_owner_has_any(&c->o) &&
	       clipboard_owner_next(&c->o, &e, -1))
		clipboard_owner_event(&c->o, &e);
	copied_free(c);
	return NULL;
}

int clipboard_own(const char *display, enum clipboard_type type,
		  struct buf *data /* takes */, struct sb_err *err)
{
	struct copied *c = xcalloc(1, sizeof(*c));
	pthread_t thread;

	if (clipboard_owner_init(&c->o, display, err) < 0) {
		free(c);
		return -1;
	}
	c->goods.has[type] = true;
	c->goods.data[type] = *data;
	*data = (struct buf){ 0 };
	buf_reserve(&c->goods.data[type], 0);
	for (int i = 0; i < SELECTIONS; i++)
		clipboard_owner_take(&c->o, i, &c->goods);
	if (clipboard_owner_has_any(&c->o) &&
	    pthread_create(&thread, NULL, run, c) == 0) {
		pthread_detach(thread);
		return 0;
	}
	copied_free(c);
	return sb_fail(err, SB_BUSY, "the clipboard could not be taken");
}
