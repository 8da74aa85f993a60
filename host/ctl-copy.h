/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cp, however commands run in the guest. */

#include <jansson.h>
#include <stdbool.h>

#include "common/copy.h"
#include "host/ctl.h"

/* Copy and say so: into the guest (put), or out of it. */
int copy_run(struct ctl *c, const struct copy_way *way, bool put,
	     const char *from, const char *to, struct sb_err *err);

/*
 * The same through guestd.  *ret_again tells that it could not be asked and
 * nothing was done.
 */
int copy_through_guestd(struct ctl *c, const json_t *sandbox, bool put,
			const char *from, const char *to, bool *ret_again,
			struct sb_err *err);
