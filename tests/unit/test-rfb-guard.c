/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "guest/rfb-guard.h"
#include "tests/unit/tap.h"

#define HELLO "RFB 003.008\n\x01\x00"
#define HELLO_LEN 14
#define FRAME "\3\1\0\0\0\0\0\100\0\100"

/* What comes through of a client that says this, size bytes at a time. */
static int passed(const char *data, size_t len, size_t size, struct buf *out)
{
	struct rfb_guard g;

	rfb_guard_init(&g);
	for (size_t i = 0; i < len; i += size)
		if (rfb_guard_feed(&g, data + i, MIN(size, len - i), out) < 0)
			return -1;
	return 0;
}

static void check(const char *message, size_t len, bool pass, const char *what)
{
	autobuf struct buf in = { 0 }, want = { 0 };
	bool good = true;

	buf_add(&in, HELLO, HELLO_LEN);
	buf_add(&in, message, len);
	buf_add(&in, FRAME, 10);
	/* The screen is always shared. */
	buf_add(&want, "RFB 003.008\n\x01\x01", HELLO_LEN);
	if (pass)
		buf_add(&want, message, len);
	buf_add(&want, FRAME, 10);
	for (size_t size = 1; size <= in.len; size++) {
		autobuf struct buf out = { 0 };

		good = good && passed(in.p, in.len, size, &out) == 0 &&
		       out.len == want.len &&
		       memcmp(out.p, want.p, want.len) == 0;
	}
	ok(good, what);
}

#define CHECK(message, pass, what) \
	check(message, sizeof(message) - 1, pass, what)

static void test_messages(void)
{
	CHECK("\0\0\0\0\40\30\0\1\0\377\0\377\0\377\20\10\0\0\0\0", true,
	      "SetPixelFormat");
	CHECK("\2\0\0\2\0\0\0\7\377\377\377\41", true, "SetEncodings");
	CHECK("\2\0\0\0", true, "no encodings");
	CHECK("\226\1\0\0\0\0\0\100\0\100", true, "EnableContinuousUpdates");
	CHECK("\370\0\0\0\0\0\0\1\3abc", true, "ClientFence");
	CHECK("\4\1\0\0\0\0\0a", false, "KeyEvent");
	CHECK("\5\1\0\12\0\12", false, "PointerEvent");
	CHECK("\6\0\0\0\0\0\0\5paste", false, "ClientCutText");
	CHECK("\6\0\0\0\377\377\377\374abcd", false, "extended ClientCutText");
	CHECK("\372\0\1\2", false, "xvp");
	CHECK("\373\0\4\0\3\0\1\0"
	      "0123456789abcdef",
	      false, "SetDesktopSize");
	CHECK("\377\0\0\1\0\0\0a\0\0\0\36", false, "QEMU's keys");
}

static void test_refused(void)
{
	autobuf struct buf out = { 0 };
	static const char unknown[] = HELLO "\x63";
	static const char huge[] = HELLO "\6\0\0\0\177\377\377\377";
	static const char many[] = HELLO "\2\0\377\377";

	is_int(passed(unknown, sizeof(unknown) - 1, 1, &out), -1,
	       "what is not known ends it");
	is_int(passed(huge, sizeof(huge) - 1, 5, &out), -1,
	       "and so does a text that is too long");
	is_int(passed(many, sizeof(many) - 1, 5, &out), -1,
	       "and a list that is");
}

static void test_version(void)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ "RFB 003.008\n", true },  { "RFB 003.007\n", true },
		{ "RFB 003.003\n", false }, { "RFB 003.005\n", false },
		{ "RFB 003.889\n", false }, { "RFB 004.001\n", false },
		{ "RFB 003.008 ", false },  { "GET / HTTP/1", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autobuf struct buf out = { 0 };
		bool good = passed(rows[i].text, 12, 5, &out) == 0;

		ok(good == rows[i].good && out.len == (good ? 12 : 0),
		   rows[i].good ? "a version that is known"
				: "another version ends it, unheard");
	}
}

int main(void)
{
	test_version();
	test_messages();
	test_refused();
	return tap_done();
}
