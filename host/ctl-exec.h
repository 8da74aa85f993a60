/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* exec through guestd. */

#include "host/ctl-guest.h"

/*
 * Run argv in the sandbox; its exit status, or -1.  *ret_again tells that
 * guestd could not be asked and nothing was started: SSH may help.
 */
int exec_run(struct ctl *c, const json_t *sandbox, const struct guest_opts *o,
	     char *const *argv, bool *ret_again, struct sb_err *err);

/* The body of a request to run argv: {"argv", "user", "cwd", "env"}.  NULL
 * with err if a part of it is not UTF-8, which only SSH can pass on. */
json_t *exec_body(const json_t *sandbox, const struct guest_opts *o,
		  char *const *argv, struct sb_err *err);

/* Whether err means that guestd cannot be asked now. */
bool exec_unreachable(const struct sb_err *err);
