/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The commands for a sandbox's desktop: their line to its guestd. */

#include <jansson.h>

#include "host/ctl-guestd.h"
#include "host/ctl.h"

struct desk {
	json_t *sandbox;
	struct guestd_at at;
	struct hclient *guestd;
};

/* Find the sandbox and reach its guestd; cancel_fd as in ctl-guestd.h. */
int desk_open(struct ctl *c, const char *name, int cancel_fd, struct desk *ret,
	      struct sb_err *err);
/*
 * Wait while the desktop is being started, as it is for some seconds after the
 * sandbox: if it does not come up, the next request says why.
 */
void desk_await(const struct desk *d, int cancel_fd);
/* Both, for commands that need it. */
int desk_open_up(struct ctl *c, const char *name, struct desk *ret,
		 struct sb_err *err);
void desk_done(struct desk *d);
#define autodesk __attribute__((cleanup(desk_done)))
