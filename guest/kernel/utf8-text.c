/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to valid UTF-8, and that to JSON strings. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "guest/kernel/utf8-text.h"

#define REPLACEMENT "\xef\xbf\xbd"

/*
 * The length of the character at p; 0 when it is not one; -1 when n bytes are
 * a good beginning, but too few.
 */
static int char_len(const unsigned char *p, size_t n)
{
	unsigned char lo = 0x80, hi = 0xbf;
	int need;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		need = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		need = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		need = 4;
	else
		return 0;
	if (p[0] == 0xe0) /* overlong */
		lo = 0xa0;
	else if (p[0] == 0xed) /* surrogates */
		hi = 0x9f;
	else if (p[0] == 0xf0) /* overlong */
		lo = 0x90;
	else if (p[0] == 0xf4) /* past U+10FFFF */
		hi = 0x8f;
	for (int i = 1; i < need; i++, lo = 0x80, hi = 0xbf) {
		if ((size_t)i == n)
			return -1;
		if (p[i] < lo || p[i] > hi)
			return 0;
	}
	return need;
}

/* How many of the first bytes need no look: plain ASCII, eight at a time. */
static size_t ascii_run(const unsigned char *p, size_t n)
{
	size_t i = 0;
	uint64_t w;

	for (; i + sizeof(w) <= n; i += sizeof(w)) {
		memcpy(&w, p + i, sizeof(w));
		if (w & 0x8080808080808080ULL)
			break;
	}
	while (i < n && p[i] < 0x80)
		i++;
	return i;
}

/* Returns how many bytes it took; the others begin a character. */
static size_t clean(const unsigned char *p, size_t n, struct buf *out)
{
	size_t start = 0, i = 0;

	while (i < n) {
		int len;

		i += ascii_run(p + i, n - i);
		if (i == n)
			break;
		len = char_len(p + i, n - i);
		if (len < 0)
			break;
		if (len > 0) {
			i += (size_t)len;
			continue;
		}
		buf_add(out, p + start, i - start);
		buf_adds(out, REPLACEMENT);
		start = ++i;
	}
	buf_add(out, p + start, i - start);
	return i;
}

void utf8_clean(struct utf8_rest *rest, const char *data, size_t len,
		struct buf *out)
{
	size_t used;

	/* Finish the character that was begun, a byte at a time. */
	while (rest->len && len) {
		rest->bytes[rest->len++] = (unsigned char)*data++;
		len--;
		used = clean(rest->bytes, rest->len, out);
		memmove(rest->bytes, rest->bytes + used, rest->len - used);
		rest->len -= used;
	}
	if (!len)
		return;
	used = clean((const unsigned char *)data, len, out);
	rest->len = len - used;
	memcpy(rest->bytes, data + used, rest->len);
}

void utf8_finish(struct utf8_rest *rest, struct buf *out)
{
	if (rest->len)
		buf_adds(out, REPLACEMENT);
	rest->len = 0;
}

size_t utf8_cut(const char *text, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 1 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

void utf8_quote(const char *text, size_t len, struct buf *out)
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[] = "btn?fr"; /* of 0x08 and the following */
	size_t start = 0;

	buf_add(out, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		char esc[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
		size_t n = sizeof(esc);

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		if (c >= 0x20)
			esc[1] = (char)c, n = 2;
		else if (c >= 0x08 && c <= 0x0d && c != 0x0b)
			esc[1] = letters[c - 8], n = 2;
		buf_add(out, text + start, i - start);
		buf_add(out, esc, n);
		start = i + 1;
	}
	buf_add(out, text + start, len - start);
	buf_add(out, "\"", 1);
}
