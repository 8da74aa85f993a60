/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A WebSocket to the RFB (VNC) server of the desktop: bytes, both ways. */

#include "common/httpd.h"
#include "common/loop.h"

#define VNC_MAX_CLIENTS 64

/* path: the server's socket.  view_only: nothing is typed, pointed at or pasted,
 * whatever the client says. */
void vnc_bridge(struct http_req *req /* takes */, struct loop *l,
		const char *path, bool view_only);
