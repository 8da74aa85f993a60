/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * sandboxd's door for programs and browsers: a TCP port of loopback, if the
 * configuration wants one.  Who comes that way shows the daemon's token, which
 * only its user can read, or a one-time ticket (common/ticket.h).  The UNIX
 * socket needs neither.
 */

#include "common/err.h"
#include "common/httpd.h"

struct daemon;
struct door;
struct ticket_box;

/* Listen, and say where: d->door.  Port 0 picks a free one.  The token is in
 * paths_token(), and made if it is not there. */
int door_open(struct daemon *d, int port, struct sb_err *err);
void door_free(struct door *door);

/* "http://127.0.0.1:8700" */
const char *door_url(const struct door *door);

/* The tickets that are good; SB_MISSING without a door to show them at. */
int door_tickets(struct daemon *d, struct ticket_box **ret, struct sb_err *err);

/* For struct httpd_config; ctx is the daemon. */
int door_authorize(void *ctx, struct http_req *req, struct sb_err *err);
