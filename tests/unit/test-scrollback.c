/* SPDX-License-Identifier: Apache-2.0 */
/* The last bytes of a terminal, and where one can begin to show them. */
#include "config.h"

#include <stdlib.h>

#include "guest/scrollback.h"
#include "tests/unit/tap.h"

static void add(struct scrollback *s, const char *text)
{
	scrollback_add(s, text, strlen(text));
}

/* The first sane place at or after offset of a text. */
static uint64_t sane(const char *text, uint64_t offset)
{
	struct scrollback s = { 0 };
	uint64_t at;

	add(&s, text);
	at = scrollback_sane(&s, offset);
	scrollback_done(&s);
	return at;
}

static void test_places(void)
{
	is_int(sane("plain", 3), 3, "plain text");
	is_int(sane("", 0), 0, "nothing");
	is_int(sane("a\xe2\x82\xac"
		    "b",
		    2),
	       4, "inside of a character");
	is_int(sane("\xe2\x82", 1), 2, "one that is not whole yet");
	is_int(sane("\xe2xy", 2), 2, "one that never was");
	is_int(sane("\x80\x80x", 1), 1, "bytes that are no character");
	is_int(sane("\x1b[31mred", 2), 5, "inside of a colour");
	is_int(sane("\x1b(Bx", 2), 3, "inside of a character set");
	is_int(sane("\x1b]0;title\007x", 4), 10, "inside of a title");
	is_int(sane("\x1b]0;title\x1b\\x", 4), 11, "with its other end");
	is_int(sane("\x1bPq#0\x1b\\x", 3), 7, "inside of a picture");
	is_int(sane("\x1b[12\x18x", 2), 5, "a sequence that was cancelled");
	is_int(sane("\x1b]0;t\x1b[1mx", 3), 9, "one that ends in another");
	is_int(sane("\x1b[1\x1b[2mx", 2), 7, "one that begins anew");
	is_int(sane("\x1b"
		    "7x",
		    1),
	       2, "a short sequence");
}

static void test_ring(void)
{
	struct scrollback s = { 0 };
	autofree char *block = xmalloc(10000), *back = xmalloc(SCROLLBACK_SIZE);
	size_t n, total = 0;
	bool same = true;

	is_int(scrollback_read(&s, 0, back, 10), 0, "empty");
	add(&s, "hello");
	is_int(s.cap, 4096, "little is kept in little");
	is_int(scrollback_read(&s, 1, back, 3), 3, "a piece");
	ok(memcmp(back, "ell", 3) == 0, "its bytes");
	total = 5;
	for (int i = 0; i < 100; i++) {
		for (size_t k = 0; k < 10000; k++)
			block[k] = (char)((total + k) % 251);
		scrollback_add(&s, block, 9999);
		total += 9999;
	}
	is_int(s.end, total, "all is counted");
	is_int(s.end - s.start, SCROLLBACK_SIZE, "the last is kept");
	n = scrollback_read(&s, s.start, back, SCROLLBACK_SIZE);
	for (size_t k = 0; k < n; k++)
		same = same && back[k] == (char)((s.start + k) % 251);
	ok(same && n == SCROLLBACK_SIZE, "and is what was printed");
	scrollback_done(&s);
}

/* Whatever is lost, the rest begins between two sequences. */
static void test_start(void)
{
	static const char unit[] = "\x1b[38;5;196m\xe2\x82\xac";
	struct scrollback s = { 0 };
	bool good = true;
	char c;

	for (int i = 0; i < 40000; i++) {
		uint64_t at;

		add(&s, unit);
		if (s.start == 0)
			continue;
		at = scrollback_sane(&s, s.start);
		if (scrollback_read(&s, at, &c, 1) == 1)
			good = good && (at % (sizeof(unit) - 1) == 0 ||
					at % (sizeof(unit) - 1) == 11);
	}
	ok(good && s.start > 0, "a start is never inside of anything");
	scrollback_done(&s);
}

int main(void)
{
	test_places();
	test_ring();
	test_start();
	return tap_done();
}
