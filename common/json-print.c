/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as text.  jansson's own printer looks at each character by itself; an
 * answer with a file in it spends its time there.  Here what needs no escape is
 * looked for eight bytes at a time and copied as it is.
 */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

/* Non-zero if a byte of x is zero, or below n (at most 128). */
#define HAS_ZERO(x) (((x)-ONES) & ~(x)&HIGHS)
#define HAS_LESS(x, n) (((x)-ONES * (n)) & ~(x)&HIGHS)

static bool is_special(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

/* How many bytes from s on can be copied as they are. */
static size_t plain_len(const char *s, size_t len)
{
	size_t i = 0;
	uint64_t x;

	for (; i + sizeof(x) <= len; i += sizeof(x)) {
		memcpy(&x, s + i, sizeof(x));
		if (HAS_LESS(x, 0x20) | HAS_ZERO(x ^ ONES * '"') |
		    HAS_ZERO(x ^ ONES * '\\'))
			break;
	}
	while (i < len && !is_special(s[i]))
		i++;
	return i;
}

static void print_escape(struct buf *b, unsigned char c)
{
	static const char letters[0x20] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n',
		['\r'] = 'r', ['\t'] = 't',
	};
	char two[2] = { '\\', c < 0x20 ? letters[c] : (char)c };

	if (two[1])
		buf_add(b, two, sizeof(two));
	else
		buf_addf(b, "\\u%04X", c);
}

static void print_string(struct buf *b, const char *s, size_t len)
{
	/* A long text is not moved while it grows, if it has short lines, too. */
	buf_reserve(b, len + len / 16 + 2);
	buf_add(b, "\"", 1);
	for (size_t i = 0; i < len;) {
		size_t n = plain_len(s + i, len - i);

		buf_add(b, s + i, n);
		i += n;
		if (i < len)
			print_escape(b, s[i++]);
	}
	buf_add(b, "\"", 1);
}

static void print(struct buf *b, const json_t *j);

static void print_object(struct buf *b, json_t *j)
{
	const char *key, *sep = "{";
	json_t *value;

	json_object_foreach(j, key, value) {
		buf_adds(b, sep);
		print_string(b, key, strlen(key));
		buf_add(b, ":", 1);
		print(b, value);
		sep = ",";
	}
	buf_adds(b, *sep == '{' ? "{}" : "}");
}

static void print_array(struct buf *b, const json_t *j)
{
	const char *sep = "[";
	const json_t *value;
	size_t i;

	json_array_foreach(j, i, value) {
		buf_adds(b, sep);
		print(b, value);
		sep = ",";
	}
	buf_adds(b, *sep == '[' ? "[]" : "]");
}

static void print_real(struct buf *b, const json_t *j)
{
	autofree char *s = json_dumps(j, JSON_ENCODE_ANY);

	assert(s);
	buf_adds(b, s);
}

static void print(struct buf *b, const json_t *j)
{
	switch (json_typeof(j)) {
	case JSON_OBJECT:
		print_object(b, (json_t *)j);
		break;
	case JSON_ARRAY:
		print_array(b, j);
		break;
	case JSON_STRING:
		print_string(b, json_string_value(j), json_string_length(j));
		break;
	case JSON_INTEGER:
		buf_addf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(j));
		break;
	case JSON_REAL:
		print_real(b, j);
		break;
	case JSON_TRUE:
		buf_adds(b, "true");
		break;
	case JSON_FALSE:
		buf_adds(b, "false");
		break;
	case JSON_NULL:
		buf_adds(b, "null");
		break;
	}
}

char *json_print(const json_t *j)
{
	struct buf b = { 0 };

	assert(j);
	print(&b, j);
	return b.p;
}
