/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes and hex: what of token.h needs no libcrypto. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "common/token.h"
#include "common/util.h"

void random_bytes(void *p, size_t n)
{
	unsigned char *c = p;

	while (n) {
		ssize_t got = getrandom(c, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			abort(); /* a kernel without getrandom(2) */
		c += got;
		n -= got;
	}
}

void hex_encode(char *out, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *c = data;

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[c[i] >> 4];
		out[2 * i + 1] = digits[c[i] & 15];
	}
	out[2 * len] = '\0';
}

void random_hex(char *out, size_t n)
{
	unsigned char raw[64];

	for (size_t done = 0, part; done < n; done += part) {
		part = MIN(n - done, sizeof(raw));
		random_bytes(raw, part);
		hex_encode(out + 2 * done, raw, part);
	}
}
