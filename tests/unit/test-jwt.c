/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Web Tokens: whose are taken, and when. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/jwt.h"
#include "tests/unit/jwt-sign.h"
#include "tests/unit/tap.h"

#define NOW 1000000
#define SECRET "0123456789abcdef0123456789abcdef"
#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"

/* Why a token is refused; "" if it is not. */
static const char *verdict(const char *alg, const char *secret,
			   const char *token, int64_t now)
{
	static struct sb_err err;
	struct jwt_key *key = NULL;

	err = (struct sb_err){ 0 };
	if (jwt_key_new(alg, secret, &key, &err) == 0 &&
	    jwt_verify(key, token, now, &err) < 0 && err.code != SB_AUTH)
		strcpy(err.msg, "another code");
	jwt_key_free(key);
	return err.msg;
}

/* RFC 7515, A.1; and what Python's hmac made. */
static void test_vectors(void)
{
	static const char rfc_key[] =
		"\x03\x23\x35\x4b\x2b\x0f\xa5\xbc\x83\x7e\x06\x65\x77\x7b\xa6"
		"\x8f\x5a\xb3\x28\xe6\xf0\x54\xc9\x28\xa9\x0f\x84\xb2\xd2\x50"
		"\x2e\xbf\xd3\xfb\x5a\x92\xd2\x06\x47\xef\x96\x8a\xb4\xc3\x77"
		"\x62\x3d\x22\x3d\x2e\x21\x72\x05\x2e\x4f\x08\xc0\xcd\x9a\xf5"
		"\x67\xd0\x80\xa3";
	static const char rfc_token[] =
		"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
		"eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9"
		"leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
		"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
	static const char claims[] = "eyJzdWIiOiJ4IiwiZXhwIjoyMDAwMDAwMDAwfQ";
	static const struct {
		const char *alg, *header, *mac;
	} made[] = {
		{ "HS256", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
		  "CnvKKmexZi9WUPJnCFJx2604CLE655e_d4CVxkL5jdw" },
		{ "HS384", "eyJhbGciOiJIUzM4NCIsInR5cCI6IkpXVCJ9",
		  "1Jv0tzzENt9I44oG0BqWr2uHAO-PtafscYKu-paNzoP93iYF9AvgIt9hV0J"
		  "xwPHN" },
		{ "HS512", "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9",
		  "FUo7lVx1ag4LCINKxyz6IKFm3SDNG4BjGU1tX0-E_yBKpoMIbG4O2oeHRXZ"
		  "c2c3J6bwJDilKAPE-8IFZxmEb9w" },
	};

	is_str(verdict("HS256", rfc_key, rfc_token, 1300819379), "",
	       "the RFC's token");
	is_str(verdict("HS256", rfc_key, rfc_token, 1300819380 + JWT_LEEWAY_S),
	       "the token has expired", "has expired since");
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		for (size_t j = 0; j < ARRAY_SIZE(made); j++) {
			autofree char *token = xasprintf("%s.%s.%s",
							 made[j].header, claims,
							 made[j].mac);

			is_str(verdict(made[i].alg, SECRET, token, NOW),
			       i == j ? "" : "the token's signature is wrong",
			       "each is good for its own algorithm");
		}
}

static const struct {
	const char *header, *claims, *refusal, *what;
} contents[] = {
	/* clang-format off */
	{ HEADER, "{}", "", "no claims" },
	{ "{\"alg\":\"HS256\"}", "{}", "", "no type" },
	{ HEADER, "{\"exp\":1000001}", "", "not yet expired" },
	{ HEADER, "{\"exp\":999971}", "", "expired within the leeway" },
	{ HEADER, "{\"exp\":999970.5}", "", "a fraction of a second" },
	{ HEADER, "{\"exp\":999970}", "the token has expired", "expired" },
	{ HEADER, "{\"exp\":-1}", "the token has expired", "long ago" },
	{ HEADER, "{\"exp\":1e300}", "", "far in the future" },
	{ HEADER, "{\"nbf\":1000030}", "", "valid within the leeway" },
	{ HEADER, "{\"nbf\":1000031}", "the token is not valid yet", "early" },
	{ HEADER, "{\"exp\":\"1000001\"}",
	  "the token's 'exp' is not a number", "text as time" },
	{ HEADER, "{\"exp\":null}",
	  "the token's 'exp' is not a number", "null as time" },
	{ HEADER, "{\"nbf\":true}",
	  "the token's 'nbf' is not a number", "true as time" },
	{ HEADER, "{\"exp\":1,\"exp\":2000000}",
	  "the token is not a JSON Web Token", "a claim twice" },
	{ HEADER, "[]", "the token is not a JSON Web Token", "a list" },
	{ HEADER, "", "the token is not a JSON Web Token", "nothing" },
	{ HEADER, "{\"exp\":1e999}",
	  "the token is not a JSON Web Token", "no number" },
	{ HEADER, "{} {}", "the token is not a JSON Web Token", "a rest" },
	{ "{\"alg\":\"none\"}", "{}",
	  "the token's algorithm is not HS256", "none as algorithm" },
	{ "{\"alg\":\"HS512\"}", "{}",
	  "the token's algorithm is not HS256", "another algorithm" },
	{ "{\"alg\":\"hs256\"}", "{}",
	  "the token's algorithm is not HS256", "not quite the algorithm" },
	{ "{\"alg\":[\"HS256\"]}", "{}",
	  "the token's algorithm is not HS256", "a list of algorithms" },
	{ "{}", "{}", "the token's algorithm is not HS256", "no algorithm" },
	{ "{\"alg\":\"none\",\"alg\":\"HS256\"}", "{}",
	  "the token is not a JSON Web Token", "two algorithms" },
	{ "{\"alg\":\"HS256\",\"crit\":[\"exp\"]}", "{}",
	  "the token uses extensions ('crit') that are not supported",
	  "an extension" },
	{ "x", "{}", "the token is not a JSON Web Token", "no header" },
	/* clang-format on */
};

static void test_contents(void)
{
	struct buf deep = { 0 };
	char *token;

	for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
		const char *h = contents[i].header, *c = contents[i].claims;

		token = jwt_sign(SECRET, h, strlen(h), c, strlen(c));
		is_str(verdict("HS256", SECRET, token, NOW),
		       contents[i].refusal, contents[i].what);
		free(token);
	}
	buf_adds(&deep, "{\"a\":");
	for (int i = 0; i < 5000; i++)
		buf_adds(&deep, "[");
	token = jwt_sign(SECRET, HEADER, strlen(HEADER), deep.p, deep.len);
	is_str(verdict("HS256", SECRET, token, NOW),
	       "the token is not a JSON Web Token", "deep nesting");
	free(token);
	buf_done(&deep);
}

/* The same token in other spellings. */
static void test_form(void)
{
	static const char bad[] = "the token is not a JSON Web Token";
	autofree char *token =
		jwt_sign(SECRET, HEADER, strlen(HEADER), "{}", 2);
	size_t n = strlen(token);
	autofree char *text = xcalloc(1, JWT_MAX_TOKEN + n);
	static const char *const ends[] = { "=", ".", " ", "A", "A.A", "\n" };

	is_str(verdict("HS256", SECRET, token, NOW), "", "a token");
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		sprintf(text, "%s%s", token, ends[i]);
		ok(*verdict("HS256", SECRET, text, NOW), "with a rest");
	}
	/* 32 bytes in 43 digits leave two bits of the last one, which are 0. */
	strcpy(text, token);
	text[n - 1]++;
	is_str(verdict("HS256", SECRET, text, NOW), bad, "not canonical");
	strcpy(text, token);
	*strrchr(text, '.') = '\0';
	is_str(verdict("HS256", SECRET, text, NOW), bad, "two parts");
	strcat(text, ".");
	is_str(verdict("HS256", SECRET, text, NOW),
	       "the token's signature is wrong", "no signature");
	strcpy(text, token);
	text[0]++;
	is_str(verdict("HS256", SECRET, text, NOW),
	       "the token's signature is wrong", "another header");
	is_str(verdict("HS256", SECRET "0", token, NOW),
	       "the token's signature is wrong", "another secret");
	is_str(verdict("HS256", SECRET, "", NOW), bad, "nothing");
	is_str(verdict("HS256", SECRET, "..", NOW),
	       "the token's signature is wrong", "nothing in three parts");
	memset(text, 'A', JWT_MAX_TOKEN + 1);
	text[1] = text[3] = '.';
	text[JWT_MAX_TOKEN + 1] = '\0';
	is_str(verdict("HS256", SECRET, text, NOW), bad, "too long");
}

static void test_keys(void)
{
	static const char *const names[] = { "none", "RS256", "hs256", "" };
	struct jwt_key *key = NULL;
	struct sb_err err;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ok(jwt_key_new(names[i], SECRET, &key, &err) < 0 &&
			   err.code == SB_INVALID && !key,
		   "an unknown algorithm");
	ok(jwt_key_new("HS256", "", &key, &err) < 0, "an empty secret");
}

int main(void)
{
	test_vectors();
	test_contents();
	test_form();
	test_keys();
	return tap_done();
}
