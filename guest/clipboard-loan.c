/* SPDX-License-Identifier: Apache-2.0 */
/* The clipboard while something is typed through it. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "guest/clipboard-loan.h"
#include "guest/clipboard-owner.h"
#include "guest/input-idle.h"

#define SAVE_MS 300 /* for each word of who has copied what was there */

struct clipboard_loan {
	pthread_mutex_t lock; /* for all up to the thread's */
	int refs;	      /* the thread, and who has borrowed it */
	struct loan_news news;
	int reading;
	unsigned long at_text; /* requests when the text was read */
	Window to;	       /* whose client is meant to read */
	struct buf next;       /* offered, and not yet seen by the thread */
	bool has_next, ended, answer;

	int wake;		  /* eventfd: there is something new above */
	int n;			  /* selections that are borrowed */
	struct clipboard_owner o; /* the thread's, as the rest */
	struct clipboard_goods text, was[SELECTIONS];
};

static void unref(struct clipboard_loan *l)
{
	bool last;

	pthread_mutex_lock(&l->lock);
	last = --l->refs == 0;
	pthread_mutex_unlock(&l->lock);
	if (!last)
		return;
	for (int i = 0; i < SELECTIONS; i++)
		clipboard_goods_done(&l->was[i]);
	clipboard_goods_done(&l->text);
	buf_done(&l->next);
	close(l->wake);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static bool is_lost(struct clipboard_loan *l)
{
	bool lost;

	pthread_mutex_lock(&l->lock);
	lost = l->news.state == LOAN_LOST;
	pthread_mutex_unlock(&l->lock);
	return lost;
}

static void set_state(struct clipboard_loan *l, enum loan_state state)
{
	pthread_mutex_lock(&l->lock);
	l->news.state = state;
	pthread_mutex_unlock(&l->lock);
}

/* Who reads when nobody has pasted does not count. */
static void on_text(void *arg, Window by, bool read)
{
	struct clipboard_loan *l = arg;

	pthread_mutex_lock(&l->lock);
	if (!input_is_client(l->o.dpy, by)) {
		/* The server itself, for those who watch it by VNC. */
	} else if (!input_same_client(l->o.dpy, by, l->to)) {
		l->news.others = true;
	} else {
		l->at_text = l->o.requests;
		l->reading += read ? -1 : 1;
		l->news.asked = true;
		l->news.taken = l->reading == 0;
	}
	pthread_mutex_unlock(&l->lock);
}

/* Keep what is there, as far as it can be had. */
static void keep(struct clipboard_loan *l, int selection)
{
	struct clipboard_goods *g = &l->was[selection];
	struct sb_err err;

	for (int i = 0; i < CLIPBOARD_TYPES; i++) {
		bool found = false;

		if (selection == SELECTION_PRIMARY && i != CLIPBOARD_TEXT)
			continue;
		if (clipboard_read(l->o.x, selection, (enum clipboard_type)i,
				   SAVE_MS, &g->data[i], &found, &err) < 0)
			return; /* its owner would not answer again either */
		buf_reserve(&g->data[i], 0);
		g->has[i] = found;
	}
}

/*
 * Programs keep what they have read for as long as nobody says that there is
 * something else, so each text is copied anew.
 */
static bool take_all(struct clipboard_loan *l)
{
	bool ok = true;

	for (int i = 0; i < l->n; i++)
		ok = clipboard_owner_take(&l->o, i, &l->text) && ok;
	return ok;
}

static void begin(struct clipboard_loan *l)
{
	x11_trap(l->o.x);
	for (int i = 0; i < l->n; i++)
		keep(l, i);
	set_state(l, take_all(l) ? LOAN_READY : LOAN_LOST);
}

/* From now on, hand out what was there. */
static void put_back(struct clipboard_loan *l)
{
	l->o.on_text = NULL;
	for (int i = 0; i < l->n; i++) {
		const struct clipboard_goods *g = &l->was[i];

		if (!l->o.goods[i])
			continue; /* somebody has copied something else */
		if (g->has[CLIPBOARD_TEXT] || g->has[CLIPBOARD_PNG])
			clipboard_owner_take(&l->o, i, g);
		else
			clipboard_owner_leave(&l->o, i);
	}
	set_state(l, LOAN_OVER);
}

/* What the borrower wants, before any answer to a request that came later. */
static void look_at_mail(struct clipboard_loan *l)
{
	bool fresh, ended;

	pthread_mutex_lock(&l->lock);
	fresh = l->has_next;
	ended = l->ended;
	if (fresh || ended)
		clipboard_owner_cut(&l->o);
	if (fresh) {
		buf_done(&l->text.data[CLIPBOARD_TEXT]);
		l->text.data[CLIPBOARD_TEXT] = l->next;
		l->text.has[CLIPBOARD_TEXT] = true;
		l->next = (struct buf){ 0 };
	}
	l->has_next = l->ended = false;
	pthread_mutex_unlock(&l->lock);
	if (ended)
		put_back(l);
	else if (fresh && !is_lost(l) && take_all(l))
		set_state(l, LOAN_READY);
}

static void on_event(struct clipboard_loan *l, const XEvent *e)
{
	look_at_mail(l);
	if (e->type == SelectionClear)
		set_state(l, LOAN_LOST);
	clipboard_owner_event(&l->o, e);
}

/* What others had asked before is here when the server has answered us; once
 * more, as it serves all its clients by turns. */
static void answer_all(struct clipboard_loan *l)
{
	XEvent e;

	for (int i = 0; i < 2; i++) {
		XSync(l->o.dpy, False);
		while (!x11_dead(l->o.x) && XPending(l->o.dpy)) {
			XNextEvent(l->o.dpy, &e);
			on_event(l, &e);
		}
	}
	XSync(l->o.dpy, False);
	pthread_mutex_lock(&l->lock);
	l->news.requests = l->o.requests;
	l->news.after = l->o.requests - l->at_text;
	if (l->news.state == LOAN_BUSY && !l->has_next && !l->ended)
		l->news.state = LOAN_READY;
	pthread_mutex_unlock(&l->lock);
}

static bool is_to_answer(struct clipboard_loan *l)
{
	bool answer;
	eventfd_t n;

	eventfd_read(l->wake, &n);
	pthread_mutex_lock(&l->lock);
	answer = l->answer;
	l->answer = false;
	pthread_mutex_unlock(&l->lock);
	return answer;
}

static void *run(void *arg)
{
	struct clipboard_loan *l = arg;
	XEvent e;

	begin(l);
	while (clipboard_owner_has_any(&l->o) &&
	       clipboard_owner_next(&l->o, &e, l->wake)) {
		on_event(l, &e);
		if (is_to_answer(l))
			answer_all(l);
	}
	set_state(l, LOAN_LOST);
	clipboard_owner_done(&l->o);
	unref(l);
	return NULL;
}

int clipboard_loan_new(const char *display, bool primary,
		       struct clipboard_loan **ret, struct sb_err *err)
{
	struct clipboard_loan *l = xcalloc(1, sizeof(*l));
	pthread_t thread;

	pthread_mutex_init(&l->lock, NULL);
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->refs = 1;
	if (l->wake < 0 || clipboard_owner_init(&l->o, display, err) < 0) {
		if (l->wake < 0)
			sb_fail(err, SB_BUSY, "no eventfd: %m");
		unref(l);
		return -1;
	}
	l->n = primary ? SELECTIONS : SELECTION_PRIMARY;
	l->o.on_text = on_text;
	l->o.arg = l;
	l->refs = 2;
	if (pthread_create(&thread, NULL, run, l) == 0) {
		pthread_detach(thread);
		*ret = l;
		return 0;
	}
	clipboard_owner_done(&l->o);
	l->refs = 1;
	unref(l);
	return sb_fail(err, SB_BUSY, "there are too many threads");
}

/* With the lock; releases it.  Nothing becomes of it once it is lost. */
static void tell(struct clipboard_loan *l)
{
	if (l->news.state != LOAN_LOST)
		l->news.state = LOAN_BUSY;
	pthread_mutex_unlock(&l->lock);
	eventfd_write(l->wake, 1);
}

void clipboard_loan_return(struct clipboard_loan *l)
{
	pthread_mutex_lock(&l->lock);
	l->ended = true;
	tell(l);
}

void clipboard_loan_answer(struct clipboard_loan *l)
{
	pthread_mutex_lock(&l->lock);
	l->answer = true;
	tell(l);
}

void clipboard_loan_free(struct clipboard_loan *l)
{
	if (!l)
		return;
	clipboard_loan_return(l);
	unref(l);
}

void clipboard_loan_offer(struct clipboard_loan *l, const char *text,
			  size_t len, Window to)
{
	pthread_mutex_lock(&l->lock);
	l->next.len = 0;
	buf_add(&l->next, text, len);
	l->has_next = true;
	l->to = to;
	l->reading = 0;
	l->news = (struct loan_news){ .state = l->news.state };
	tell(l);
}

void clipboard_loan_look(struct clipboard_loan *l, struct loan_news *ret)
{
	pthread_mutex_lock(&l->lock);
	*ret = l->news;
	pthread_mutex_unlock(&l->lock);
}
