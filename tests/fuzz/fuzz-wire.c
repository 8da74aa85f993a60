/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message to the kernel: frames, each behind a byte and a half of length, up
 * to where the main thread would get it; and the same bytes as output.
 */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "guest/kernel/request.h"
#include "guest/kernel/utf8-text.h"
#include "tests/fuzz/fuzz.h"

static size_t cut(const uint8_t *data, size_t len, struct slice *f, size_t max)
{
	size_t n = 0;

	while (len >= 2 && n < max) {
		size_t size =
			MIN((size_t)(data[0] | (data[1] & 15) << 8), len - 2);

		f[n++] = (struct slice){ (const char *)data + 2, size };
		data += 2 + size;
		len -= 2 + size;
	}
	return n;
}

static void message(const uint8_t *data, size_t len)
{
	static const struct wire_key key = { "k", 1 };
	struct slice f[WIRE_MAX_FRAMES + 1];
	size_t n = cut(data, len, f, ARRAY_SIZE(f));
	struct wire_seen *seen = wire_seen_new();
	char sig[WIRE_SIG_LEN + 1];
	struct request *r;
	struct wire_msg m;
	struct sb_err err;

	if (wire_split(f, n, &m, &err) == 0) {
		wire_verify(&key, seen, &m, &err);
		wire_sign(&key, &m, sig);
		m.sig = (struct slice){ sig, WIRE_SIG_LEN };
		/* Ours is right, unless it was already so; then only once. */
		wire_verify(&key, seen, &m, &err);
		if (wire_verify(&key, seen, &m, &err) == 0)
			abort();
		if (request_new(CHANNEL_SHELL, &m, &r, &err) == 0)
			request_unref(r);
	}
	wire_seen_free(seen);
}

/* Any bytes become text that JSON takes, wherever they are cut. */
static void output(const char *data, size_t len)
{
	autobuf struct buf whole = { 0 }, parts = { 0 }, quoted = { 0 };
	autojson json_t *j = NULL;
	struct utf8_rest rest = { 0 };
	json_error_t je;

	utf8_clean(&rest, data, len, &whole);
	utf8_finish(&rest, &whole);
	for (size_t i = 0, n; i < len; i += n) {
		n = MIN(len - i, (size_t)(data[i] & 3) + 1);
		utf8_clean(&rest, data + i, n, &parts);
	}
	utf8_finish(&rest, &parts);
	if (whole.len != parts.len ||
	    (whole.len && memcmp(whole.p, parts.p, whole.len) != 0))
		abort();
	utf8_quote(whole.p ? whole.p : "", whole.len, &quoted);
	j = json_loadb(quoted.p, quoted.len, JSON_DECODE_ANY | JSON_ALLOW_NUL,
		       &je);
	if (!j || json_string_length(j) != whole.len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (wire_init(NULL) < 0)
		abort();
	message(data, len);
	output((const char *)data, len);
	return 0;
}
