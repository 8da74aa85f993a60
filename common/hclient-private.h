/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the files of the client share:
 *   hclient.c         connections, requests and whole replies
 *   hclient-stream.c  replies that are taken piece by piece
 */

#include "common/hclient.h"
#include "common/http1.h"
#include "common/util.h"

#define HCLIENT_MAX_JSON (16 * 1024 * 1024)

struct hclient {
	int fd;
	int cancel_fd;
	int timeout_ms;
	int64_t deadline; /* for all that follows; 0: none */
	bool used_up;	  /* the server closes after this reply */
	char *host;	  /* for the Host header */
	char *token;
	const char *more; /* lines for the head of the next request */
	struct buf in;
};

/* A reply that is being read. */
struct reply {
	struct http1_head head;
	enum http1_body framing;
	uint64_t left;
	struct http1_chunked chunked;
	bool done;
};

void hclient_end_reply(struct reply *r);
#define autoreply __attribute__((cleanup(hclient_end_reply)))

/* A request with a body of len bytes and that type; NULL: none. */
int hclient_send_request(struct hclient *c, const char *method,
			 const char *path, const char *type, const void *body,
			 size_t len, struct sb_err *err);
/* The head of the reply. */
int hclient_begin_reply(struct hclient *c, struct reply *r, struct sb_err *err);
/* The next bytes of the body onto out; sets r->done at its end. */
int hclient_read_body(struct hclient *c, struct reply *r, struct buf *out,
		      size_t max, struct sb_err *err);

/*
 * After a failure the bytes on the wire are of no known meaning, so the
 * connection serves no further request.
 */
int hclient_failed(struct hclient *c);

/* Turn an error reply into err, by its problem+json if it has one. */
int hclient_problem(int status, const char *body, size_t len,
		    struct sb_err *err);
