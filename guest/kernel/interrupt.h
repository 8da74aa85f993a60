/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Interrupts: SIGINT and interrupt_request.  Three states of the main thread:
 * idle, when they do nothing; taken, when there is a request and they are kept
 * until code of the user's begins; armed, when such code runs and they raise
 * KeyboardInterrupt in it and reach the children.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

enum interrupt_cause {
	INTERRUPT_NONE,
	INTERRUPT_REQUEST,
	INTERRUPT_DEADLINE,
	INTERRUPT_SHUTDOWN
};

struct interrupt {
	pthread_mutex_t lock;
	pthread_t main;
	void (*raise)(void); /* PyErr_SetInterrupt */
	atomic_bool taken, armed;
	atomic_bool wanted;  /* the main thread is to raise */
	atomic_int signals;  /* SIGINTs that the handler saw */
	atomic_int wake_fd;  /* tells the I/O thread of them */
	bool spare_children; /* the main thread sees to them */
	/* Under the lock. */
	unsigned int count; /* interrupts of this request */
	enum interrupt_cause cause;
	int64_t deadline;   /* of the request; 0: none */
	unsigned int steps; /* that were taken when it passed */
	/* The I/O thread's own: the wake-ups of a blocked main thread. */
	int64_t again;
	unsigned int tries;
	int64_t children_at; /* when to tell the children; 0: not */
};

/* In the main thread: take SIGINT over. */
int interrupt_init(struct interrupt *irq, void (*raise)(void), int wake_fd,
		   struct sb_err *err);

/*
 * The main thread: a request was taken; user's code begins (true: it is
 * interrupted already); it has ended, armed as it was before; the request has
 * ended.
 */
void interrupt_take(struct interrupt *irq);
bool interrupt_arm(struct interrupt *irq, bool *ret_before);
void interrupt_disarm(struct interrupt *irq, bool before);
void interrupt_keep(struct interrupt *irq); /* raise when armed again */
void interrupt_end(struct interrupt *irq);
void interrupt_deadline(struct interrupt *irq, int64_t when);
enum interrupt_cause interrupt_why(struct interrupt *irq);
unsigned int interrupt_count(struct interrupt *irq);

/* The I/O thread: interrupt what runs; the second time, kill the children,
 * unless they are spared. */
void interrupt_now(struct interrupt *irq, enum interrupt_cause cause);

/*
 * The I/O thread, each time around: repeat what did not get through.  Returns
 * the milliseconds until it is to be called again, or -1; *ret_over: the
 * deadline has passed for good.
 */
int interrupt_tick(struct interrupt *irq, int64_t now, bool *ret_over);

/* Send sig to all descendants of our session, or of our group only. */
void interrupt_children(int sig, bool group_only);
