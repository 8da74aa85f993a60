/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The user's terminal on one in the guest.  The guest's bytes go to it raw, as
 * with ssh -t.
 */

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "host/ctl-guestd.h"

#define TERMINAL_ESCAPE '\x1d' /* Ctrl-] */

struct terminal_use {
	const char *id;
	bool view;	 /* look only */
	bool from_start; /* show all output that is kept */
	bool escape;	 /* Ctrl-] detaches */
	bool owned;	 /* it ends when we are told to */
	bool input;	 /* our stdin goes to it */
};

/* Start one, as the body says; *ret_id is the caller's. */
int terminal_new(const struct guestd_at *at, json_t *body, char **ret_id,
		 struct sb_err *err);

/*
 * Until it ends, the user detaches or a signal comes: *ret_status is the exit
 * status, or -1 when it goes on without us.
 */
int terminal_use(const struct guestd_at *at, const struct terminal_use *u,
		 int *ret_status, struct sb_err *err);
