/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges, entity tags, forms, globs, base64, and files that change. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/json.h"
#include "common/mime.h"
#include "common/range.h"
#include "common/base64.h"
#include "common/util.h"
#include "guest/files-changed.h"
#include "guest/glob.h"
#include "guest/multipart.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static void check_range(const char *header, uint64_t size, enum range_kind want,
			uint64_t want_offset, uint64_t want_length)
{
	uint64_t offset = 0, length = 0;
	enum range_kind kind = range_parse(header, size, &offset, &length);

	ok(kind == want && (kind != RANGE_PART ||
			    (offset == want_offset && length == want_length)),
	   header ? header : "no range");
}

static void test_ranges(void)
{
	check_range(NULL, 10, RANGE_ALL, 0, 0);
	check_range("bytes=0-0", 10, RANGE_PART, 0, 1);
	check_range("bytes=2-5", 10, RANGE_PART, 2, 4);
	check_range("Bytes= 2-5 ", 10, RANGE_PART, 2, 4);
	check_range("bytes=2-", 10, RANGE_PART, 2, 8);
	check_range("bytes=2-99", 10, RANGE_PART, 2, 8);
	check_range("bytes=-3", 10, RANGE_PART, 7, 3);
	check_range("bytes=-99", 10, RANGE_PART, 0, 10);
	check_range("bytes=10-", 10, RANGE_BAD, 0, 0);
	check_range("bytes=-0", 10, RANGE_BAD, 0, 0);
	check_range("bytes=0-", 0, RANGE_BAD, 0, 0);
	check_range("bytes=99999999999999999999-", 10, RANGE_BAD, 0, 0);
	check_range("bytes=1-99999999999999999999", 10, RANGE_PART, 1, 9);
	check_range("bytes=5-2", 10, RANGE_ALL, 0, 0);
	check_range("bytes=0-1,3-4", 10, RANGE_ALL, 0, 0);
	check_range("bytes=", 10, RANGE_ALL, 0, 0);
	check_range("bytes=-", 10, RANGE_ALL, 0, 0);
	check_range("bytes=a-b", 10, RANGE_ALL, 0, 0);
	check_range("lines=1-2", 10, RANGE_ALL, 0, 0);
}

static void test_etags(void)
{
	struct stat st = { .st_ino = 7, .st_size = 5 };
	char a[ETAG_LEN], b[ETAG_LEN];

	etag_of(&st, a);
	st.st_mtim.tv_nsec = 1;
	etag_of(&st, b);
	ok(strcmp(a, b) != 0, "a nanosecond makes another tag");
	ok(etag_listed("\"a\", W/\"b\"", "\"b\""), "a tag in a list");
	ok(etag_listed("*", "\"b\""), "any tag");
	ok(!etag_listed("\"a,\"", "\"b\""), "a tag that is not there");
	ok(!etag_listed("", "\"b\""), "no tags");
}

static int on_part(void *arg, const char *name, const char *filename,
		   struct sb_err *err)
{
	buf_addf(arg, "[%s|%s|", name, filename ? filename : "-");
	return 0;
}

static int on_data(void *arg, const char *data, size_t len, struct sb_err *err)
{
	buf_add(arg, data, len);
	return 0;
}

static int on_part_end(void *arg, struct sb_err *err)
{
	buf_adds(arg, "]");
	return 0;
}

static const struct multipart_ops ops = {
	.on_part = on_part,
	.on_data = on_data,
	.on_part_end = on_part_end,
};

/* What the form is read as, fed step bytes at a time; the caller's. */
static char *read_form(const char *body, size_t step)
{
	struct buf out = { 0 };
	struct sb_err err;
	struct multipart *m = multipart_new(
		"multipart/form-data; boundary=\"XX\"", &ops, &out, &err);
	size_t len = strlen(body);
	int r = 0;

	buf_adds(&out, "");
	for (size_t i = 0; r == 0 && i < len; i += step)
		r = multipart_feed(m, body + i, MIN(step, len - i), &err);
	if (r < 0 || multipart_end(m, &err) < 0)
		buf_addf(&out, "!%s", err.msg);
	multipart_free(m);
	return out.p;
}

#define PART(head, data) "--XX\r\n" head "\r\n\r\n" data "\r\n"
#define NAMED(name) "Content-Disposition: form-data; name=\"" name "\""

static void test_forms(void)
{
	static const char good[] = "ignored\r\n" PART(NAMED("a"), "1\r\n--X")
		PART(NAMED("b") "; filename=\"x \\\"y\\\\z;.txt\"\r\n"
				"Content-Type: text/plain",
		     "") PART("content-disposition: form-data; name=c",
			      "--XX\r\r\n") "--XX--\r\nmore";
	struct sb_err err;
	bool same = true;

	for (size_t step = 1; step < sizeof(good); step++) {
		autofree char *got = read_form(good, step);

		same = same && strcmp(got, "[a|-|1\r\n--X]"
					   "[b|x \"y\\z;.txt|]"
					   "[c|-|--XX\r\r\n]") == 0;
	}
	ok(same, "a form, however it is cut");
	for (size_t i = 0; i < 5; i++) {
		static const char *const bad[] = {
			"",
			"--XX\r\n",
			PART(NAMED("a"), "1"),
			"--XXy\r\n",
			PART("X: y", "1") "--XX--",
		};
		autofree char *got = read_form(bad[i], 1000);

		ok(strchr(got, '!'), "a form that is not whole");
	}
	ok(!multipart_new("multipart/form-data", &ops, NULL, &err),
	   "no boundary");
	ok(!multipart_new("text/plain; boundary=x", &ops, NULL, &err),
	   "no form");
	ok(!multipart_new(NULL, &ops, NULL, &err), "no type");
}

static void test_globs(void)
{
	ok(glob_match("*.c", "a/b.c"), "a name in any folder");
	ok(glob_match("**/*.c", "b.c"), "** is no folder");
	ok(glob_match("**/*.c", "x/y/b.c"), "** is two folders");
	ok(glob_match("x/**", "x/y/b.c"), "** at the end");
	ok(glob_match("x/**/z/*.c", "x/a/z/z/b.c"), "** in the middle");
	ok(!glob_match("x/*.c", "x/y/b.c"), "* does not pass a slash");
	ok(!glob_match("x/**/q", "x/y/b.c"), "no match");
	ok(glob_match("**", "a/b"), "everything");
}

static void test_base64(void)
{
	size_t len;
	autofree char *a = base64_decode("Yf8AYg==", 8, &len);

	ok(a && len == 4 && memcmp(a, "a\xff\0b", 4) == 0, "base64");
	ok(!base64_decode("Yf8", 3, &len), "too short");
	ok(!base64_decode("Yf8 ", 4, &len), "a space");
	ok(!base64_decode("Y===", 4, &len), "too much padding");
	ok(!base64_decode("Yf=A", 4, &len), "padding in the middle");
}

/* The clock of files has gone on since this one was written. */
static void wait_for_tick(const char *path)
{
	struct timespec now;
	struct stat st;

	if (stat(path, &st) < 0)
		abort();
	do
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	while (now.tv_sec == st.st_ctim.tv_sec &&
	       now.tv_nsec <= st.st_ctim.tv_nsec);
}

static void test_changes(void)
{
	autofree char *a = NULL, *d = NULL, *e = NULL;
	struct files_moment *m;
	autojson json_t *j = json_object();
	const json_t *files;

	scratch_init();
	a = scratch_file("a", "1");
	free(scratch_file("b", "1"));
	free(scratch_file("c", "1"));
	d = scratch_file("d", "1");
	wait_for_tick(d);
	/* It sees a, b and c; then b, c, d and so on move up. */
	m = files_moment_new(scratch_dir, NULL, 3);
	unlink(a);
	files_changed(m, j);
	files = json_object_get(j, "files");
	ok(json_array_size(files) == 0 && json_bool_or(j, "files_truncated", 0),
	   "one that was not looked at is not new");
	unlink(d);
	e = scratch_file("e.png", "22");
	files_changed(m, j);
	files = json_object_get(j, "files");
	ok(json_array_size(files) == 1 &&
		   strcmp(json_str_or(json_array_get(files, 0), "content", ""),
			  "MjI=") == 0,
	   "but one that was made since is");
	files_moment_free(m);
	m = files_moment_new("/nonexistent", NULL, 3);
	files_changed(m, j);
	ok(json_array_size(json_object_get(j, "files")) == 0 &&
		   !json_bool_or(j, "files_truncated", 1),
	   "no folder, no files");
	files_moment_free(m);
	ok(strcmp(mime_of_name("/a.b/X.PNG"), "image/png") == 0 &&
		   strcmp(mime_of_name("/a.png/x"),
			  "application/octet-stream") == 0,
	   "MIME types");
}

int main(void)
{
	test_ranges();
	test_etags();
	test_forms();
	test_globs();
	test_base64();
	test_changes();
	return tap_done();
}
