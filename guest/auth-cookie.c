/* SPDX-License-Identifier: Apache-2.0 */
/* The cookie of browsers. */
#include "config.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/util.h"
#include "guest/auth-cookie.h"
#include "guest/auth.h"

#define LIFE_S (24 * 3600)
#define MAX_DIGITS 12 /* of a time in seconds */

static void sign(const char *key, const char *text,
		 char out[SHA256_HEX_LEN + 1])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)text,
	     strlen(text), digest, &len);
	hex_encode(out, digest, SHA256_LEN);
}

void auth_cookie_init(struct auth_cookie *c, const char *token)
{
	char name[SHA256_HEX_LEN + 1];

	if (token)
		sign(token, "sandbox cookie key", c->key);
	else
		random_hex(c->key, SHA256_LEN);
	sign(c->key, "name", name);
	snprintf(c->name, sizeof(c->name), "sandbox-%.8s", name);
}

/* The value of the cookie, up to its end; NULL if there is none. */
static char *find(const struct auth_cookie *c, const char *all)
{
	size_t n, len = strlen(c->name);

	for (; all && *all; all += n + (all[n] == ';')) {
		all += strspn(all, " \t");
		n = strcspn(all, ";");
		if (n > len && all[len] == '=' && !memcmp(all, c->name, len))
			return xstrndup(all + len + 1, n - len - 1);
	}
	return NULL;
}

/* Browsers tell.  Another port of this host is the same site to them, and gets
 * the cookie: only a link may lead from there to here. */
static bool is_foreign(const struct http_req *req)
{
	const char *site = http_header(req, "sec-fetch-site");
	const char *mode = http_header(req, "sec-fetch-mode");

	return site && strcmp(site, "same-origin") != 0 &&
	       strcmp(site, "none") != 0 &&
	       (!mode || strcmp(mode, "navigate") != 0 ||
		strcmp(http_method(req), "GET") != 0);
}

static bool is_below(const char *path, const char *top)
{
	return str_starts(path, top) && strchr("/", path[strlen(top)]);
}

bool auth_cookie_check(const struct auth_cookie *c, const struct http_req *req)
{
	autofree char *value = find(c, http_header(req, "cookie"));
	char good[SHA256_HEX_LEN + 1];
	long long expires;
	char *dot;

	if (!value || !is_below(http_path(req), AUTH_COOKIE_PATH) ||
	    is_foreign(req))
		return false;
	dot = strchr(value, '.');
	if (!dot || dot - value > MAX_DIGITS)
		return false;
	*dot = '\0';
	sign(c->key, value, good);
	return token_equal(dot + 1, good) &&
	       parse_num(value, 0, INT64_MAX, &expires) == 0 &&
	       clock_wall_ms() / 1000 < expires;
}

void auth_cookie_set(const struct auth_cookie *c, struct http_req *req)
{
	autofree char *text = NULL, *value = NULL;
	char expires[24], good[SHA256_HEX_LEN + 1];

	snprintf(expires, sizeof(expires), "%lld",
		 (long long)clock_wall_ms() / 1000 + LIFE_S);
	sign(c->key, expires, good);
	text = xasprintf("%s=%s.%s; Path=" AUTH_COOKIE_PATH
			 "; Max-Age=%d; HttpOnly; SameSite=Strict",
			 c->name, expires, good, LIFE_S);
	http_set_header(req, "Set-Cookie", text);
}
