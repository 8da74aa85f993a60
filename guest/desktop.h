/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The desktop: an X server that is an RFB (VNC) server, too, and a session on
 * it, both started again when they end.  Or an X server that is there already.
 * All of it belongs to the loop's thread.
 *
 * In RUN_DIR/desktop, which is the sandbox's user's: rfb (the socket of the
 * server), Xauthority and the settings of the session.
 */

#include <stdbool.h>

#include "common/loop.h"
#include "guest/screen.h"
#include "guest/spawn.h"

struct child_log;
struct desktop;

enum desktop_state {
	DESKTOP_OFF,
	DESKTOP_STARTING,
	DESKTOP_UP,
	DESKTOP_FAILED, /* is tried again, but seldom */
};

struct desktop_config {
	struct loop *loop;
	const char *run_dir;
	const char *share; /* the folder of the session's files */
	const struct child_log *log;
	const char *of;	       /* a display that is there; NULL: have our own */
	struct screen *screen; /* to be told of the display */
	/* As whom to run, and in which folder. */
	int (*make_as)(void *arg, struct spawn_as **ret, struct sb_err *err);
	const char *(*workspace)(void *arg);
	void *arg;
};

#define DESKTOP_MIN_WIDTH 320
#define DESKTOP_MIN_HEIGHT 200
#define DESKTOP_MAX_WIDTH 7680
#define DESKTOP_MAX_HEIGHT 4320

/* "1280x800" within these limits; "none" is 0 and 0. */
int desktop_parse_size(const char *s, int *width, int *height,
		       struct sb_err *err);

struct desktop *desktop_new(const struct desktop_config *cfg);
/* Leaves the X server and its programs alone, as a new guestd takes over. */
void desktop_free(struct desktop *d);

/*
 * Have a desktop of that size, after a while of delay_ms, or (0 and 0) none.
 * One that an earlier guestd of this boot had is taken over.
 */
void desktop_begin(struct desktop *d, int width, int height, int delay_ms);

/* It has been given that size, and is to have it after a restart, too: until
 * desktop_begin() wants another one than it did. */
void desktop_resized(struct desktop *d, int width, int height);

enum desktop_state desktop_state(const struct desktop *d);
const char *desktop_state_name(const struct desktop *d);
/* Why it is not up, for people; NULL if it is. */
const char *desktop_reason(const struct desktop *d);
/* 0 if it is up; else SB_BUSY or, if there is none to come, SB_MISSING. */
int desktop_check(const struct desktop *d, struct sb_err *err);

/* ":1"; known while it starts, NULL when it is off. */
const char *desktop_display(const struct desktop *d);
/* The UNIX socket that speaks RFB; NULL if there is none. */
const char *desktop_rfb(const struct desktop *d);
/* DISPLAY and XAUTHORITY, if there is one. */
void desktop_put_env(const struct desktop *d, struct spawn_as *as);
