/* SPDX-License-Identifier: Apache-2.0 */
/* Ids, dates and headers of the messages that the kernel sends. */
#include "config.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guest/kernel/session.h"

/* The form that every Jupyter client makes: a random UUID. */
static void make_uuid(char out[SESSION_ID_LEN + 1])
{
	unsigned char b[16];
	char hex[33];

	randombytes_buf(b, sizeof(b));
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	sodium_bin2hex(hex, sizeof(hex), b, sizeof(b));
	snprintf(out, SESSION_ID_LEN + 1, "%.8s-%.4s-%.4s-%.4s-%.12s", hex,
		 hex + 8, hex + 12, hex + 16, hex + 20);
}

void session_init(struct session *s)
{
	const char *user = getenv("USER");
	size_t n = 0;

	make_uuid(s->id);
	/* What would need escaping in JSON is left out. */
	for (; user && *user && n < sizeof(s->user) - 1; user++)
		if (isalnum((unsigned char)*user) || strchr("-_.@", *user))
			s->user[n++] = *user;
	s->user[n] = '\0';
	if (!n)
		snprintf(s->user, sizeof(s->user), "kernel");
	s->count = 0;
}

void session_date(char out[SESSION_DATE_LEN])
{
	struct timespec ts;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(out, SESSION_DATE_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, SESSION_DATE_LEN - n, ".%06ldZ",
		 ts.tv_nsec / 1000 % 1000000);
}

void session_header(struct session *s, const char *type, struct buf *out)
{
	char date[SESSION_DATE_LEN];

	session_date(date);
	buf_addf(out,
		 "{\"msg_id\":\"%s_%llu\",\"msg_type\":\"%s\","
		 "\"username\":\"%s\",\"session\":\"%s\",\"date\":\"%s\","
		 "\"version\":\"" SESSION_PROTOCOL "\"}",
		 s->id, ++s->count, type, s->user, s->id, date);
}
