/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * HTTP/1.1 messages as bytes, for server and client alike (RFC 9112).  Every
 * byte is foreign here: what is not plainly well-formed is refused, so that
 * two readers of one message can never disagree about it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/util.h"

#define HTTP1_MAX_HEAD (16 * 1024)
#define HTTP1_MAX_FIELDS 64

struct http1_field {
	const char *name; /* in lower case */
	const char *value;
};

struct http1_head {
	char *text;	    /* owns what the pointers point into */
	const char *method; /* of a request */
	const char *target;
	int status; /* of a reply */
	int minor;  /* the 1 of "HTTP/1.1" */
	size_t nfields;
	struct http1_field field[HTTP1_MAX_FIELDS];
};

/*
 * The length of the head at data, with its empty line; 0 when more bytes are
 * needed; -1 (SB_LIMIT) when it is longer than HTTP1_MAX_HEAD.
 */
ssize_t http1_head_len(const char *data, size_t len, struct sb_err *err);

/* Parse a whole head.  On success http1_head_done() is due. */
int http1_parse_request(const char *data, size_t len, struct http1_head *ret,
			struct sb_err *err);
int http1_parse_reply(const char *data, size_t len, struct http1_head *ret,
		      struct sb_err *err);
void http1_head_done(struct http1_head *h);

/* The first field of that (lower-case) name, or NULL. */
const char *http1_get(const struct http1_head *h, const char *name);
/* Whether the comma-separated field has the token, in any case. */
bool http1_has_token(const struct http1_head *h, const char *name,
		     const char *token);

enum http1_body { HTTP1_NO_LENGTH, HTTP1_LENGTH, HTTP1_CHUNKED };

/* How the body is framed.  *ret_len is set for HTTP1_LENGTH. */
int http1_framing(const struct http1_head *h, enum http1_body *ret,
		  uint64_t *ret_len, struct sb_err *err);

/* A chunked body; starts as all zero. */
struct http1_chunked {
	int state;
	unsigned int digits, skipped;
	uint64_t left;
	bool done;
};

/*
 * Decode bytes onto out, which may grow to max bytes (SB_LIMIT).  Returns how
 * many bytes were used: all of them, unless the body ended.
 */
ssize_t http1_chunked_feed(struct http1_chunked *c, const char *data,
			   size_t len, struct buf *out, size_t max,
			   struct sb_err *err);

/*
 * Decode %XX in place, and '+' to a space if plus.  -1 when an escape is
 * broken or hides a NUL.
 */
int http1_unescape(char *s, bool plus);

/*
 * Whether s is a web origin as browsers send it (RFC 6454): scheme://host or
 * scheme://host:port, without so much as a slash behind it.
 */
#define HTTP1_MAX_ORIGIN 512
bool http1_is_origin(const char *s);
