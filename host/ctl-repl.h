/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Python's prompt, in a kernel of a sandbox. */

#include "host/ctl-kernel.h"
#include "host/ctl-py.h"

/* Until the user leaves.  The exit status, or -1. */
int repl_run(struct kline *l, const char *name, const struct py_opts *o,
	     struct sb_err *err);
