/* SPDX-License-Identifier: Apache-2.0 */
/* One libuv loop, with a queue through which other threads reach it. */
#include "config.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/loop.h"
#include "common/util.h"

struct post {
	STAILQ_ENTRY(post) next;
	void (*fn)(void *arg);
	void *arg;
};
STAILQ_HEAD(post_queue, post);

struct loop {
	uv_loop_t uv;
	uv_async_t wake;
	uv_signal_t term, intr;
	uv_mutex_t lock; /* guards posts */
	struct post_queue posts;
	bool ending;
};

static void take_posts(struct loop *l, struct post_queue *ret)
{
	STAILQ_INIT(ret);
	uv_mutex_lock(&l->lock);
	STAILQ_CONCAT(ret, &l->posts);
	uv_mutex_unlock(&l->lock);
}

static void on_wake(uv_async_t *a)
{
	struct loop *l = a->data;
	struct post_queue q;
	struct post *p;

	take_posts(l, &q);
	while ((p = STAILQ_FIRST(&q))) {
		STAILQ_REMOVE_HEAD(&q, next);
		p->fn(p->arg);
		free(p);
	}
}

static void on_signal(uv_signal_t *s, int signum)
{
	loop_stop(s->data);
}

static void watch_signal(struct loop *l, uv_signal_t *s, int signum)
{
	int r = uv_signal_init(&l->uv, s);

	s->data = l;
	if (r == 0)
		r = uv_signal_start(s, on_signal, signum);
	assert(r == 0);
	(void)r;
}

struct loop *loop_new(void)
{
	struct loop *l = xcalloc(1, sizeof(*l));

	STAILQ_INIT(&l->posts);
	if (uv_loop_init(&l->uv) < 0 || uv_mutex_init(&l->lock) < 0 ||
	    uv_async_init(&l->uv, &l->wake, on_wake) < 0)
		abort();
	l->wake.data = l;
	watch_signal(l, &l->term, SIGTERM);
	watch_signal(l, &l->intr, SIGINT);
	return l;
}

static void close_handle(uv_handle_t *h, void *arg)
{
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

/* Timers that are left belong to work under way, which frees them. */
static void end_handle(uv_handle_t *h, void *arg)
{
	if (h->type == UV_TIMER)
		uv_timer_stop((uv_timer_t *)h);
	else
		close_handle(h, arg);
}

/* This also waits for work that is still under way. */
static void finish(struct loop *l, uv_walk_cb how)
{
	uv_walk(&l->uv, how, NULL);
	while (uv_run(&l->uv, UV_RUN_DEFAULT))
		;
}

void loop_free(struct loop *l)
{
	struct post_queue q;
	struct post *p;

	if (!l)
		return;
	l->ending = true;
	finish(l, end_handle);
	finish(l, close_handle);
	if (uv_loop_close(&l->uv) < 0)
		abort();
	take_posts(l, &q);
	while ((p = STAILQ_FIRST(&q))) {
		STAILQ_REMOVE_HEAD(&q, next);
		free(p);
	}
	uv_mutex_destroy(&l->lock);
	free(l);
}

uv_loop_t *loop_uv(struct loop *l)
{
	return &l->uv;
}

void loop_run(struct loop *l)
{
	uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *l)
{
	uv_stop(&l->uv);
}

void loop_post(struct loop *l, void (*fn)(void *arg), void *arg)
{
	struct post *p = xcalloc(1, sizeof(*p));

	p->fn = fn;
	p->arg = arg;
	uv_mutex_lock(&l->lock);
	STAILQ_INSERT_TAIL(&l->posts, p, next);
	uv_mutex_unlock(&l->lock);
	uv_async_send(&l->wake);
}

struct work {
	uv_work_t req;
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void work_run(uv_work_t *req)
{
	struct work *w = req->data;

	w->work(w->arg);
}

static void work_done(uv_work_t *req, int status)
{
	struct work *w = req->data;

	if (w->done)
		w->done(w->arg);
	free(w);
}

void loop_work(struct loop *l, void (*work)(void *arg), void (*done)(void *arg),
	       void *arg)
{
	struct work *w = xcalloc(1, sizeof(*w));

	w->req.data = w;
	w->work = work;
	w->done = done;
	w->arg = arg;
	if (uv_queue_work(&l->uv, &w->req, work_run, work_done) < 0)
		abort();
}

struct loop_timer {
	uv_timer_t uv;
	struct loop *loop;
	void (*fn)(void *arg);
	void *arg;
};

struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *arg),
				  void *arg)
{
	struct loop_timer *t = xcalloc(1, sizeof(*t));

	t->loop = l;
	t->fn = fn;
	t->arg = arg;
	t->uv.data = t;
	uv_timer_init(&l->uv, &t->uv);
	return t;
}

static void on_timer(uv_timer_t *uv)
{
	struct loop_timer *t = uv->data;

	t->fn(t->arg);
}

void loop_timer_set(struct loop_timer *t, int64_t ms)
{
	if (t->loop->ending)
		return;
	/* libuv counts from its cached time, which may be old by now. */
	uv_update_time(t->uv.loop);
	uv_timer_start(&t->uv, on_timer, MAX(ms, 0), 0);
}

void loop_timer_clear(struct loop_timer *t)
{
	uv_timer_stop(&t->uv);
}

static void timer_closed(uv_handle_t *h)
{
	free(h->data);
}

void loop_timer_free(struct loop_timer *t)
{
	if (t)
		uv_close((uv_handle_t *)&t->uv, timer_closed);
}
