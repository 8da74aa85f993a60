/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Requests that another server answers: the handler of a route with
 * HTTP_STREAM_BODY passes one on, whatever its method, and the answer comes
 * back as it is.  Both bodies are streamed, with back-pressure, and nothing is
 * held back: events arrive as they are sent.  A request for a WebSocket is
 * passed on, too; after the 101 bytes go both ways, unread.
 *
 * The credentials that a client has for us stay here: headers and parameters
 * with tokens are removed, and the cookie that is named.  Neither side is
 * trusted: heads are bounded, every wait for the other server has a deadline,
 * and when either leaves the other is told.  What a browser would do for our
 * origin at the word of the other server is another matter: .below.
 */

#include "common/httpd.h"

struct http_proxy {
	const char *name; /* of the other server, in messages */
	const char *hint; /* what to do when it fails; may be NULL */
	const char *path; /* its UNIX socket, or else: */
	bool check_uid;	  /* whether this account must be behind it: */
	uid_t uid;
	const char *addr; /* its IP address, and port */
	int port;
	/* What it is asked for; NULL: http_proxy_target(). */
	const char *target;
	/* The Host that it is to see, and no Origin, for ours is checked.
	 * NULL: both as they are. */
	const char *host;
	const char *authorization; /* that it wants; NULL: none */
	const char *cookie;	   /* not to be passed on; NULL: all are */
	/* Where here it has its paths, "/v1/x", if it may be hostile to clients:
	 * no cookie goes either way, a Location leads to what is below, and
	 * nothing that it answers counts for our origin.  NULL: as it is. */
	const char *below;
	int connect_ms; /* 0: 10 s */
	int reply_ms;	/* for each step to the answer; 0: 60 s */
	/* Once, when all is over; may be NULL. */
	void (*on_end)(void *arg);
	void *arg;
};

/* Strings of cfg need only live for the call. */
void http_proxy(struct http_req *req /* takes */, const struct http_proxy *cfg);

/* As the request came, without what is for us: ?token, ?ticket and /k/TOKEN.
 * The caller's. */
char *http_proxy_target(const struct http_req *req);
