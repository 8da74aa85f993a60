/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Tickets: what a page puts into a URL where it cannot send a header, in a link
 * or for a WebSocket.  A ticket is good once, for a short while, and for one path
 * if it was made for one.  One that is reusable is good until it expires: a player
 * asks for the parts of a film in many requests of the same URL.  Times are
 * monotonic.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/token.h"

#define TICKET_MAX 256 /* outstanding at a time */
#define TICKET_MAX_PATH 1024

struct ticket_box;
struct ticket_box *ticket_box_new(void);
void ticket_box_free(struct ticket_box *box);

struct ticket_terms {
	const char *path; /* NULL: any, and then not reusable */
	int64_t ttl_ms;
	bool reusable;
};

/* SB_BUSY when there are too many. */
int ticket_issue(struct ticket_box *box, const struct ticket_terms *terms,
		 int64_t now_ms, char ret[TOKEN_LEN + 1], struct sb_err *err);

/* Use it, up if it is good but once; SB_AUTH when it is not good for this path, or at all. */
int ticket_redeem(struct ticket_box *box, const char *ticket, const char *path,
		  int64_t now_ms, struct sb_err *err);

/* From now on none is good that was made before. */
void ticket_revoke_all(struct ticket_box *box);
