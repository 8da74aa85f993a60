/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of guests on terminals that show Sixel. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "host/ctl-ask.h"
#include "host/ctl-sixel.h"
#include "tests/unit/tap.h"

#define PPM(text) text, sizeof(text) - 1

static void test_read(void)
{
	static const struct {
		const char *data;
		size_t len;
		const char *what;
	} bad[] = {
		{ PPM(""), "nothing" },
		{ PPM("P6\n"), "no sides" },
		{ PPM("P6\n1"), "a side without an end" },
		{ PPM("P6\n1 1\n255"), "a cut line" },
		{ PPM("P5\n1 1\n255\nabc"), "grey" },
		{ PPM("P6 1 1\n255\nabc"), "a space for a newline" },
		{ PPM("P6\n1\n1\n255\nabc"), "a newline for a space" },
		{ PPM("P6\n1  1\n255\nabc"), "two spaces" },
		{ PPM("P6\n#\n1 1\n255\nabc"), "a comment" },
		{ PPM("P6\n1 1\n65535\nabcdef"), "wide pixels" },
		{ PPM("P6\n1 1\n254\nabc"), "other pixels" },
		{ PPM("P6\n01 1\n255\nabc"), "a zero before" },
		{ PPM("P6\n+1 1\n255\nabc"), "a sign" },
		{ PPM("P6\n-1 -1\n255\nabc"), "below zero" },
		{ PPM("P6\n0 1\n255\n"), "no width" },
		{ PPM("P6\n1 0\n255\n"), "no height" },
		{ PPM("P6\n4097 1\n255\n"), "too wide" },
		{ PPM("P6\n1 4097\n255\n"), "too high" },
		{ PPM("P6\n4294967297 1\n255\nabc"), "a number that wraps" },
		{ PPM("P6\n1 99999999999999999999\n255\nabc"), "a huge one" },
		{ PPM("P6\n4096 4096\n255\nabc"), "much less than promised" },
		{ PPM("P6\n1 1\n255\nab"), "a byte less" },
		{ PPM("P6\n1 1\n255\nabcd"), "a byte more" },
	};
	static const char good[] = "P6\n2 1\n255\nabcdef";
	struct sb_err err;
	struct ppm p;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		/* On the heap, where ASan sees a byte read too far. */
		autofree char *copy = xmalloc(bad[i].len + !bad[i].len);

		memcpy(copy, bad[i].data, bad[i].len);
		err.code = SB_OK;
		is_int(ppm_read(copy, bad[i].len, &p, &err), -1, bad[i].what);
		is_int(err.code, SB_GUEST, "  is the guest's fault");
	}
	is_int(ppm_read(PPM(good), &p, &err), 0, "a picture");
	is_int(p.width, 2, "  width");
	is_int(p.height, 1, "  height");
	ok(memcmp(p.rgb, "abcdef", 6) == 0, "  pixels");
}

#define RED "\xff\0\0"
#define BLUE "\0\0\xff"
#define WHITE "\xff\xff\xff"
#define BLACK "\0\0\0"
#define GREY "\x80\x80\x80"

static void check(int width, int height, const char *rgb, const char *want,
		  const char *what)
{
	const struct ppm p = { width, height, (const unsigned char *)rgb };
	autobuf struct buf out = { 0 };

	sixel_encode(&p, &out);
	is_str(out.p, want, what);
}

static void test_encode(void)
{
	check(2, 7,
	      RED BLUE RED BLUE RED BLUE RED BLUE RED BLUE RED BLUE RED BLUE,
	      "\033P0;1;0q\"1;1;2;7#5;2;0;0;100?~$#180;2;100;0;0~"
	      "-#5?@$#180@\033\\",
	      "two columns, two bands; a colour is defined once");
	check(9, 1, WHITE WHITE WHITE WHITE BLACK WHITE WHITE WHITE WHITE,
	      "\033P0;1;0q\"1;1;9;1#0;2;0;0;0!4?@"
	      "$#215;2;100;100;100!4@?!4@\033\\",
	      "runs, and nothing for the end of a line");
	check(4, 1, GREY GREY GREY GREY,
	      "\033P0;1;0q\"1;1;4;1#86;2;40;40;40?@?@"
	      "$#129;2;60;60;60@?@\033\\",
	      "what is between two colours is some of both");
	check(1, 1, "\x33\x66\x99", "\033P0;1;0q\"1;1;1;1#51;2;20;40;60@\033\\",
	      "a colour that there is stays as it is");
}

static void test_answer(void)
{
	is_int(ask_answer(""), -1, "no answer");
	is_int(ask_answer("\033[?62;4"), -1, "half an answer");
	is_int(ask_answer("\033[?62;4;22c"), 1, "foot");
	is_int(ask_answer("\033[?1;2;4c"), 1, "tmux with Sixel");
	is_int(ask_answer("\033[?1;2c"), 0, "tmux without");
	is_int(ask_answer("\033[?64;1;2;6;9;14;24;44c"), 0, "14 and 44");
	is_int(ask_answer("\033[?4c"), 0, "4 is what it is");
	is_int(ask_answer("\033[?4;6c"), 0, "a VT132");
	is_int(ask_answer("\033[?c"), 0, "nothing in it");
	is_int(ask_answer("ls\033[A\033[?62;4c"), 1, "what was typed before");
	is_int(ask_answer("\033[?2026;2$y"), -1, "another answer");
	is_int(ask_answer("\033[?2026;4$y\033[?6c"), 0, "and then this one");
}

int main(void)
{
	test_read();
	test_encode();
	test_answer();
	return tap_done();
}
