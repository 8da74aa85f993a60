/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of input, one after the other and bit by bit. */
#include "config.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "guest/desktop.h"
#include "guest/input-run.h"
#include "guest/screen.h"

#define MAX_RUNS 64

struct input_run {
	struct screen_call call;
	struct screen_input input;
	struct input_plan plan;
	struct screen *screen;
	const struct screen_module *module;
	struct loop_timer *timer;
	input_done done;
	void *arg;
	bool busy, cancelled, failed;
	struct sb_err err; /* if failed */
	TAILQ_ENTRY(input_run) next;
};

/* The first one is under way. */
static TAILQ_HEAD(, input_run) runs = TAILQ_HEAD_INITIALIZER(runs);
static int nruns;
static bool ending;

static void go_on(void *arg);

static void end(struct input_run *r)
{
	struct input_run *first = TAILQ_FIRST(&runs);
	bool was_first = r == first;

	TAILQ_REMOVE(&runs, r, next);
	nruns--;
	r->module->input_end(&r->input);
	r->done(r->arg, &r->input, r->failed ? &r->err : NULL);
	input_plan_done(&r->plan);
	loop_timer_free(r->timer);
	free(r);
	first = TAILQ_FIRST(&runs);
	if (first && was_first && !ending)
		loop_timer_set(first->timer, 0);
}

/* Once more, to release what is pressed; if that fails, there is no server
 * any more that would know of it. */
static void fail(struct input_run *r, const struct sb_err *err)
{
	bool again = !r->failed && r->input.checked && !ending;

	if (!r->failed)
		r->err = *err;
	r->failed = true;
	r->input.lift = true;
	if (again)
		go_on(r);
	else
		end(r);
}

static void give_up(struct input_run *r)
{
	struct sb_err err;

	sb_fail(&err, SB_CANCELLED, ending ? "guestd ends" : "the client left");
	fail(r, &err);
}

static void on_done(struct screen_call *c, const struct sb_err *err)
{
	struct input_run *r = (struct input_run *)c;

	r->busy = false;
	if (err)
		fail(r, err);
	else if (r->failed || r->input.done)
		end(r);
	else if (r->cancelled || ending)
		give_up(r);
	else if (r->input.wait_ms)
		loop_timer_set(r->timer, r->input.wait_ms);
	else
		go_on(r);
}

static void go_on(void *arg)
{
	struct input_run *r = arg;
	struct sb_err err;

	if (r->cancelled && !r->failed) {
		give_up(r);
		return;
	}
	r->call.job = r->module->input;
	r->call.done = on_done;
	r->call.arg = &r->input;
	r->busy = true;
	if (screen_ask(r->screen, &r->call, &err) == 0)
		return;
	r->busy = false;
	r->input.checked = false; /* asking again is no use */
	fail(r, &err);
}

int input_run_start(struct guestd *g, struct input_plan *plan /* takes */,
		    input_done done, void *arg, struct input_run **ret,
		    struct sb_err *err)
{
	const struct screen_module *m;
	struct input_run *r;

	if (desktop_check(g->desktop, err) < 0 ||
	    screen_module(g->screen, &m, err) < 0)
		return -1;
	if (nruns == MAX_RUNS) {
		sb_fail(err, SB_BUSY, "%d requests wait for the keyboard",
			nruns);
		return sb_hint(err, "ask again when they are done");
	}
	r = xcalloc(1, sizeof(*r));
	r->plan = *plan;
	*plan = (struct input_plan){ 0 };
	r->input.plan = &r->plan;
	r->screen = g->screen;
	r->module = m;
	r->timer = loop_timer_new(g->loop, go_on, r);
	r->done = done;
	r->arg = arg;
	TAILQ_INSERT_TAIL(&runs, r, next);
	if (nruns++ == 0)
		loop_timer_set(r->timer, 0);
	*ret = r;
	return 0;
}

void input_run_cancel(struct input_run *r)
{
	r->cancelled = true;
	/* One that waits, for its time or its turn, is woken. */
	if (!r->busy)
		loop_timer_set(r->timer, 0);
}

void input_run_end_all(void)
{
	struct input_run *r, *next;

	ending = true;
	for (r = TAILQ_FIRST(&runs); r; r = next) {
		next = TAILQ_NEXT(r, next);
		if (!r->busy)
			give_up(r);
	}
}
