/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The event loop of a daemon: one libuv loop, owned by one thread.  Other
 * threads reach it only through loop_post().
 */

#include <uv.h>

#include "common/err.h"

struct loop;

struct loop *loop_new(void);
/*
 * Waits for the work that is under way; posts that have not run are dropped.
 * Timers and servers on the loop are freed before it.
 */
void loop_free(struct loop *l);
uv_loop_t *loop_uv(struct loop *l);

/* Run until loop_stop(), which SIGTERM and SIGINT call, too. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* Run fn(arg) on the loop's thread, in the order of the calls.  Any thread. */
void loop_post(struct loop *l, void (*fn)(void *arg), void *arg);

/*
 * Run work(arg) on a thread of the pool, then done(arg) on the loop's thread
 * (done may be NULL).  Loop thread only.
 */
void loop_work(struct loop *l, void (*work)(void *arg), void (*done)(void *arg),
	       void *arg);

/* A one-shot timer on the loop's thread. */
struct loop_timer;
struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *arg),
				  void *arg);
void loop_timer_set(struct loop_timer *t, int64_t ms); /* (re)start */
void loop_timer_clear(struct loop_timer *t);
void loop_timer_free(struct loop_timer *t);
