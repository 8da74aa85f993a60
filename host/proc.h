/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Running another program to its end: an argument vector, never a shell. */

#include "common/err.h"
#include "host/task.h"

struct proc {
	const char *const *argv;     /* argv[0] is looked up in PATH */
	const struct cancel *cancel; /* may be NULL */
	int timeout_ms;		     /* -1: none */
	const char *log;	     /* append its output there; NULL: drop */
	/* Each line that it writes to its fd 3; may be NULL. */
	void (*on_line)(void *arg, const char *line);
	void *arg;
};

/*
 * Run it in a process group of its own.  Fails when it cannot be started
 * (SB_MISSING), exits with another status than 0 (the message ends with its
 * last line on stderr), is cancelled or takes too long; the whole group is
 * then ended: SIGTERM, and SIGKILL five seconds later.
 */
int proc_run(const struct proc *p, struct sb_err *err);
