/* SPDX-License-Identifier: Apache-2.0 */
/* Readers for single JSON values, with complaints that name the field. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "host/spec-value.h"

int value_bad(struct reader *r, const char *fmt, ...)
{
	char msg[sizeof(r->err->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return sb_fail(r->err, SB_INVALID, "%s%s%s", r->field,
		       r->field[0] ? ": " : "", msg);
}

void value_at(struct reader *r, const char *key)
{
	snprintf(r->field, VALUE_FIELD_LEN, "%s", key);
}

void value_at_entry(struct reader *r, const char *list, size_t i,
		    const char *key)
{
	snprintf(r->field, VALUE_FIELD_LEN, "%s[%zu]%s%s", list, i,
		 key ? "." : "", key ? key : "");
}

int value_text(struct reader *r, const json_t *v, spec_text_check *check,
	       char **out)
{
	const char *complaint, *s = json_string_value(v);

	if (!s)
		return value_bad(r, "must be a text");
	complaint = spec_text_plain(s, json_string_length(v));
	if (complaint)
		return value_bad(r, "%s", complaint);
	complaint = check(s);
	if (complaint)
		return value_bad(r, "'%.80s' %s", s, complaint);
	free(*out);
	*out = xstrdup(s);
	return 0;
}

int value_int(struct reader *r, const json_t *v, int min, int max, int *out)
{
	if (!json_is_integer(v))
		return value_bad(r, "must be a whole number");
	if (json_integer_value(v) < min || json_integer_value(v) > max)
		return value_bad(r, "%lld is not between %d and %d",
				 (long long)json_integer_value(v), min, max);
	*out = json_integer_value(v);
	return 0;
}

int value_flag(struct reader *r, const json_t *v, bool *out)
{
	if (!json_is_boolean(v))
		return value_bad(r, "must be true or false");
	*out = json_is_true(v);
	return 0;
}

int value_size(struct reader *r, const json_t *v, unsigned long long min,
	       unsigned long long max, unsigned long long *out)
{
	char least[SPEC_SIZE_LEN], most[SPEC_SIZE_LEN];
	const char *s = json_string_value(v);
	unsigned long long n;

	if (s) {
		if (parse_size(s, &n) < 0)
			return value_bad(
				r, "'%.80s' is not a size (example: 2G)", s);
	} else if (json_is_integer(v) && json_integer_value(v) >= 0) {
		n = json_integer_value(v);
	} else {
		return value_bad(r, "must be a size (example: 2G)");
	}
	if (n < min || n > max)
		return value_bad(r, "%llu bytes is not between %s and %s", n,
				 spec_text_size(min, least),
				 spec_text_size(max, most));
	*out = n;
	return 0;
}

int value_time(struct reader *r, const json_t *v, long long max, long long *out)
{
	const char *s = json_string_value(v);
	long long n = 0;

	if (s) {
		if (parse_duration(s, &n) < 0)
			return value_bad(
				r, "'%.80s' is not a time (example: 15m)", s);
	} else if (json_is_integer(v)) {
		n = json_integer_value(v);
	} else if (!json_is_null(v)) {
		return value_bad(r, "must be a time (example: 15m) or null");
	}
	if (n < 0 || n > max)
		return value_bad(r, "%lld s is not between 0 and %lld s", n,
				 max);
	*out = n;
	return 0;
}

int value_word(struct reader *r, const json_t *v, const char *const words[],
	       int *out)
{
	const char *s = json_string_value(v);
	autobuf struct buf known = { 0 };

	for (int i = 0; words[i]; i++) {
		if (s && strcmp(s, words[i]) == 0) {
			*out = i;
			return 0;
		}
		buf_addf(&known, "%s%s", i ? ", " : "", words[i]);
	}
	if (!s)
		return value_bad(r, "must be one of: %s", known.p);
	return value_bad(r, "'%.80s' is not one of: %s", s, known.p);
}
