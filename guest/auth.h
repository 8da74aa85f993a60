/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Who may ask guestd for anything: whoever has the sandbox's token, which only
 * its host knows, a JWT if there is a secret for these, or a one-time ticket
 * (common/ticket.h).
 */

#include <stdbool.h>

#include "common/httpd.h"

struct auth;
struct ticket_box;

/* With no_auth nothing is asked for; else nobody gets in before
 * auth_set_token(). */
struct auth *auth_new(bool no_auth);
void auth_free(struct auth *a);

/*
 * How JWTs are checked, from an object of environment variables: JWT_SECRET,
 * JWT_ALGORITHM (HS256) and JWT_AUTH_REQUIRED.  *ret is NULL when there is no
 * secret; that is an error when JWTs are required.
 */
struct auth_jwt;
int auth_jwt_parse(const json_t *env, struct auth_jwt **ret,
		   struct sb_err *err);
void auth_jwt_free(struct auth_jwt *jwt);

/* The same from guestd's own environment, where the secret is then no more. */
int auth_jwt_parse_environ(struct auth_jwt **ret, struct sb_err *err);

/* Whether a variable of the sandbox must not reach what runs in it. */
bool auth_is_secret(const char *name);

/* Check JWTs in this way from now on; NULL: not at all. */
void auth_set_jwt(struct auth *a, struct auth_jwt *jwt /* takes */);

/* The sandbox's token from now on.  Ends what was handed out before. */
void auth_set_token(struct auth *a, const char *token);
/* The same, from the first line of a file. */
int auth_read_token(struct auth *a, const char *path, struct sb_err *err);

/* Whether anybody at all can get in. */
bool auth_is_open(const struct auth *a);

/* Whether the request may be served.  A ticket is used up by that. */
int auth_check(struct auth *a, struct http_req *req, struct sb_err *err);

/*
 * Browsers that have come in below AUTH_COOKIE_PATH carry a cookie from then
 * on: one that is good there only, for a day, and not after the token has
 * changed.  Its name is the sandbox's own, as browsers do not tell ports apart.
 */
#define AUTH_COOKIE_PATH "/lab"
const char *auth_cookie_name(const struct auth *a);
/* Give it to the client, with the reply that is to come. */
void auth_set_cookie(const struct auth *a, struct http_req *req);

/* The tickets that are good. */
struct ticket_box *auth_tickets(struct auth *a);
