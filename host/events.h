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

/*
 * Answer with the last event of a sandbox that has failed and is gone: what
 * fails at once is buried before its maker can listen.  False if it is not
 * known (any more).
 */
bool events_replay(struct daemon *d, struct http_req *req /* takes */,
		   const char *id);

void events_done(struct daemon *d);
