/* SPDX-License-Identifier: Apache-2.0 */
/* Checking JSON Web Tokens, with the HMAC of OpenSSL's libcrypto. */
#include "config.h"

#include <math.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/jwt.h"
#include "common/util.h"

static const struct algorithm {
	const char *name;
	const EVP_MD *(*md)(void);
} algorithms[] = {
	{ "HS256", EVP_sha256 },
	{ "HS384", EVP_sha384 },
	{ "HS512", EVP_sha512 },
};

struct jwt_key {
	const struct algorithm *alg;
	char *secret;
};

int jwt_key_new(const char *algorithm, const char *secret, struct jwt_key **ret,
		struct sb_err *err)
{
	struct jwt_key *key;

	if (!*secret || strlen(secret) > JWT_MAX_SECRET)
		return sb_fail(err, SB_INVALID,
			       "a JWT secret has 1 to %d characters",
			       JWT_MAX_SECRET);
	for (size_t i = 0; i < ARRAY_SIZE(algorithms); i++) {
		if (strcmp(algorithm, algorithms[i].name) != 0)
			continue;
		key = xcalloc(1, sizeof(*key));
		key->alg = &algorithms[i];
		key->secret = xstrdup(secret);
		*ret = key;
		return 0;
	}
	sb_fail(err, SB_INVALID, "'%.32s' is not an algorithm for JWTs",
		algorithm);
	return sb_hint(err, "use HS256, HS384 or HS512");
}

void jwt_key_free(struct jwt_key *key)
{
	if (!key)
		return;
	explicit_bzero(key->secret, strlen(key->secret));
	free(key->secret);
	free(key);
}

static int base64url_digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/*
 * The bytes of base64url as RFC 7515 has it: without padding or any other
 * byte, and in the one form that each has.
 */
static int decode(const char *text, size_t len, struct buf *ret)
{
	unsigned int bits = 0, n = 0;

	for (size_t i = 0; i < len; i++) {
		int digit = base64url_digit(text[i]);

		if (digit < 0)
			return -1;
		bits = (bits << 6 | (unsigned int)digit) & 0xffff;
		n += 6;
		if (n >= 8) {
			char c = (char)(bits >> (n - 8));

			buf_add(ret, &c, 1);
			n -= 8;
		}
	}
	return n < 6 && !(bits & ((1U << n) - 1)) ? 0 : -1;
}

static int not_a_jwt(struct sb_err *err)
{
	sb_fail(err, SB_AUTH, "the token is not a JSON Web Token");
	return sb_hint(err, "it has three parts: HEADER.CLAIMS.SIGNATURE");
}

static int check_signature(const struct jwt_key *key, const char *token,
			   size_t len, const struct buf *signature,
			   struct sb_err *err)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	if (!HMAC(key->alg->md(), key->secret, (int)strlen(key->secret),
		  (const unsigned char *)token, len, mac, &n))
		return sb_fail(err, SB_SYSTEM, "cannot compute an HMAC");
	if (signature->len == n && CRYPTO_memcmp(signature->p, mac, n) == 0)
		return 0;
	sb_fail(err, SB_AUTH, "the token's signature is wrong");
	return sb_hint(err, "sign it with %s and the secret of this server",
		       key->alg->name);
}

static int parse_part(const char *part, size_t len, json_t **ret,
		      struct sb_err *err)
{
	autobuf struct buf text = { 0 };
	autojson json_t *j = NULL;

	if (decode(part, len, &text) < 0 || !text.len ||
	    json_parse(text.p, text.len, &j, NULL) < 0 || !json_is_object(j))
		return not_a_jwt(err);
	*ret = steal(&j);
	return 0;
}

static int check_header(const struct jwt_key *key, const json_t *header,
			struct sb_err *err)
{
	if (strcmp(json_str_or(header, "alg", ""), key->alg->name) != 0)
		return sb_fail(err, SB_AUTH, "the token's algorithm is not %s",
			       key->alg->name);
	/* It may change the meaning of all the rest. */
	if (json_object_get(header, "crit"))
		return sb_fail(err, SB_AUTH,
			       "the token uses extensions ('crit') that are "
			       "not supported");
	return 0;
}

/* A NumericDate, absent as dflt. */
static int get_date(const json_t *claims, const char *name, double dflt,
		    double *ret, struct sb_err *err)
{
	const json_t *j = json_object_get(claims, name);

	*ret = j ? json_number_value(j) : dflt;
	if (j && !json_is_number(j))
		return sb_fail(err, SB_AUTH, "the token's '%s' is not a number",
			       name);
	return 0;
}

static int check_claims(const json_t *claims, int64_t now_s, struct sb_err *err)
{
	double exp, nbf, now = (double)now_s;

	if (get_date(claims, "exp", INFINITY, &exp, err) < 0 ||
	    get_date(claims, "nbf", -INFINITY, &nbf, err) < 0)
		return -1;
	if (now >= exp + JWT_LEEWAY_S) {
		sb_fail(err, SB_AUTH, "the token has expired");
		return sb_hint(err, "get a new one from whoever issued it");
	}
	if (now + JWT_LEEWAY_S < nbf) {
		sb_fail(err, SB_AUTH, "the token is not valid yet");
		return sb_hint(err, "compare the clocks of both machines");
	}
	return 0;
}

int jwt_verify(const struct jwt_key *key, const char *token, int64_t now_s,
	       struct sb_err *err)
{
	const char *payload, *signature;
	autobuf struct buf mac = { 0 };
	autojson json_t *header = NULL, *claims = NULL;

	payload = strchr(token, '.');
	signature = payload ? strchr(payload + 1, '.') : NULL;
	if (!signature || strnlen(token, JWT_MAX_TOKEN + 1) > JWT_MAX_TOKEN ||
	    decode(signature + 1, strlen(signature + 1), &mac) < 0)
		return not_a_jwt(err);
	if (check_signature(key, token, signature - token, &mac, err) < 0 ||
	    parse_part(token, payload - token, &header, err) < 0 ||
	    check_header(key, header, err) < 0 ||
	    parse_part(payload + 1, signature - payload - 1, &claims, err) < 0)
		return -1;
	return check_claims(claims, now_s, err);
}
