/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Links that open a page of a sandbox once, with no token in them. */

#include "host/ctl-guestd.h"
#include "host/ctl.h"

/*
 * A link to guestd's forwarded port: http://HOST:PORT and page, whose end is
 * the ticket's: "/lab?ticket=".  The ticket is good for path alone.
 */
int link_make(const struct guestd_at *at, struct hclient *guestd,
	      const char *path, const char *page, char **ret,
	      struct sb_err *err);

/* The same by way of sandboxd's own port; SB_MISSING if it has none. */
int link_make_daemon(struct ctl *c, const json_t *sandbox, const char *path,
		     const char *page, char **ret, struct sb_err *err);

/* The link on stdout, or {"url": …}. */
void link_print(const struct ctl *c, const char *url);
