/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The way from the loop to the X server: one thread with a connection, and a
 * queue of jobs for it (screen-module.h).  There may be several of these, such
 * as one for looking and one for input that takes its time.
 *
 * All functions belong to the loop's thread.
 */

#include <stdbool.h>
#include <sys/queue.h>

#include "common/loop.h"
#include "guest/screen-module.h"

#define SCREEN_MAX_QUEUE 256

struct screen;

struct screen_config {
	struct loop *loop;
	const char *module; /* path of guestd-screen.so */
	int limit_ms;	    /* a job that takes longer loses its connection */
};

struct screen *screen_new(const struct screen_config *cfg);
/* Ends the job under way, and those that wait with SB_CANCELLED. */
void screen_free(struct screen *s);

/* Which server to use from now on, and what it wants to see (may be NULL).  An
 * empty one: none. */
void screen_set_display(struct screen *s, const char *display,
			const unsigned char *cookie);

/* The jobs that there are; loads the module.  SB_MISSING if that fails. */
int screen_module(struct screen *s, const struct screen_module **ret,
		  struct sb_err *err);

/* A job that is asked for: the caller's, who keeps it until it is done. */
struct screen_call {
	screen_job job;
	/* On the loop's thread, once, later; err is NULL if it went well. */
	void (*done)(struct screen_call *c, const struct sb_err *err);
	void *arg; /* of the job */

	TAILQ_ENTRY(screen_call) next; /* these are screen.c's */
	struct sb_err err;
	bool failed;
	bool waits; /* has not begun */
};

/* SB_BUSY if too many wait, or there is no display; done is not called then. */
int screen_ask(struct screen *s, struct screen_call *c, struct sb_err *err);
/* Whether it has not begun, so that its answer is as good for who asks now. */
bool screen_waits(struct screen *s, const struct screen_call *c);
