/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Waiting for a sandbox that is on its way up. */

#include <jansson.h>

#include "common/err.h"
#include "host/ctl-progress.h"
#include "host/ctl.h"

/*
 * Follow the events of a sandbox until it is ready, and show them.  A daemon
 * that dies meanwhile is started again and asked on.  *ret is the sandbox as
 * it is then; if it has failed (-1), the event that told so with the last
 * lines of its console; else it is untouched.  SB_CANCELLED if cancel_fd
 * becomes readable.
 */
int follow_ready(struct ctl *c, const json_t *sandbox, int cancel_fd,
		 struct progress *p, json_t **ret, struct sb_err *err);
