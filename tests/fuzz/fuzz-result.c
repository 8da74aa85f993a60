/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a cell.  Whatever a guest sends, what is shown is short, UTF-8
 * and free of controls, and the plain form is JSON.
 */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "common/utf8.h"
#include "host/result.h"
#include "tests/fuzz/fuzz.h"

#define MAX_SHOWN 2000

static void check_shown(const struct buf *b)
{
	if (b->len > MAX_SHOWN || !utf8_is_valid(b->p, b->len))
		abort();
	for (size_t i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->p[i];

		if ((c < ' ' && c != '\n') || c == 0x7f)
			abort();
		if (c == 0xc2 && (unsigned char)b->p[i + 1] < 0xa0)
			abort(); /* a C1 control */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	autojson json_t *typed = NULL;
	autojson json_t *plain = NULL;
	autojson json_t *back = NULL;
	autoresult struct result *r = NULL;
	autofree char *text = NULL;
	autobuf struct buf b = { 0 };

	if (json_parse((const char *)data, len, &typed, NULL) < 0 ||
	    result_parse(typed, &r, NULL) < 0)
		return 0;
	result_show(r, &b, MAX_SHOWN);
	if (b.len)
		check_shown(&b);
	plain = result_plain(r);
	text = json_print(plain);
	if (json_parse(text, strlen(text), &back, NULL) < 0)
		abort();
	return 0;
}
