/* SPDX-License-Identifier: Apache-2.0 */
/* jansson with strict input and output that loses nothing. */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/utf8.h"

/* The field that holds a text with a NUL, which C would cut; else NULL. */
static const char *find_nul(json_t *j, const char *name)
{
	const char *key, *found = NULL;
	json_t *value;
	size_t i;

	if (json_is_string(j))
		return strlen(json_string_value(j)) < json_string_length(j)
			       ? name
			       : NULL;
	json_object_foreach(j, key, value)
		if (!found)
			found = find_nul(value, key);
	json_array_foreach(j, i, value)
		if (!found)
			found = find_nul(value, name);
	return found;
}

int json_parse(const char *text, size_t len, json_t **ret, struct sb_err *err)
{
	json_error_t je;
	json_t *j = json_loadb(
		text, len,
		JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &je);
	const char *field;

	if (!j)
		return sb_fail(err, SB_INVALID,
			       "not valid JSON: %s (line %d, column %d)",
			       je.text, je.line, je.column);
	field = find_nul(j, "");
	if (field) {
		sb_fail(err, SB_INVALID, "'%s' must not hold a NUL", field);
		json_decref(j);
		return -1;
	}
	*ret = j;
	return 0;
}

/* Whether all bytes are ASCII and none is NUL, eight at a time. */
static bool is_ascii(const char *s, size_t len)
{
	const uint64_t ones = 0x0101010101010101, highs = ones << 7;
	uint64_t x;

	for (; len >= sizeof(x); s += sizeof(x), len -= sizeof(x)) {
		memcpy(&x, s, sizeof(x));
		/* A byte below 128 less 1 has the high bit if it was 0. */
		if ((x | (x - ones)) & highs)
			return false;
	}
	while (len && (signed char)*s > 0)
		s++, len--;
	return len == 0;
}

json_t *json_text(const char *s, size_t len)
{
	static const char replacement[] = "\xef\xbf\xbd";
	autobuf struct buf b = { 0 };
	json_t *j = is_ascii(s, len) ? json_stringn_nocheck(s, len)
				     : json_stringn(s, len);

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
