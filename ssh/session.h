/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the files of ssh/ share and nobody else sees: the session, and running
 * a command whose input and output are functions.
 */

#include <libssh/libssh.h>
#include <stdint.h>

#include "ssh/ssh.h"

struct ssh {
	ssh_session session; /* never blocks: all waiting is done here */
	ssh_event event;     /* moves bytes between socket and session */
	struct ssh_counter_struct counter; /* of the socket */
	int cancel_fd;			   /* borrowed; -1: none */
};

/*
 * Wait until the session's socket has something to do.  -1 with SB_TIMEOUT at
 * the monotonic deadline (-1: none), SB_CANCELLED when cancel_fd is readable.
 */
int session_wait(struct ssh *s, int64_t deadline, struct sb_err *err);

/* SB_GUEST with libssh's reason. */
int session_fail(struct ssh *s, const char *what, struct sb_err *err);
/* What pull returns when it has nothing yet; it is asked again after the next
 * push. */
#define RUN_LATER (-2)

/*
 * A command whose stdin comes from pull (bytes, 0 at the end, -1 on failure)
 * and whose output goes to push (0, or -1 to give up).
 */
struct ssh_run {
	const char *command;
	ssize_t (*pull)(void *arg, char *data, size_t max, struct sb_err *err);
	int (*push)(void *arg, int stream, const char *data, size_t len,
		    struct sb_err *err);
	void *arg;
	int idle_ms; /* how long no byte may move */
};
int ssh_run(struct ssh *s, const struct ssh_run *r, int *ret_status,
	    struct sb_err *err);
