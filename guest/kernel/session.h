/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The kernel's session: one id for the life of the process, and headers. */

#include "common/util.h"

#define SESSION_PROTOCOL "5.5"
#define SESSION_ID_LEN 36

struct session {
	char id[SESSION_ID_LEN + 1];
	char user[64];
	unsigned long long count; /* of messages */
};

void session_init(struct session *s);

/* Append the header of a new message of that type. */
void session_header(struct session *s, const char *type, struct buf *out);

/* "2026-01-31T12:34:56.789012Z", 28 bytes with the NUL. */
#define SESSION_DATE_LEN 28
void session_date(char out[SESSION_DATE_LEN]);
