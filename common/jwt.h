/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Checking JSON Web Tokens (RFC 7519) that are signed with a shared secret:
 * HS256, HS384 or HS512, and only the one that the key was made for.  Nothing
 * of a token is parsed as JSON before its signature is known to be good.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define JWT_MAX_TOKEN 8192
#define JWT_MAX_SECRET 4096
/* Seconds by which the clocks of two machines may differ. */
#define JWT_LEEWAY_S 30

struct jwt_key;

int jwt_key_new(const char *algorithm, const char *secret, struct jwt_key **ret,
		struct sb_err *err);
void jwt_key_free(struct jwt_key *key);

/*
 * Whether a token is signed with key and valid at now_s (since 1970); SB_AUTH
 * if not.  That it has expired is told only of one that is signed.  One that
 * does not say when it expires never does.
 */
int jwt_verify(const struct jwt_key *key, const char *token, int64_t now_s,
	       struct sb_err *err);
