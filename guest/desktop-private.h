/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What desktop.c and desktop-process.c share. */

#include "guest/desktop.h"
#include "guest/fdwatch.h"

struct desktop_child {
	pid_t pid; /* 0: there is none */
	uint64_t birth;
	int64_t started_ms;
	bool ours; /* a child, rather than one of an earlier guestd */
	struct fdwatch *watch;
};

struct desktop {
	struct desktop_config cfg;
	enum desktop_state state;
	char *reason;
	char *dir, *rfb, *auth, *share;
	int width, height;	 /* that it is to begin with; 0: have none */
	struct screen_size told; /* these, as the server was told of them */
	struct screen_size set;	 /* by who uses it, since then; 0: nobody */
	struct screen_call resize;
	bool resizing;
	int number; /* of the display; 0: to be found */
	char display[256];
	unsigned char cookie[X11_COOKIE_LEN];
	struct desktop_child server, session;
	bool serving;		  /* the server can be used */
	bool outlived;		  /* the session's server has ended */
	struct fdwatch *ready;	  /* can be read when it can */
	struct fdwatch *settled;  /* the same of the session */
	int fails, session_fails; /* in a row */
	struct loop_timer *timer, *session_timer;
};

/* Start the X server; *ret_fd can be read when it is ready.  SB_MISSING if it
 * is not installed. */
int desktop_spawn_server(struct desktop *d, int *ret_fd, struct sb_err *err);
/* *ret_fd can be read when there is a window manager, or will be none. */
int desktop_spawn_session(struct desktop *d, int *ret_fd, struct sb_err *err);

/* Know that the server has, or is to have, the size that is wanted; false if
 * it was told already. */
bool desktop_tell(struct desktop *d);

/* What the next guestd of this boot needs to know, and to learn it. */
void desktop_save(const struct desktop *d);
int desktop_load(struct desktop *d);
