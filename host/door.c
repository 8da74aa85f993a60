/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask sandboxd over TCP. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/httpd-ticket.h"
#include "common/log.h"
#include "common/token.h"
#include "common/util.h"
#include "host/daemon.h"
#include "host/door.h"
#include "host/paths.h"

#define ADDRESS "127.0.0.1"
#define MIN_TOKEN 32 /* bytes */

struct door {
	char *url, *file, *token;
	struct ticket_box *tickets;
};

static int make_token(const char *file, struct sb_err *err)
{
	char line[TOKEN_LEN + 2];

	random_hex(line, TOKEN_BYTES);
	line[TOKEN_LEN] = '\n';
	return fs_write_atomic(file, line, TOKEN_LEN + 1, 0600, err);
}

/* The same after a restart, as others have it. */
static int load_token(struct door *door, struct sb_err *err)
{
	struct sb_err e;

	if (fs_read_line(door->file, &door->token, &e) < 0) {
		if (e.code != SB_NOTFOUND) {
			*err = e;
			return -1;
		}
		if (make_token(door->file, err) < 0 ||
		    fs_read_line(door->file, &door->token, err) < 0)
			return -1;
	}
	if (strlen(door->token) >= MIN_TOKEN)
		return 0;
	sb_fail(err, SB_INVALID, "the token in '%s' has fewer than %d bytes",
		door->file, MIN_TOKEN);
	return sb_hint(err, "remove the file, and the next start makes one");
}

int door_open(struct daemon *d, int port, struct sb_err *err)
{
	struct door *door = xcalloc(1, sizeof(*door));

	door->file = paths_token();
	door->tickets = ticket_box_new();
	if (load_token(door, err) < 0) {
		door_free(door);
		return -1;
	}
	if (httpd_listen_tcp(d->httpd, ADDRESS, port, &port, err) < 0) {
		door_free(door);
		return sb_hint(err, "choose another 'tcp_port' in "
				    "sandboxd.yaml, or none");
	}
	door->url = xasprintf("http://" ADDRESS ":%d", port);
	d->door = door;
	return 0;
}

void door_free(struct door *door)
{
	if (!door)
		return;
	ticket_box_free(door->tickets);
	if (door->token)
		explicit_bzero(door->token, strlen(door->token));
	free(door->token);
	free(door->file);
	free(door->url);
	free(door);
}

const char *door_url(const struct door *door)
{
	return door->url;
}

int door_tickets(struct daemon *d, struct ticket_box **ret, struct sb_err *err)
{
	if (d->door) {
		*ret = d->door->tickets;
		return 0;
	}
	sb_fail(err, SB_MISSING, "sandboxd does not listen on TCP");
	return sb_hint(err, "set 'tcp_port: 8700' in sandboxd.yaml, then: "
			    "sandboxctl daemon stop");
}

/* The first that is there counts, so that no wrong one is overlooked. */
static int check(const struct door *door, const struct http_req *req,
		 struct sb_err *err)
{
	const char *token = http_token(req);
	const char *ticket = http_query(req, "ticket");

	if (!token && ticket)
		return http_ticket_check(req, door->tickets, ticket, err);
	if (token && token_equal(token, door->token))
		return 0;
	sb_fail(err, SB_AUTH, "the token is %s", token ? "wrong" : "missing");
	return sb_hint(err,
		       "send 'Authorization: Bearer TOKEN'; sandboxctl daemon "
		       "status tells where it is kept");
}

int door_authorize(void *ctx, struct http_req *req, struct sb_err *err)
{
	const struct daemon *d = ctx;
	int r = check(d->door, req, err);

	http_drop_query(req, "ticket");
	return r;
}
