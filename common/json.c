/* SPDX-License-Identifier: Apache-2.0 */
/* jansson with strict input and output that loses nothing. */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/utf8.h"

int json_parse(const char *text, size_t len, json_t **ret, struct sb_err *err)
{
	json_error_t je;
	json_t *j = json_loadb(text, len,
			       JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &je);

	if (!j)
		return sb_fail(err, SB_INVALID,
			       "not valid JSON: %s (line %d, column %d)",
			       je.text, je.line, je.column);
	*ret = j;
	return 0;
}

char *json_print(const json_t *j)
{
	char *s = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);

	assert(s);
	return s;
}

json_t *json_text(const char *s, size_t len)
{
	static const char replacement[] = "\xef\xbf\xbd";
	autobuf struct buf b = { 0 };
	json_t *j = json_stringn(s, len);

	if (j && !memchr(s, '\0', len))
		return j;
	json_decref(j);
	for (size_t i = 0, n; i < len; i += n) {
		n = s[i] ? utf8_len(s + i, len - i) : 0;
		if (n) {
			buf_add(&b, s + i, n);
		} else {
			buf_adds(&b, replacement);
			n = 1;
		}
	}
	j = json_stringn(b.p ? b.p : "", b.len);
	assert(j);
	return j;
}

json_t *json_str(const char *s)
{
	return s ? json_text(s, strlen(s)) : json_null();
}

void json_put(json_t *obj, const char *key, json_t *value)
{
	if (json_object_set_new(obj, key, value) < 0)
		abort();
}

int json_get_str(const json_t *obj, const char *key, const char **ret,
		 struct sb_err *err)
{
	const json_t *v = json_object_get(obj, key);

	if (!v)
		return 0;
	if (!json_is_string(v))
		return sb_fail(err, SB_INVALID, "'%s' must be a string", key);
	*ret = json_string_value(v);
	return 0;
}

int json_get_int(const json_t *obj, const char *key, long long min,
		 long long max, long long *ret, struct sb_err *err)
{
	const json_t *v = json_object_get(obj, key);

	if (!v)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < min ||
	    json_integer_value(v) > max)
		return sb_fail(err, SB_INVALID,
			       "'%s' must be a whole number from %lld to %lld",
			       key, min, max);
	*ret = json_integer_value(v);
	return 0;
}

int json_get_bool(const json_t *obj, const char *key, bool *ret,
		  struct sb_err *err)
{
	const json_t *v = json_object_get(obj, key);

	if (!v)
		return 0;
	if (!json_is_boolean(v))
		return sb_fail(err, SB_INVALID, "'%s' must be true or false",
			       key);
	*ret = json_is_true(v);
	return 0;
}

int json_only(const json_t *obj, const char *const keys[], struct sb_err *err)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)obj, key, v) {
		size_t i = 0;

		while (keys[i] && strcmp(keys[i], key) != 0)
			i++;
		if (!keys[i])
			return sb_fail(err, SB_INVALID, "unknown field '%s'",
				       key);
	}
	return 0;
}

const char *json_str_or(const json_t *obj, const char *key, const char *dflt)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : dflt;
}

long long json_int_or(const json_t *obj, const char *key, long long dflt)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_integer(v) ? json_integer_value(v) : dflt;
}

bool json_bool_or(const json_t *obj, const char *key, bool dflt)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_boolean(v) ? json_is_true(v) : dflt;
}
