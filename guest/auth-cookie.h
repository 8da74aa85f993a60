/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The cookie of browsers: "EXPIRES.SIGNATURE", signed with a key that is made
 * of the sandbox's token.  So there is nothing to keep, it outlives guestd, and
 * it ends with the token.
 */

#include "common/httpd.h"
#include "common/token.h"

#define AUTH_COOKIE_NAME_LEN 24

struct auth_cookie {
	char name[AUTH_COOKIE_NAME_LEN];
	char key[SHA256_HEX_LEN + 1];
};

/* token NULL: a key that nobody else can make. */
void auth_cookie_init(struct auth_cookie *c, const char *token);
/* Whether the request has it, is for the path that it is good for, and does not
 * come from a page of another origin. */
bool auth_cookie_check(const struct auth_cookie *c, const struct http_req *req);
void auth_cookie_set(const struct auth_cookie *c, struct http_req *req);
