/* SPDX-License-Identifier: Apache-2.0 */
/* Base64. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/util.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t len)
{
	const unsigned char *p = data;
	char *text = xmalloc((len + 2) / 3 * 4 + 1), *out = text;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = MIN(len - i, 3);
		uint32_t v = p[i] << 16;

		if (n > 1)
			v |= p[i + 1] << 8;
		if (n > 2)
			v |= p[i + 2];
		*out++ = digits[v >> 18];
		*out++ = digits[v >> 12 & 63];
		*out++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*out++ = n > 2 ? digits[v & 63] : '=';
	}
	*out = '\0';
	return text;
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

char *base64_decode(const char *text, size_t len, size_t *ret_len)
{
	autofree char *out = NULL;
	size_t padding = 0, n = 0;
	uint32_t v = 0;

	while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
		padding++;
	if (len % 4)
		return NULL;
	out = xmalloc(len / 4 * 3 + 1);
	for (size_t i = 0; i < len; i++) {
		int d = i < len - padding ? value_of(text[i]) : 0;

		if (d < 0)
			return NULL;
		v = v << 6 | (uint32_t)d;
		if (i % 4 != 3)
			continue;
		for (int shift = 16; shift >= 0; shift -= 8)
			out[n++] = (char)(v >> shift);
		v = 0;
	}
	*ret_len = n - padding;
	out[*ret_len] = '\0';
	return steal(&out);
}
