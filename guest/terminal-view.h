/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Looking at a terminal through a WebSocket.  Binary messages are bytes, out
 * and in; text messages are JSON objects with a "type":
 *   to the client    hello, resize, exit, error
 *   from the client  resize, ack, signal, close
 * docs/guestd.pod has their fields.
 */

#include "common/httpd.h"
#include "guest/terminal.h"

/* Once a client has acknowledged something, it is sent no more than this
 * beyond what it acknowledged last. */
#define TERMINAL_WINDOW (256 * 1024)

struct terminal_view {
	bool writable;
	bool from_offset;
	uint64_t offset; /* where to begin; else with what is remembered */
};

/* SB_INVALID when the offset is not there yet. */
int terminal_view_check(const struct terminal *t, const struct terminal_view *v,
			struct sb_err *err);
void terminal_view(struct http_req *req /* takes */, struct terminal *t,
		   const struct terminal_view *v);
