/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8. */
#include "config.h"

#include <stdint.h>

#include "common/utf8.h"

size_t utf8_len(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t need;
	uint32_t cp, min;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] < 0xe0) {
		need = 2, cp = p[0] & 0x1f, min = 0x80;
	} else if ((p[0] & 0xf0) == 0xe0) {
		need = 3, cp = p[0] & 0x0f, min = 0x800;
	} else if (p[0] >= 0xf0 && p[0] < 0xf5) {
		need = 4, cp = p[0] & 0x07, min = 0x10000;
	} else {
		return 0;
	}
	if (n < need)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (p[i] & 0x3f);
	}
	if (cp < min || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return 0;
	return need;
}

bool utf8_is_valid(const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = utf8_len(s + i, n - i);
		if (!len)
			return false;
	}
	return true;
}

size_t utf8_count(const char *s, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += (s[i] & 0xc0) != 0x80;
	return count;
}

size_t utf8_encode(unsigned int c, char ret[4])
{
	size_t n = 0;

	if (c < 0x80) {
		ret[n++] = (char)c;
		return n;
	}
	if (c < 0x800) {
		ret[n++] = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			ret[n++] = (char)(0xe0 | c >> 12);
		} else {
			ret[n++] = (char)(0xf0 | c >> 18);
			ret[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		}
		ret[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	ret[n++] = (char)(0x80 | (c & 0x3f));
	return n;
}
