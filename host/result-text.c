/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and bytes as repr() writes them, safe for a terminal. */
#include "config.h"

#include <string.h>

#include "common/utf8.h"
#include "host/result-private.h"

/* A surrogate, in the way of "surrogatepass". */
static bool is_surrogate(const unsigned char *p, size_t n)
{
	return n >= 3 && p[0] == 0xed && p[1] >= 0xa0 && p[1] <= 0xbf &&
	       (p[2] & 0xc0) == 0x80;
}

size_t text_char(const char *s, size_t n, uint32_t *ret)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	const unsigned char *p = (const unsigned char *)s;
	size_t len = is_surrogate(p, n) ? 3 : utf8_len(s, n);

	if (!len)
		return 0;
	*ret = p[0] & first[len];
	for (size_t i = 1; i < len; i++)
		*ret = *ret << 6 | (p[i] & 0x3f);
	return len;
}

/*
 * What str.isprintable() denies, but for unassigned characters: controls,
 * what turns the direction of writing, what has no width, and spaces that are
 * not the usual one.
 */
static bool is_printable(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} not [] = {
		{ 0, 0x1f },	       { 0x7f, 0xa0 },
		{ 0xad, 0xad },	       { 0x600, 0x605 },
		{ 0x61c, 0x61c },      { 0x6dd, 0x6dd },
		{ 0x70f, 0x70f },      { 0x890, 0x891 },
		{ 0x8e2, 0x8e2 },      { 0x1680, 0x1680 },
		{ 0x180e, 0x180e },    { 0x2000, 0x200f },
		{ 0x2028, 0x202f },    { 0x205f, 0x206f },
		{ 0x3000, 0x3000 },    { 0xd800, 0xf8ff },
		{ 0xfeff, 0xfeff },    { 0xfff0, 0xfffb },
		{ 0xfffe, 0xffff },    { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a },  { 0xe0000, 0xe00ff },
		{ 0xe01f0, 0x10ffff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(not ) && c >= not [i].from; i++)
		if (c <= not [i].to)
			return false;
	return true;
}

static void add_escaped(struct buf *to, uint32_t c)
{
	if (c == '\n' || c == '\r' || c == '\t')
		buf_adds(to, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
	else if (c < 0x100)
		buf_addf(to, "\\x%02x", c);
	else if (c < 0x10000)
		buf_addf(to, "\\u%04x", c);
	else
		buf_addf(to, "\\U%08x", c);
}

/* ' unless there is one inside, and no ". */
static char quote_of(const char *s, size_t n)
{
	return memchr(s, '\'', n) && !memchr(s, '"', n) ? '"' : '\'';
}

void text_str(struct buf *to, const char *s, size_t n)
{
	char quote = quote_of(s, n);
	uint32_t c;

	buf_add(to, &quote, 1);
	for (size_t i = 0, len; i < n; i += len) {
		len = text_char(s + i, n - i, &c);
		if (!len) {
			len = 1;
			c = 0xdc00 + (unsigned char)s[i];
		}
		if (c == (unsigned char)quote || c == '\\')
			buf_addf(to, "\\%c", (char)c);
		else if (is_printable(c))
			buf_add(to, s + i, len);
		else
			add_escaped(to, c);
	}
	buf_add(to, &quote, 1);
}

void text_bytes(struct buf *to, const char *s, size_t n)
{
	char quote = quote_of(s, n);

	buf_addf(to, "b%c", quote);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == (unsigned char)quote || c == '\\')
			buf_addf(to, "\\%c", c);
		else if (c >= ' ' && c < 0x7f)
			buf_add(to, s + i, 1);
		else
			add_escaped(to, c);
	}
	buf_add(to, &quote, 1);
}

void text_clean(struct buf *to, const char *s, size_t n, bool newlines)
{
	uint32_t c;

	for (size_t i = 0, len; i < n; i += len) {
		len = text_char(s + i, n - i, &c);
		if (!len) {
			len = 1;
			c = 0xdc00 + (unsigned char)s[i];
		}
		if (is_printable(c) || (newlines && c == '\n'))
			buf_add(to, s + i, len);
		else
			add_escaped(to, c);
	}
}

size_t text_width(const char *s, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += (s[i] & 0xc0) != 0x80;
	return width;
}
