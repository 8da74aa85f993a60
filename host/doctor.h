/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the daemon can tell of this host's fitness, and what to do about it. */

#include <jansson.h>

#include "host/daemon.h"

/*
 * [{"name", "status": "ok|warn|fail", "detail", "remedy"?}…].  Blocking, any
 * thread.
 */
json_t *doctor_examine(struct daemon *d);
