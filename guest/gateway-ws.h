/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A client of a kernel on a WebSocket, in any of the three framings.  It reads
 * the kernel's journal at its own pace: one that is slow neither stalls the
 * kernel nor costs memory.
 */

#include "common/httpd.h"
#include "guest/kernel.h"

void gateway_ws_accept(struct http_req *req /* takes */, struct kernel *k);
