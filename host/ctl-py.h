/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Python in a sandbox: in a kernel that keeps its state, through guestd, or in
 * a fresh python3 where that was asked for or guestd does not answer.
 */

#include "host/ctl-guest.h"
#include "host/ctl-kernel.h"

#define PY_MAX_CODE (8 * 1024 * 1024)

struct py_opts {
	struct guest_opts guest; /* first: GUEST_OPTS */
	const char *file, *out, *kernel;
	long long timeout; /* seconds, 0: none */
	bool reset, fresh;
};

/* code: NULL for that of --file, of stdin, or a REPL if that is a terminal;
 * "-" for stdin.  Returns the exit status, or -1. */
int py_run(struct ctl *c, const char *name, const json_t *sandbox,
	   const struct py_opts *o, const char *code, struct sb_err *err);

/* The signals that a cell or the REPL waits for: a descriptor, or -1. */
int py_signals(struct sb_err *err);
