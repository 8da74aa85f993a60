/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A command in a guest, through guestd: POST /v1/shell/stream.  The caller's
 * thread takes the output; another one sends input and signals, so that
 * neither holds the other up.  When the connection is lost, the output goes on
 * from the byte where it was.
 */

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"
#include "host/ctl-guestd.h"

struct guest_run {
	json_t *body; /* what to run; borrowed */
	/* stdin: in_fd, or pull (bytes, 0 at the end, -1 on failure; called on
	 * the other thread); the body must say "open_stdin" then. */
	int in_fd; /* -1: none */
	ssize_t (*pull)(void *arg, char *data, size_t max, struct sb_err *err);
	/* Gets the output; stream is STDOUT_FILENO or STDERR_FILENO. */
	int (*push)(void *arg, int stream, const char *data, size_t len,
		    struct sb_err *err);
	void *arg;
	/*
	 * A signalfd; -1: none.  A signal ends the wait for the start.  Once
	 * the command runs, its group gets it (forward), or else SIGHUP, and
	 * we return SB_CANCELLED.
	 */
	int signal_fd;
	bool forward;
};

/*
 * *ret_started tells, also on failure, whether the command may have been
 * started.  *ret_status is its exit status, 128 + n for signal n.
 */
int guest_run(const struct guestd_at *at, const struct guest_run *r,
	      bool *ret_started, int *ret_status, struct sb_err *err);

/* The other thread: input and signals. */
struct feeder;
/* lost_fd is an eventfd that it writes to when it gives up. */
struct feeder *feeder_start(const struct guestd_at *at,
			    const struct guest_run *r, const char *id,
			    int lost_fd);
/* Ends it; -1 with err if it had failed. */
int feeder_end(struct feeder *f, struct sb_err *err);

/* Send a signal to a process's group on a connection of its own. */
int guest_signal(const struct guestd_at *at, const char *id, int signum,
		 int cancel_fd, struct sb_err *err);
