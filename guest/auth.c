/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask guestd for anything. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/httpd-ticket.h"
#include "common/json.h"
#include "common/jwt.h"
#include "common/log.h"
#include "common/util.h"
#include "guest/auth-cookie.h"
#include "guest/auth.h"

#define MAX_TOKEN_FILE 1024

#define SHORT_SECRET 32 /* RFC 7518, 3.2 */

static const char jwt_secret[] = "JWT_SECRET";
static const char jwt_algorithm[] = "JWT_ALGORITHM";
static const char jwt_required[] = "JWT_AUTH_REQUIRED";

struct auth_jwt {
	struct jwt_key *key;
	bool required;
};

struct auth {
	bool no_auth;
	char *token;	      /* NULL: nobody has one */
	struct auth_jwt *jwt; /* NULL: there are none */
	struct ticket_box *tickets;
	struct auth_cookie cookie;
};

struct auth *auth_new(bool no_auth)
{
	struct auth *a = xcalloc(1, sizeof(*a));

	a->no_auth = no_auth;
	a->tickets = ticket_box_new();
	auth_cookie_init(&a->cookie, NULL);
	return a;
}

void auth_free(struct auth *a)
{
	if (!a)
		return;
	ticket_box_free(a->tickets);
	auth_jwt_free(a->jwt);
	free(a->token);
	free(a);
}

int auth_jwt_parse(const json_t *env, struct auth_jwt **ret, struct sb_err *err)
{
	const char *secret = json_str_or(env, jwt_secret, "");
	const char *required = json_str_or(env, jwt_required, "");
	struct auth_jwt jwt = { 0 };

	if (*required && parse_bool(required, &jwt.required) < 0)
		return sb_fail(err, SB_INVALID, "%s must be true or false",
			       jwt_required);
	if (!*secret && jwt.required) {
		sb_fail(err, SB_INVALID, "%s is set, but not %s", jwt_required,
			jwt_secret);
		return sb_hint(err, "set %s to what JWTs are signed with",
			       jwt_secret);
	}
	*ret = NULL;
	if (!*secret)
		return 0;
	if (jwt_key_new(json_str_or(env, jwt_algorithm, "HS256"), secret,
			&jwt.key, err) < 0)
		return -1;
	if (strlen(secret) < SHORT_SECRET)
		log_warn("%s has fewer than %d bytes: it can be guessed",
			 jwt_secret, SHORT_SECRET);
	*ret = xmalloc(sizeof(jwt));
	**ret = jwt;
	return 0;
}

void auth_jwt_free(struct auth_jwt *jwt)
{
	if (!jwt)
		return;
	jwt_key_free(jwt->key);
	free(jwt);
}

int auth_jwt_parse_environ(struct auth_jwt **ret, struct sb_err *err)
{
	static const char *const names[] = { jwt_secret, jwt_algorithm,
					     jwt_required };
	autojson json_t *env = json_object();
	char *secret = getenv(jwt_secret);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (getenv(names[i]))
			json_put(env, names[i], json_str(getenv(names[i])));
	/* Also from what /proc shows of us. */
	if (secret)
		explicit_bzero(secret, strlen(secret));
	unsetenv(jwt_secret);
	return auth_jwt_parse(env, ret, err);
}

bool auth_is_secret(const char *name)
{
	return strcmp(name, jwt_secret) == 0;
}

void auth_set_jwt(struct auth *a, struct auth_jwt *jwt)
{
	auth_jwt_free(a->jwt);
	a->jwt = jwt;
}

void auth_set_token(struct auth *a, const char *token)
{
	free(a->token);
	a->token = xstrdup(token);
	auth_cookie_init(&a->cookie, token);
	ticket_revoke_all(a->tickets);
}

int auth_read_token(struct auth *a, const char *path, struct sb_err *err)
{
	autofree char *token = NULL;

	if (fs_read(path, MAX_TOKEN_FILE, &token, NULL, err) < 0)
		return -1;
	token[strcspn(token, "\r\n")] = '\0';
	if (!*token)
		return sb_fail(err, SB_INVALID, "'%s' is empty", path);
	auth_set_token(a, token);
	return 0;
}

bool auth_is_open(const struct auth *a)
{
	return a->no_auth || a->token;
}

/* The host's own token is good also where JWTs are required: without it there
 * would be no way to look after the sandbox. */
static int check_token(const struct auth *a, const char *token,
		       struct sb_err *err)
{
	if (a->token && token_equal(token, a->token))
		return 0;
	if (a->jwt)
		return jwt_verify(a->jwt->key, token, clock_wall_ms() / 1000,
				  err);
	if (a->no_auth)
		return 0;
	sb_fail(err, SB_AUTH, "the token is wrong");
	return sb_hint(err, "sandboxctl info NAME tells where it is kept");
}

/* The first that is there counts, so that no wrong one is overlooked. */
static int check_credentials(struct auth *a, const struct http_req *req,
			     struct sb_err *err)
{
	const char *token = http_token(req);
	const char *ticket = http_query(req, "ticket");

	if (token)
		return check_token(a, token, err);
	if (ticket && http_ticket_check(req, a->tickets, ticket, err) == 0)
		return 0;
	if (auth_cookie_check(&a->cookie, req))
		return 0;
	if (a->no_auth && !(a->jwt && a->jwt->required))
		return 0;
	if (ticket)
		return -1;
	sb_fail(err, SB_AUTH, "the token is missing");
	if (str_starts(http_path(req), AUTH_COOKIE_PATH))
		return sb_hint(
			err,
			"open " AUTH_COOKIE_PATH "?ticket=TICKET, "
			"with one of POST /v1/tickets, or " AUTH_COOKIE_PATH
			"?token=TOKEN");
	return sb_hint(err, "send 'Authorization: Bearer TOKEN'");
}

int auth_check(struct auth *a, struct http_req *req, struct sb_err *err)
{
	int r;

	if (!auth_is_open(a))
		return sb_fail(err, SB_BUSY,
			       "the host has not yet told this sandbox who it "
			       "is");
	r = check_credentials(a, req, err);
	http_drop_query(req, "ticket");
	http_drop_query(req, "token");
	return r;
}

struct ticket_box *auth_tickets(struct auth *a)
{
	return a->tickets;
}

const char *auth_cookie_name(const struct auth *a)
{
	return a->cookie.name;
}

void auth_set_cookie(const struct auth *a, struct http_req *req)
{
	auth_cookie_set(&a->cookie, req);
}
