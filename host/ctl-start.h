/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Starting sandboxd in the background, and saying why it did not start. */

#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"

struct start {
	pid_t pid;	/* 0: it has ended */
	char *log;	/* its log file */
	off_t log_from; /* where this start's lines begin */
};

/* Start it in its own session, with its output going to its log. */
int start_daemon(struct start *ret, struct sb_err *err);

/*
 * Whether it ended with a failure; err then says why.  An exit with status 0
 * is no failure: another daemon was faster.
 */
bool start_failed(struct start *s, struct sb_err *err);

/* Add the last lines of its log to err and return -1. */
int start_explain(const struct start *s, struct sb_err *err);

void start_done(struct start *s);
