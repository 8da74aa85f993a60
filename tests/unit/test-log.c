/* SPDX-License-Identifier: Apache-2.0 */
/* Logs: writing, rotating, and reading them meanwhile. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log-line.h"
#include "common/log-read.h"
#include "common/log.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define PIECES 150 /* of a line that is too long */

static char *path, *older;

static int open_log(void *arg, bool old)
{
	return open(old ? older : path, O_RDONLY | O_CLOEXEC);
}

static void append(const char *text)
{
	autoclose int fd =
		open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fs_write_all(fd, text, strlen(text)) < 0)
		abort();
}

static void rotate(void)
{
	if (rename(path, older) < 0)
		abort();
}

/* All lines that there are, each with a ';' after it. */
static char *rest(struct log_reader *r, bool at_end)
{
	static struct buf b;
	const char *line;
	size_t len;

	b.len = 0;
	buf_adds(&b, "");
	while (log_reader_next(r, at_end, &line, &len)) {
		buf_add(&b, line, len);
		buf_adds(&b, ";");
	}
	return b.p;
}

/* The same of a fresh reader of the last lines. */
static char *tail(long long lines, int64_t since_ms)
{
	struct log_reader *r = log_reader_new(open_log, NULL);
	char *text;

	log_reader_tail(r, lines, since_ms);
	text = rest(r, true);
	log_reader_free(r);
	return text;
}

static void fresh(void)
{
	unlink(path);
	unlink(older);
}

static void test_tail(void)
{
	fresh();
	is_str(tail(10, 0), "", "no log");
	append("");
	is_str(tail(10, 0), "", "an empty log");
	append("a\n\nb\nc");
	is_str(tail(10, 0), "a;;b;c;", "all of it");
	is_str(tail(4, 0), "a;;b;c;", "just all of it");
	is_str(tail(3, 0), ";b;c;", "an empty line counts");
	is_str(tail(1, 0), "c;", "so does one without its end");
	is_str(tail(0, 0), "", "nothing");
	append("\n");
	is_str(tail(2, 0), "b;c;", "its end does not make a line");
	rotate();
	is_str(tail(1, 0), "c;", "of the older file");
	append("d\ne\n");
	is_str(tail(2, 0), "d;e;", "of the newer file");
	is_str(tail(3, 0), "c;d;e;", "of both");
	is_str(tail(100, 0), "a;;b;c;d;e;", "of all that there is");
}

static void test_long(void)
{
	struct log_reader *r = log_reader_new(open_log, NULL);
	autobuf struct buf b = { 0 };
	const char *line;
	size_t len, n = 0;

	fresh();
	for (int i = 0; i < 200000; i++)
		buf_addf(&b, "%06d\n", i);
	append(b.p);
	is_str(tail(2, 0), "199998;199999;", "of a long log");
	log_reader_tail(r, 150000, 0);
	ok(log_reader_next(r, true, &line, &len) && len == 6 &&
		   memcmp(line, "050000", 6) == 0,
	   "many lines");
	fresh();
	b.len = 0;
	for (int i = 0; i < LOG_READ_MAX_LINE + 10; i++)
		buf_adds(&b, "x");
	for (int i = 0; i < PIECES; i++)
		append(b.p);
	append("\nlast\n");
	log_reader_tail(r, 1, 0);
	is_str(rest(r, true), "last;", "after a long line");
	log_reader_tail(r, 2, 0);
	is_str(rest(r, true), "last;", "which is longer than we look back");
	log_reader_seek(r, "0-0", NULL);
	while (log_reader_next(r, true, &line, &len) && n <= b.len * PIECES) {
		n += len;
		if (len > LOG_READ_MAX_LINE)
			break;
	}
	is_int(n, b.len * PIECES + 4, "but comes whole, in pieces");
	log_reader_free(r);
}

static void test_since(void)
{
	int64_t ms = 0;

	fresh();
	append("{\"ts\":\"2026-01-31T12:00:00.000Z\",\"msg\":\"a\"}\n"
	       "text\n"
	       "2026-01-31T12:00:01.500Z info: b\n"
	       "more of it\n");
	ok(clock_parse("2026-01-31T12:00:01.5Z", &ms) == 0, "a time");
	is_str(tail(10, ms), "2026-01-31T12:00:01.500Z info: b;more of it;",
	       "lines since then");
	is_str(tail(1, ms), "more of it;", "fewer of them");
	is_str(tail(10, ms + 1), "", "none");
	rotate();
	append("{\"ts\":\"2026-01-31T13:00:00.000Z\"}\n");
	is_str(tail(10, ms + 1000 * 1000),
	       "{\"ts\":\"2026-01-31T13:00:00.000Z\"};", "in two files");
}

static void test_follow(void)
{
	struct log_reader *r = log_reader_new(open_log, NULL);
	char *all;

	fresh();
	log_reader_tail(r, 0, 0);
	is_str(rest(r, false), "", "before there is a log");
	append("a\nb");
	is_str(rest(r, false), "a;", "a line");
	append("c\n");
	is_str(rest(r, false), "bc;", "a line in two parts");
	append("d\n");
	rotate();
	append("e\n");
	is_str(rest(r, false), "d;e;", "into the next file");
	append("f\n");
	rotate();
	append("g\n");
	rotate();
	append("h\n");
	is_str(rest(r, false), "f;g;h;", "past a whole one");
	append("no end");
	rotate();
	is_str(rest(r, false), "", "renamed, and not begun anew");
	append("i\n");
	is_str(rest(r, false), "no end;i;", "a last line without its end");
	ok(truncate(path, 0) == 0 && !*rest(r, false), "truncated");
	append("j\n");
	all = rest(r, false);
	is_str(all, "j;", "and written again");
	log_reader_free(r);
}

/* Bytes as they are, also those without an end of line. */
static void test_bytes(void)
{
	struct log_reader *r = log_reader_new(open_log, NULL);
	autobuf struct buf b = { 0 };
	static const char *const steps[] = { "a\nlogin: ", "me\n", "b\n" };
	const char *data;
	size_t n;

	fresh();
	log_reader_tail(r, 10, 0);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		append(steps[i]);
		if (i == 1)
			rotate();
		while ((n = log_reader_bytes(r, &data)) > 0)
			buf_add(&b, data, n);
	}
	is_str(b.p, "a\nlogin: me\nb\n", "bytes as they come");
	log_reader_free(r);
}

static void test_resume(void)
{
	struct log_reader *r = log_reader_new(open_log, NULL);
	static const char *const bad[] = { "",	    "x",    "1", "1-",
					   "1-2-3", "1-2 ", "-", "1-x" };
	char id[LOG_READ_ID];
	struct sb_err err;

	fresh();
	append("a\nb\n");
	log_reader_tail(r, 10, 0);
	rest(r, false);
	log_reader_id(r, id);
	append("c\n");
	ok(log_reader_seek(r, id, &err) == 0, "back to a place");
	is_str(rest(r, false), "c;", "goes on from there");
	rotate();
	append("d\n");
	log_reader_seek(r, id, &err);
	is_str(rest(r, false), "c;d;", "also in the older file");
	/* Held open, its number is not given to another file. */
	log_reader_seek(r, id, &err);
	rotate();
	append("e\n");
	is_str(rest(r, false), "c;d;e;", "and in one that is gone");
	ok(log_reader_seek(r, "1-1", &err) == 0, "a place that is no more");
	is_str(rest(r, false), "d;e;", "goes on with what there is");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(log_reader_seek(r, bad[i], &err) < 0 &&
			   err.code == SB_INVALID,
		   "not a place");
	log_reader_free(r);
}

static char *text_of(const char *line)
{
	static struct buf b;
	autojson json_t *j = log_line_json(line, strlen(line));

	b.len = 0;
	log_record_text(j, &b);
	return b.p;
}

static void test_lines(void)
{
	is_str(text_of("{\"ts\":\"T\",\"level\":\"info\",\"msg\":\"m\","
		       "\"a\":1,\"b\":\"x\"}"),
	       "T info: m a=1 b=\"x\"", "a record for people");
	is_str(text_of("{\"msg\":\"a\\u001b[31m\\nb\"}"), "a\\x1b[31m\\x0ab",
	       "that cannot drive a terminal");
	is_str(text_of("{\"msg\":"), "{\"msg\":", "no JSON");
	is_str(text_of("[1]"), "[1]", "no object");
	is_str(text_of("\xff\t"), "\xef\xbf\xbd\\x09", "no text");
	is_int(log_line_time("", 0), -1, "no time");
}

/* More than fits into two files, and a reader that misses nothing. */
static void test_write(void)
{
	struct log_reader *r = log_reader_new(open_log, NULL);
	autofree char *where = NULL;
	const char *line;
	struct stat st;
	struct sb_err err;
	size_t len;
	int n = 0;

	fresh();
	ok(log_open(path, true, &err) == 0, "a log");
	where = log_path();
	is_str(where, path, "is where it was asked for");
	log_reader_tail(r, 0, 0);
	for (int i = 0; i < 12000; i++) {
		log_fields(LOG_LEVEL_INFO, json_pack("{s:i}", "n", i),
			   "%01000d", i);
		while (log_reader_next(r, false, &line, &len)) {
			autojson json_t *j = log_line_json(line, len);

			n += json_int_or(j, "n", -1) == n &&
			     log_line_time(line, len) > 0;
		}
	}
	is_int(n, 12000, "every record, in order, with its time");
	ok(stat(path, &st) == 0 && st.st_size <= (4 << 20) + 2048 &&
		   stat(older, &st) == 0 && st.st_size <= (4 << 20) + 2048,
	   "in two files of bounded size");
	log_debug("not asked for");
	ok(!log_reader_next(r, false, &line, &len), "the level is heeded");
	log_reader_free(r);
}

static void test_clock(void)
{
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2026-01-31T12:34:56.789Z", 1769862896789 },
		{ "2026-01-31t12:34:56.7z", 1769862896700 },
		{ "2026-01-31 14:34:56+02:00", 1769862896000 },
		{ "2026-01-31T11:04:56.123456789-01:30", 1769862896123 },
	};
	static const char *const bad[] = {
		"",
		"2026",
		"2026-01-31",
		"2026-01-31T12:34:56",
		"2026-01-31T12:34Z",
		"2026-13-31T12:34:56Z",
		"2026-01-31T25:34:56Z",
		"2026-01-31T12:34:56.Z",
		"2026-01-31T12:34:56Zx",
		"2026-01-31T12:34:56+2:00",
		"2026-01-31T12:34:56+02:00x",
		"2026-01-31T12:34:56+24:00",
		"2026-1-31T12:34:56Z",
		" 2026-01-31T12:34:56Z",
	};
	int64_t ms;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		ms = -1;
		ok(clock_parse(good[i].text, &ms) == 0, good[i].text);
		is_int(ms, good[i].ms, "its time");
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(clock_parse(bad[i], &ms) < 0, bad[i]);
}

int main(void)
{
	scratch_init();
	path = xasprintf("%s/log", scratch_dir);
	older = xasprintf("%s.1", path);
	test_clock();
	test_lines();
	test_tail();
	test_long();
	test_since();
	test_follow();
	test_bytes();
	test_resume();
	test_write();
	free(path);
	free(older);
	return tap_done();
}
