/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A Jupyter message and its frames: [identity…, <IDS|MSG>, signature, header,
 * parent_header, metadata, content, buffer…].  Knows bytes only: no socket, no
 * Python.  What comes in is hostile until wire_verify() has said yes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define WIRE_DELIMITER "<IDS|MSG>"
#define WIRE_SIG_LEN 64	       /* hex digits of an HMAC-SHA-256 */
#define WIRE_MAX_FRAMES 1024   /* of one message */
#define WIRE_MAX_IDS 16	       /* hops that a message may have come by */
#define WIRE_MAX_JSON 67108864 /* bytes of header, metadata or content */
#define WIRE_MAX_KEY 256

struct slice {
	const char *p;
	size_t len;
};

/* The key of the connection; an empty one means that nothing is signed. */
struct wire_key {
	unsigned char bytes[WIRE_MAX_KEY];
	size_t len;
};

struct wire_msg { /* all borrowed from the frames */
	const struct slice *ids;
	size_t nids;
	struct slice sig, header, parent, metadata, content;
	const struct slice *buffers;
	size_t nbuffers;
};

/* Signatures seen lately: the latest 32,768 at least, in 2 MiB at most. */
struct wire_seen;
struct wire_seen *wire_seen_new(void);
void wire_seen_free(struct wire_seen *seen);

/* Once per process, before anything that signs. */
int wire_init(struct sb_err *err);

/* Find the parts of a message; SB_INVALID or SB_LIMIT when it is none. */
int wire_split(const struct slice *frames, size_t n, struct wire_msg *ret,
	       struct sb_err *err);

/* The signature of the four JSON parts, or "" when there is no key. */
void wire_sign(const struct wire_key *key, const struct wire_msg *m,
	       char ret[WIRE_SIG_LEN + 1]);

/*
 * SB_AUTH when the signature is wrong, or right but seen before.  Compares in
 * constant time, and remembers.
 */
int wire_verify(const struct wire_key *key, struct wire_seen *seen,
		const struct wire_msg *m, struct sb_err *err);
