/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The stream of state changes, for everybody who listens. */

#include "host/daemon.h"

/*
 * Answer with a stream of Server-Sent Events about all sandboxes, or the one
 * with the given id: first where each stands now, then every change.
 */
void events_subscribe(struct daemon *d, struct http_req *req /* takes */,
		      const char *id);

/* Tell how sb stands now. */
void events_emit(struct daemon *d, const struct sandbox *sb);
