/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever a guest sends, only text and colours leave the filter, and it does
 * not matter how the stream is cut.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/ctl-sanitize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The length of a colour sequence at p, or 0. */
static size_t sgr_len(const char *p, size_t n)
{
	size_t i = 2;

	if (n < 3 || p[0] != '\033' || p[1] != '[')
		return 0;
	while (i < n && p[i] && strchr("0123456789;:", p[i]))
		i++;
	return i < n && p[i] == 'm' ? i + 1 : 0;
}

static void check_output(const struct buf *out)
{
	for (size_t i = 0; i < out->len;) {
		unsigned char c = out->p[i];

		if (c == '\033') {
			size_t n = sgr_len(out->p + i, out->len - i);

			if (!n)
				abort();
			i += n;
			continue;
		}
		if ((c < ' ' && !strchr("\n\r\t", c)) || !c || c == 0x7f)
			abort();
		if (c == 0xc2 && (unsigned char)out->p[i + 1] < 0xa0)
			abort(); /* a C1 control */
		i++;
	}
}

static void run(const uint8_t *data, size_t size, size_t piece, struct buf *out)
{
	struct sanitize s;

	sanitize_init(&s, true);
	for (size_t i = 0; i < size; i += piece)
		sanitize_feed(&s, (const char *)data + i, MIN(piece, size - i),
			      out);
	sanitize_end(&s, out);
	buf_add(out, "", 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autobuf struct buf whole = { 0 };
	autobuf struct buf pieces = { 0 };

	run(data, size, size ? size : 1, &whole);
	run(data, size, 1 + size % 7, &pieces);
	check_output(&whole);
	if (whole.len != pieces.len ||
	    memcmp(whole.p, pieces.p, whole.len) != 0)
		abort();
	return 0;
}
