/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token of a stranger, as it is; and one that is signed, whose header is the
 * first line and whose claims are the rest.
 */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "common/jwt.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/jwt-sign.h"

#define NOW 1000000
#define SECRET "0123456789abcdef0123456789abcdef"

/* What was taken for good must say so in as many words. */
static void check_header(const char *header, size_t len)
{
	autojson json_t *j = NULL;

	if (json_parse(header, len, &j, NULL) < 0 ||
	    strcmp(json_str_or(j, "alg", ""), "HS256") != 0 ||
	    json_object_get(j, "crit"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	const char *nl = len ? memchr(text, '\n', len) : NULL;
	size_t n = nl ? (size_t)(nl - text) : len;
	autofree char *raw = xstrndup(text, len), *token = NULL;
	struct jwt_key *key = NULL;
	struct sb_err err;

	if (jwt_key_new("HS256", SECRET, &key, &err) < 0)
		abort();
	/* Nobody guesses a signature. */
	if (jwt_verify(key, raw, NOW, &err) == 0)
		abort();
	if (nl) {
		token = jwt_sign(SECRET, text, n, nl + 1, len - n - 1);
		if (jwt_verify(key, token, NOW, &err) == 0)
			check_header(text, n);
	}
	jwt_key_free(key);
	return 0;
}
