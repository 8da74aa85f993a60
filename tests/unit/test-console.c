/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "host/console.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static struct console con;

/* What the screen says after these bytes. */
static const char *shown(const char *bytes, size_t n)
{
	static struct buf b;

	buf_done(&b);
	b = (struct buf){ 0 };
	console_init(&con);
	console_feed(&con, bytes, n);
	console_text(&con, &b);
	return b.p ? b.p : "";
}

static void test_text(void)
{
	static const struct {
		const char *bytes, *text, *what;
	} rows[] = {
		{ "a\r\nb", "a\nb\n", "lines" },
		{ "abc\rX", "Xbc\n", "carriage return" },
		{ "ab\bX", "aX\n", "backspace" },
		{ "a\tb", "a       b\n", "tabs" },
		{ "\033[1;31mred\033[0m on", "red on\n", "colours" },
		{ "\033[3;2Hhi\033[Hx", "x\n\n hi\n", "moving" },
		{ "junk\033[2J\033[Hnew", "new\n", "clearing" },
		{ "abcdef\033[3D\033[K", "abc\n", "erasing a line" },
		{ "abc\033[1G\033[2P", "c\n", "deleting" },
		{ "abc\033[1G\033[2@", "  abc\n", "inserting" },
		{ "\033]0;title\atext", "text\n", "titles are skipped" },
		{ "\033[?25l\033(Btext", "text\n", "modes and charsets too" },
		{ "gr\303\274n \342\202\254", "gr\303\274n \342\202\254\n",
		  "UTF-8" },
		{ "a\377b", "a\357\277\275b\n", "what is not UTF-8" },
		{ "a\303", "a\n", "half a character at the end" },
		{ "a\302\233b", "ab\n", "no control beyond ASCII" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		is_str(shown(rows[i].bytes, strlen(rows[i].bytes)),
		       rows[i].text, rows[i].what);
}

static void test_scroll(void)
{
	autobuf struct buf b = { 0 };
	const char *text;

	for (int i = 0; i < 100; i++)
		buf_addf(&b, "line %d\r\n", i);
	text = shown(b.p, b.len);
	ok(strncmp(text, "line 71\n", 8) == 0, "a screen shows the last lines");
	ok(strstr(text, "line 99\n") != NULL, "to the end");
	b.len = 0;
	for (int i = 0; i < CONSOLE_COLS + 1; i++)
		buf_add(&b, "x", 1);
	text = shown(b.p, b.len);
	ok(strlen(text) == CONSOLE_COLS + 3 && text[CONSOLE_COLS] == '\n',
	   "long lines go on in the next");
}

/* Whatever a guest writes, the cursor stays on the screen. */
static void test_hostile(void)
{
	static const char *const tricks[] = {
		"\033[99999999999999;99999999999A",
		"\033[0;0H\033[9999D",
		"\033[9999B\033[9999C\033[9999@",
		"\033[9999P\033[9999X",
		"\033[;;;;;;;;;;;;;;;;;;;;m",
		"\033[38;5;200;1m\033[107m",
		"\033[2;3K\033[1J\033[3J",
		"\033]\033]\033P\033\\",
		"\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\tz",
	};
	bool inside = true;

	srand(1);
	for (int i = 0; i < 20000; i++) {
		const char *s = tricks[(size_t)rand() % ARRAY_SIZE(tricks)];
		char byte = (char)rand();

		console_feed(&con, s, (size_t)rand() % (strlen(s) + 1));
		console_feed(&con, &byte, 1);
		inside = inside && con.row >= 0 && con.row < CONSOLE_ROWS &&
			 con.col >= 0 && con.col < CONSOLE_COLS;
	}
	ok(inside, "the cursor stays on the screen");
}

/* The pixels of our PNG: its IDAT, inflated. */
static uint8_t *pixels(const struct buf *png, size_t *ret_len)
{
	struct libdeflate_decompressor *z = libdeflate_alloc_decompressor();
	const char *p = memmem(png->p, png->len, "IDAT", 4);
	const uint8_t *n = (const uint8_t *)p - 4;
	size_t room = 801 * 480,
	       len = (size_t)n[0] << 24 | n[1] << 16 | n[2] << 8 | n[3];
	uint8_t *out = xmalloc(room);

	if (libdeflate_zlib_decompress(z, p + 4, len, out, room, ret_len))
		*ret_len = 0;
	libdeflate_free_decompressor(z);
	return out;
}

static void test_png(void)
{
	autobuf struct buf png = { 0 };
	autofree uint8_t *px = NULL;
	size_t len, set = 0, bright = 0;

	console_init(&con);
	console_feed(&con, "\033[91m#\033[0m\r\n", 12);
	console_png(&con, &png);
	ok(png.len > 8 && memcmp(png.p, "\x89PNG\r\n\x1a\n", 8) == 0, "a PNG");
	px = pixels(&png, &len);
	is_int((long long)len, 801 * 480, "800 by 480");
	for (size_t i = 0; i < len; i++) {
		set += px[i] != 0;
		bright += px[i] == 9;
	}
	ok(bright > 20 && bright < 128, "the character in its colour");
	is_int((long long)(set - bright), 16, "and the cursor below it");
}

static int open_log(void *arg, bool older)
{
	return older ? -1 : open(arg, O_RDONLY | O_CLOEXEC);
}

/* What the screen says after a log of so many times text, then an end. */
static bool ends_with(const char *text, int times, const char *end)
{
	autobuf struct buf log = { 0 }, b = { 0 };
	autofree char *path = NULL;
	struct log_reader *r;

	buf_adds(&log, "the first line\r\n");
	for (int i = 0; i < times; i++)
		buf_adds(&log, text);
	buf_adds(&log, end);
	path = scratch_file("log", log.p);
	r = log_reader_new(open_log, path);
	console_init(&con);
	console_read(&con, r);
	log_reader_free(r);
	console_text(&con, &b);
	return b.p && strstr(b.p, end) != NULL;
}

/* The newest is seen, however much there is before it in few lines. */
static void test_log(void)
{
	scratch_init();
	ok(ends_with("", 0, "the end"), "a short log");
	ok(ends_with("a line\r\n", 100000, "the end"), "many lines");
	ok(ends_with("\rloading: some %", 200000, "the end"),
	   "a line that was drawn over many times");
	ok(ends_with("0123456789abcdef", 250000, "the end"), "a long line");
}

int main(void)
{
	test_text();
	test_scroll();
	test_hostile();
	test_png();
	test_log();
	return tap_done();
}
