/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Blocking work on a thread of its own, with its end told on the loop, and a
 * cancel flag that every wait of that work can poll.  (Not libuv's pool: a
 * boot lasts seconds, and four of them would fill it.)
 */

#include <stdbool.h>

#include "common/err.h"
#include "common/loop.h"

struct cancel;
struct cancel *cancel_new(void);
void cancel_free(struct cancel *c);
/* Any thread; for good. */
void cancel_set(struct cancel *c);
bool cancel_is_set(const struct cancel *c);
/* Readable once set; for poll(). */
int cancel_fd(const struct cancel *c);
/* Wait ms milliseconds; -1 and SB_CANCELLED if cancelled before. */
int cancel_wait(const struct cancel *c, int ms, struct sb_err *err);

/* Run work(arg) on a new thread, then done(arg) on the loop's. */
void task_start(struct loop *l, void (*work)(void *arg),
		void (*done)(void *arg), void *arg);

/*
 * From such a thread: run fn(arg) on the loop's thread and wait for it.  So
 * the loop stays the only owner of what fn touches.
 */
void task_call(struct loop *l, void (*fn)(void *arg), void *arg);
