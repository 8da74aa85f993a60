/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket frames: the same events however the bytes are cut. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/ws.h"
#include "tests/fuzz/fuzz.h"

#define MAX_MESSAGE 300

static void note(struct buf *log, const struct ws_event *ev)
{
	if (!ev->op)
		return;
	if (ev->len > MAX_MESSAGE)
		abort();
	if (ev->op == WS_TEXT && !utf8_is_valid(ev->data, ev->len))
		abort();
	buf_addf(log, "%d %d %zu ", (int)ev->op, ev->code, ev->len);
	buf_add(log, ev->data, ev->len);
}

static void read_all(const char *data, size_t len, bool client, size_t step,
		     struct buf *log)
{
	struct ws_reader r = { .client = client, .max_message = MAX_MESSAGE };
	struct ws_event ev;
	struct sb_err err;

	for (size_t at = 0; at < len;) {
		size_t piece = MIN(step, len - at);
		ssize_t n = ws_read(&r, data + at, piece, &ev, &err);

		if (n < 0) {
			buf_addf(log, "failed %d", (int)r.failed);
			break;
		}
		if (n == 0 || (size_t)n > piece)
			abort();
		at += n;
		note(log, &ev);
		if (ev.op)
			ws_reader_rest(&r);
	}
	ws_reader_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data + 1;
	autobuf struct buf whole = { 0 }, cut = { 0 };
	bool client;

	if (len < 2)
		return 0;
	client = data[0] & 1;
	read_all(text, len - 1, client, SIZE_MAX, &whole);
	read_all(text, len - 1, client, 1 + (data[0] >> 1) % 7, &cut);
	if (whole.len != cut.len ||
	    (whole.len && memcmp(whole.p, cut.p, cut.len) != 0))
		abort();
	return 0;
}
