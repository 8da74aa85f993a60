/* SPDX-License-Identifier: Apache-2.0 */
/* A form: its Content-Type is the first line, its body the rest. */
#include "config.h"

#include <string.h>

#include "common/util.h"
#include "guest/multipart.h"
#include "tests/fuzz/fuzz.h"

/* Parts must begin and end in turn, and have data only between. */
static int on_part(void *arg, const char *name, const char *filename,
		   struct sb_err *err)
{
	bool *open = arg;

	if (*open || !name)
		abort();
	*open = true;
	return 0;
}

static int on_data(void *arg, const char *data, size_t len, struct sb_err *err)
{
	bool *open = arg;

	if (!*open || !len)
		abort();
	return 0;
}

static int on_part_end(void *arg, struct sb_err *err)
{
	bool *open = arg;

	if (!*open)
		abort();
	*open = false;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct multipart_ops ops = {
		.on_part = on_part,
		.on_data = on_data,
		.on_part_end = on_part_end,
	};
	const char *text = (const char *)data;
	const char *nl = len ? memchr(text, '\n', len) : NULL;
	autofree char *type = NULL;
	struct multipart *m;
	struct sb_err err;
	bool open = false;
	size_t step;

	if (!nl)
		return 0;
	type = xstrndup(text, nl - text);
	m = multipart_new(type, &ops, &open, &err);
	if (!m)
		return 0;
	len -= nl + 1 - text;
	step = len % 7 + 1;
	for (size_t i = 0; i < len; i += step)
		if (multipart_feed(m, nl + 1 + i, MIN(step, len - i), &err) < 0)
			break;
	multipart_end(m, &err);
	multipart_free(m);
	return 0;
}
