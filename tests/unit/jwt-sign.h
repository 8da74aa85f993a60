/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Signed tokens with whatever in them, for what checks them. */

#include <openssl/hmac.h>
#include <string.h>

#include "common/base64.h"
#include "common/token.h"
#include "common/util.h"

static inline void add_base64url(struct buf *b, const void *data, size_t len)
{
	autofree char *text = base64_encode(data, len);

	for (char *p = text; *p && *p != '='; p++) {
		char c = *p == '+' ? '-' : *p == '/' ? '_' : *p;

		buf_add(b, &c, 1);
	}
}

/* HS256 of header and claims as they are; the caller's. */
static inline char *jwt_sign(const char *secret, const void *header,
			     size_t header_len, const void *claims,
			     size_t claims_len)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	struct buf b = { 0 };
	unsigned int n = 0;

	buf_adds(&b, "");
	add_base64url(&b, header, header_len);
	buf_adds(&b, ".");
	add_base64url(&b, claims, claims_len);
	HMAC(EVP_sha256(), secret, (int)strlen(secret), (unsigned char *)b.p,
	     b.len, mac, &n);
	buf_adds(&b, ".");
	add_base64url(&b, mac, n);
	return b.p;
}
