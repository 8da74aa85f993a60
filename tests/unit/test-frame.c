/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, however they are cut and whatever they claim; and base64. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/frame.h"
#include "tap.h"

static int on_frame(void *arg, char letter, const char *data, size_t len)
{
	buf_addf(arg, "%c%zu:%s;", letter, len, data);
	return letter == FRAME_EXIT;
}

static void put(struct buf *b, enum frame_letter letter, const char *data)
{
	unsigned char head[FRAME_HEAD];

	frame_head(head, letter, strlen(data));
	buf_add(b, head, sizeof(head));
	buf_adds(b, data);
}

static void test_pieces(size_t piece)
{
	autobuf struct buf in = { 0 }, seen = { 0 };
	struct frame_reader r = { .on_frame = on_frame, .arg = &seen };
	struct sb_err err;
	int rc = 0;

	put(&in, FRAME_START, "{}");
	put(&in, FRAME_STDOUT, "out");
	put(&in, FRAME_STDERR, "");
	put(&in, FRAME_EXIT, "bye");
	put(&in, FRAME_STDOUT, "not seen");
	for (size_t at = 0; at < in.len && rc == 0; at += piece)
		rc = frame_feed(&r, in.p + at, MIN(piece, in.len - at), &err);
	is_int(rc, 1, "the handler stops it");
	is_str(seen.p, "s2:{};13:out;20:;x3:bye;", "frames");
	frame_done(&r);
}

static void test_limit(void)
{
	struct frame_reader r = { .on_frame = on_frame };
	unsigned char head[FRAME_HEAD];
	struct sb_err err;

	frame_head(head, FRAME_STDOUT, FRAME_MAX + 1);
	is_int(frame_feed(&r, (char *)head, sizeof(head), &err), -1,
	       "a frame that is too long");
	is_int(err.code, SB_GUEST, "  is the guest's fault");
	frame_done(&r);
}

static void test_base64(void)
{
	char bytes[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		autofree char *text = base64_encode(bytes, n);
		size_t len = 0;
		autofree char *back = base64_decode(text, strlen(text), &len);

		if (!back || len != n || memcmp(back, bytes, n) != 0)
			ok(false, "bytes there and back");
	}
	ok(true, "base64 of all lengths");
}

int main(void)
{
	test_pieces(1);
	test_pieces(3);
	test_pieces(1000);
	test_limit();
	test_base64();
	return tap_done();
}
