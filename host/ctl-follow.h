/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Waiting for a sandbox that is on its way up. */

#include <jansson.h>

#include "common/err.h"
#include "host/ctl-progress.h"
#include "host/ctl.h"

/*
 * Follow the events of the sandbox id until it is ready, and show them.  A
 * daemon that dies meanwhile is started again and asked on.  *ret is the
 * sandbox, also when it has failed (-1); else it is untouched.
 * SB_CANCELLED if cancel_fd becomes readable.
 */
int follow_ready(struct ctl *c, const char *id, int cancel_fd,
		 struct progress *p, json_t **ret, struct sb_err *err);
