/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The line from sandboxctl to a sandbox's guestd. */

#include <jansson.h>

#include "common/err.h"
#include "common/hclient.h"

/* Where it listens on the host, and the sandbox's token. */
struct guestd_at {
	char *host;
	int port;
	char *token;
};
int guestd_find(const json_t *sandbox, struct guestd_at *ret,
		struct sb_err *err);
void guestd_at_done(struct guestd_at *at);
#define autoguestd __attribute__((cleanup(guestd_at_done)))

/* Connect; timeout_ms and cancel_fd (-1: none) are for all that follows. */
int guestd_open(const struct guestd_at *at, int timeout_ms, int cancel_fd,
		struct hclient **ret, struct sb_err *err);

/*
 * The same, and see that it answers.  QEMU accepts connections to a port on
 * which nobody listens in the guest, so a connection alone says nothing, and
 * once a request was sent nobody knows whether it was carried out.
 */
#define GUESTD_ANSWER_MS 5000
int guestd_reach(const struct guestd_at *at, int cancel_fd,
		 struct hclient **ret, struct sb_err *err);

DEFINE_AUTO(struct hclient *, hclient_free, hclient_auto_free)
#define autohclient __attribute__((cleanup(hclient_auto_free)))
