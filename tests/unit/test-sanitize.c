/* SPDX-License-Identifier: Apache-2.0 */
/* The filter between a guest and the user's terminal. */
#include "config.h"

#include <stdlib.h>

#include "common/util.h"
#include "host/ctl-sanitize.h"
#include "tests/unit/tap.h"

#define FFFD "\xef\xbf\xbd"

/* in has n bytes, fed in pieces of `piece`. */
static char *filter(const char *in, size_t n, size_t piece, bool colours)
{
	struct buf out = { 0 };
	struct sanitize s;

	sanitize_init(&s, colours);
	for (size_t i = 0; i < n; i += piece)
		sanitize_feed(&s, in + i, MIN(piece, n - i), &out);
	sanitize_end(&s, &out);
	buf_add(&out, "", 0);
	return out.p;
}

/* Whatever way a stream is cut, the same must come out. */
static void check(const char *in, const char *want, bool colours,
		  const char *what)
{
	size_t n = strlen(in);
	autofree char *whole = filter(in, n, n ? n : 1, colours);

	is_str(whole, want, what);
	for (size_t piece = 1; piece < n && piece < 8; piece++) {
		autofree char *got = filter(in, n, piece, colours);

		if (strcmp(got, whole) != 0) {
			ok(false, what);
			printf("# cut in pieces of %zu: '%s'\n", piece, got);
		}
	}
}

struct pair {
	const char *in, *want, *what;
};

static void check_all(const struct pair *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(p[i].in, p[i].want, true, p[i].what);
}

static void test_text(void)
{
	static const struct pair cases[] = {
		{ "", "", "nothing" },
		{ "plain text", "plain text", "text" },
		{ "a\nb\r\nc\td", "a\nb\r\nc\td", "newline, return and tab" },
		{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		  "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		  "UTF-8 of two, three and four bytes" },
		{ "a\a\b\f\v\x0e\x0f\x05\x7f"
		  "b",
		  "ab", "C0 controls and DEL" },
		{ "\x01\x02\x03\x04\x06\x10\x11\x12\x13\x14\x15\x16\x17\x18"
		  "\x19\x1a\x1c\x1d\x1e\x1f|",
		  "|", "every other C0 control" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_colours(void)
{
	static const struct pair cases[] = {
		{ "\033[31mred\033[0m.", "\033[31mred\033[0m.", "a colour" },
		{ "\033[mx", "\033[mx", "reset without a number" },
		{ "\033[38;5;196mx\033[0m", "\033[38;5;196mx\033[0m",
		  "one of 256 colours" },
		{ "\033[38:2::1:2:3mx\033[m", "\033[38:2::1:2:3mx\033[m",
		  "true colour with colons" },
		{ "\033[1mbold", "\033[1mbold\033[0m",
		  "what is left on is switched off at the end" },
		{ "\033[?1mx", "x", "a private sequence that ends with m" },
		{ "\033[>4;2mx", "x", "modifyOtherKeys ends with m, too" },
		{ "\033[1 mx", "x", "as do ones with intermediate bytes" },
		{ "\xc2\x9b"
		  "31mx",
		  "\033[31mx\033[0m", "a colour by C1 is written as ESC [" },
	};

	check_all(cases, ARRAY_SIZE(cases));
	check("\033[31mred\033[0m", "red", false, "no colours if unwanted");
}

static void test_csi(void)
{
	static const struct pair cases[] = {
		{ "a\033[2Jb", "ab", "clear the screen" },
		{ "a\033[1;1Hb", "ab", "move the cursor" },
		{ "a\033[?1049hb", "ab", "alternate screen" },
		{ "a\033[6nb", "ab", "ask for the cursor's position" },
		{ "a\033[cb", "ab", "ask what terminal it is" },
		{ "a\033[21tb", "ab", "ask for the title" },
		{ "a\033[5 qb", "ab", "intermediate bytes" },
		{ "a\033[!pb", "ab", "soft reset" },
		{ "a\033[\nb", "a\nb", "a newline ends it" },
		{ "a\033[12\033[31mb", "a\033[31mb\033[0m", "ESC begins anew" },
		{ "a\033[1\x18"
		  "b",
		  "ab", "CAN ends it" },
		{ "a\033[1\xc3\xbc", "a\xc3\xbc", "a letter ends it" },
		{ "a\xc2\x9b"
		  "2Jb",
		  "ab", "CSI as a C1 control" },
		{ "a\033[", "a", "unfinished" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_strings(void)
{
	static const struct pair cases[] = {
		{ "a\033]0;title\ab", "ab", "title, ended by BEL" },
		{ "a\033]0;title\033\\b", "ab", "title, ended by ST" },
		{ "a\033]52;c;cm0gLXJm\ab", "ab", "clipboard" },
		{ "a\033]8;;http://x\033\\link\033]8;;\033\\b", "alinkb",
		  "hyperlink" },
		{ "a\033P+q544e\033\\b", "ab", "DCS" },
		{ "a\033_x\033\\b", "ab", "APC" },
		{ "a\033^x\033\\b", "ab", "PM" },
		{ "a\033Xx\033\\b", "ab", "SOS" },
		{ "a\xc2\x9d"
		  "0;t\xc2\x9c"
		  "b",
		  "ab", "OSC and ST as C1 controls" },
		{ "a\033]0;\xc3\xbc\ab", "ab", "UTF-8 inside" },
		{ "a\033]0;hidden\nshown", "a\nshown",
		  "a newline ends it, so nothing is hidden behind it" },
		{ "a\033]0;\033[31mb", "a\033[31mb\033[0m", "ESC ends it" },
		{ "a\033]0;t\xc2\x9b"
		  "2Jb",
		  "ab", "C1 ends it" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_escapes(void)
{
	static const struct pair cases[] = {
		{ "a\033cb", "ab", "reset" },
		{ "a\0337b\0338c", "abc", "save and restore the cursor" },
		{ "a\033(0b", "ab", "line drawing characters" },
		{ "a\033#8b", "ab", "fill the screen" },
		{ "a\033%Gb", "ab", "change the coding" },
		{ "a\033Zb", "ab", "ask what terminal it is" },
		{ "a\033\033\033[2Jb", "ab", "ESC again and again" },
		{ "a\033\nb", "a\nb", "newline after ESC" },
		{ "a\033(\nb", "a\nb", "newline after an intermediate byte" },
		{ "a\033(\033]0;t\ab", "ab", "ESC after an intermediate byte" },
		{ "a\xc2\x85\xc2\x84\xc2\x8d\xc2\x9a"
		  "b",
		  "ab", "other C1 controls" },
		{ "a\033", "a", "unfinished" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_invalid(void)
{
	static const struct pair cases[] = {
		{ "a\x9b"
		  "31mb",
		  "a" FFFD "31mb", "C1 as a single byte is no control" },
		{ "a\xff\xfe"
		  "b",
		  "a" FFFD FFFD "b", "bytes that never occur" },
		{ "a\xc0\x9b"
		  "b",
		  "a" FFFD FFFD "b", "overlong in two bytes" },
		{ "a\xe0\x82\x9b"
		  "b",
		  "a" FFFD "b", "overlong in three bytes" },
		{ "a\xf0\x80\x82\x9b"
		  "b",
		  "a" FFFD "b", "overlong in four bytes" },
		{ "a\xed\xa0\x80"
		  "b",
		  "a" FFFD "b", "a surrogate" },
		{ "a\xf4\x90\x80\x80"
		  "b",
		  "a" FFFD "b", "beyond U+10FFFF" },
		{ "a\xe2\x82"
		  "b",
		  "a" FFFD "b", "cut short" },
		{ "a\xe2\x82\033[2Jb", "a" FFFD "b", "cut short by ESC" },
		{ "a\xe2\x82", "a" FFFD, "cut short by the end" },
		{ "a\x80"
		  "b",
		  "a" FFFD "b", "a continuation on its own" },
	};

	check_all(cases, ARRAY_SIZE(cases));
}

static void test_limits(void)
{
	autobuf struct buf in = { 0 };
	autofree char *got = NULL, *nul = NULL;

	buf_adds(&in, "\033[");
	for (int i = 0; i < SANITIZE_MAX_SGR; i++)
		buf_adds(&in, "11");
	buf_adds(&in, "mx");
	check(in.p, "x", true, "a colour that is too long");
	buf_done(&in);

	buf_adds(&in, "\033]0;");
	for (int i = 0; i < SANITIZE_MAX_STRING; i++)
		buf_adds(&in, "y");
	buf_adds(&in, "shown");
	got = filter(in.p, in.len, in.len, true);
	ok(str_ends(got, "shown"), "an endless string does not hide the rest");

	nul = filter("a\0b\033[\0c", 7, 7, true);
	is_str(nul, "abc", "NUL is left out and ends a sequence");
}

static void test_line(void)
{
	autofree char *got = sanitize_line(
			      "\033[31mdemo\033[0m\nx\ty\r\033]0;t\a"),
		      *empty = sanitize_line("");

	is_str(got, "demo x y ", "one line without colours");
	is_str(empty, "", "an empty line");
}

int main(void)
{
	test_text();
	test_colours();
	test_csi();
	test_strings();
	test_escapes();
	test_invalid();
	test_limits();
	test_line();
	return tap_done();
}
