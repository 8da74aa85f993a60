/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A small blocking HTTP/1.1 client for our own servers, over a UNIX socket or
 * TCP: sandboxctl to sandboxd, sandboxd to guestd.  It does not trust the
 * server: heads, bodies and lines are bounded and every wait has a deadline.
 * (Loading libcurl alone would take longer than the whole of `sandboxctl ls`.)
 */

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"
#include "common/util.h"

struct hclient;

/* timeout_ms bounds connecting and each wait for bytes; -1 waits for ever. */
int hclient_open_unix(const char *path, int timeout_ms, struct hclient **ret,
		      struct sb_err *err);
int hclient_open_tcp(const char *host, int port, int timeout_ms,
		     struct hclient **ret, struct sb_err *err);
void hclient_free(struct hclient *c);
/* Send "Authorization: Bearer token" with every request. */
void hclient_set_token(struct hclient *c, const char *token);
/* A wait also ends, with SB_CANCELLED, when fd becomes readable. */
void hclient_set_cancel(struct hclient *c, int fd);
void hclient_set_timeout(struct hclient *c, int timeout_ms);
/* All waits from now on end in that time, though bytes come one by one. */
void hclient_set_deadline(struct hclient *c, int ms);

struct hclient_reply {
	int status;
	char *type; /* Content-Type */
	char *body; /* NUL-terminated */
	size_t len;
};
void hclient_reply_done(struct hclient_reply *r);

/*
 * One request with a JSON body (NULL: none) and its whole reply, at most max
 * bytes.  The connection stays open for the next one.
 */
int hclient_request(struct hclient *c, const char *method, const char *path,
		    const json_t *body, size_t max, struct hclient_reply *ret,
		    struct sb_err *err);

/*
 * The same for JSON: *ret is the reply's body (NULL if empty).  A status of
 * 400 or more becomes err, with code, message and hint of the problem+json.
 */
int hclient_json(struct hclient *c, const char *method, const char *path,
		 const json_t *body, json_t **ret, struct sb_err *err);

/* The same with a body of bytes, where the reply's does not matter. */
int hclient_send_bytes(struct hclient *c, const char *method, const char *path,
		       const void *data, size_t len, struct sb_err *err);

/*
 * GET a stream and hand its pieces to on_data until the server ends it or
 * on_data returns non-zero.  Errors as in hclient_json().
 */
int hclient_stream(struct hclient *c, const char *path,
		   int (*on_data)(void *arg, const char *data, size_t len),
		   void *arg, struct sb_err *err);
/* The same for any method, and with a JSON body (NULL: none). */
int hclient_send_stream(struct hclient *c, const char *method, const char *path,
			const json_t *body,
			int (*on_data)(void *arg, const char *data, size_t len),
			void *arg, struct sb_err *err);

/*
 * Turn the connection into a WebSocket: from now on its bytes are for ws.h, by
 * the caller, on the (non-blocking) descriptor *ret_fd, which stays the
 * client's.  rest gets what has come of them already.  protocol is the
 * sub-protocol that is spoken, NULL: none.  Errors as above.
 */
int hclient_upgrade(struct hclient *c, const char *path, const char *protocol,
		    int *ret_fd, struct buf *rest, struct sb_err *err);

/* The same for Server-Sent Events. */
int hclient_events(struct hclient *c, const char *path,
		   int (*on_event)(void *arg, const char *event,
				   const char *data),
		   void *arg, struct sb_err *err);
/* The same for a request that is answered with events (POST /v1/images). */
int hclient_send_events(struct hclient *c, const char *method, const char *path,
			const json_t *body,
			int (*on_event)(void *arg, const char *event,
					const char *data),
			void *arg, struct sb_err *err);
