/* SPDX-License-Identifier: Apache-2.0 */
/* The store of a process's output gives back what was put in, everywhere. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "guest/output.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define BIG (3 * 1024 * 1024)

/* What the store should hold. */
struct model {
	struct buf stream[OUTPUT_NSTREAMS];
	struct buf origin; /* of each byte of the merged one */
};

static void model_done(struct model *m)
{
	for (int i = 0; i < OUTPUT_NSTREAMS; i++)
		buf_done(&m->stream[i]);
	buf_done(&m->origin);
}

static void put(struct output *o, struct model *m, enum output_stream s,
		const char *data, size_t len)
{
	char from = (char)s;

	output_add(o, s, data, len);
	buf_add(&m->stream[s], data, len);
	buf_add(&m->stream[OUTPUT_MERGED], data, len);
	for (size_t i = 0; i < len; i++)
		buf_add(&m->origin, &from, 1);
}

static bool same_from(const struct output *o, const struct model *m,
		      enum output_stream s, size_t offset, size_t max)
{
	autofree char *got = xmalloc(max + 1);
	size_t left = m->stream[s].len - offset;
	size_t n = output_read(o, s, offset, got, max);

	return n == MIN(left, max) &&
	       (!n || memcmp(got, m->stream[s].p + offset, n) == 0);
}

static bool same_everywhere(const struct output *o, const struct model *m)
{
	bool good = true;

	for (int s = 0; s < OUTPUT_NSTREAMS; s++) {
		size_t len = m->stream[s].len;

		good = good && output_kept(o, s) == len;
		good = good && same_from(o, m, s, 0, len + 100);
		for (int i = 0; good && i < 300; i++)
			good = same_from(o, m, s, random() % (len + 1),
					 random() % 100000);
	}
	return good;
}

static bool pieces_agree(const struct output *o, const struct model *m)
{
	uint64_t at[OUTPUT_NSTREAMS] = { 0 };
	enum output_stream s;
	uint64_t offset;
	char got[1000];
	size_t n;

	while ((n = output_read_piece(o, at[OUTPUT_MERGED], got, sizeof(got),
				      &s, &offset))) {
		if (offset != at[s] ||
		    memcmp(got, m->stream[OUTPUT_MERGED].p + at[OUTPUT_MERGED],
			   n) != 0)
			return false;
		for (size_t i = 0; i < n; i++)
			if (m->origin.p[at[OUTPUT_MERGED] + i] != (char)s)
				return false;
		at[s] += n;
		at[OUTPUT_MERGED] += n;
	}
	return at[OUTPUT_MERGED] == m->stream[OUTPUT_MERGED].len;
}

static void test_empty(const char *dir)
{
	autooutput struct output *o = output_new(dir);
	enum output_stream s;
	uint64_t offset;
	char c;

	is_int(output_read(o, OUTPUT_MERGED, 0, &c, 1), 0, "nothing to read");
	is_int(output_read(o, OUTPUT_STDERR, 99, &c, 1), 0, "nor behind it");
	is_int(output_read_piece(o, 0, &c, 1, &s, &offset), 0, "no piece");
}

static void test_pieces(const char *dir, size_t total, size_t largest,
			const char *what)
{
	autooutput struct output *o = output_new(dir);
	autofree char *data = xmalloc(largest);
	struct model m = { 0 };

	while (m.stream[OUTPUT_MERGED].len < total) {
		size_t n = 1 + random() % largest;

		for (size_t i = 0; i < n; i++)
			data[i] = (char)random();
		put(o, &m, random() % 2, data, n);
	}
	ok(same_everywhere(o, &m), what);
	ok(pieces_agree(o, &m), "piece by piece, too");
	is_int(output_total(o, OUTPUT_MERGED), m.stream[OUTPUT_MERGED].len,
	       "nothing was dropped");
	model_done(&m);
}

static void test_limit(const char *dir)
{
	autooutput struct output *o = output_new(dir);
	autofree char *data = xcalloc(1, 1024 * 1024);
	uint64_t kept;
	char c = 'x';

	for (int i = 0; i < 70; i++)
		output_add(o, OUTPUT_STDOUT, data, 1024 * 1024);
	kept = output_kept(o, OUTPUT_STDOUT);
	ok(kept <= OUTPUT_MAX && kept > OUTPUT_MAX - 1024 * 1024,
	   "as much is kept as may be");
	is_int(output_total(o, OUTPUT_STDOUT), 70 * 1024 * 1024,
	       "all of it is counted");
	output_add(o, OUTPUT_STDERR, "x", 1);
	is_int(output_kept(o, OUTPUT_STDERR), 0, "nothing comes after a gap");
	is_int(output_read(o, OUTPUT_STDOUT, kept - 1, &c, 1), 1,
	       "the last byte is there");
	is_int(c, 0, "and is the right one");
}

/* What was let go makes room, and the rest is where it was. */
static void test_forget(const char *dir)
{
	autooutput struct output *o = output_new(dir);
	autofree char *data = xcalloc(1, 1024 * 1024);
	enum output_stream stream;
	uint64_t offset, first;
	char c;

	for (int i = 0; i < 200; i++) {
		memset(data, i, 1024 * 1024);
		output_add(o, i % 2, data, 1024 * 1024);
		output_forget(o, (uint64_t)i * 1024 * 1024);
	}
	first = output_first(o);
	ok(first > 190 * 1024 * 1024 && first <= 199 * 1024 * 1024,
	   "the old output is let go");
	is_int(output_kept(o, OUTPUT_MERGED), 200 * 1024 * 1024,
	       "so that all of it found room");
	is_int(output_read(o, OUTPUT_MERGED, first - 1, &c, 1), 0,
	       "what was let go cannot be read");
	is_int(output_read_piece(o, 199 * 1024 * 1024 + 5, &c, 1, &stream,
				 &offset),
	       1, "what was not can");
	ok(c == (char)199 && stream == 1 && offset == 99 * 1024 * 1024 + 5,
	   "  in its place");
}

static void test_no_file(void)
{
	autooutput struct output *o = output_new("/proc/self/none");
	autofree char *data = xcalloc(1, OUTPUT_MEMORY);
	char c;

	output_add(o, OUTPUT_STDOUT, "abc", 3);
	output_add(o, OUTPUT_STDOUT, data, OUTPUT_MEMORY);
	is_int(output_kept(o, OUTPUT_STDOUT), 3,
	       "without a disk, what is in memory stays");
	ok(output_read(o, OUTPUT_STDOUT, 2, &c, 1) == 1 && c == 'c',
	   "and can be read");
}

int main(void)
{
	const char *dir = scratch_dir;

	scratch_init();
	srandom(1);
	test_empty(dir);
	test_pieces(dir, 1000, 10, "in memory");
	test_pieces(dir, OUTPUT_MEMORY, 1, "single bytes");
	test_pieces(dir, BIG, 5000, "in a file");
	test_pieces(dir, BIG, 200000, "in large pieces");
	test_limit(dir);
	test_forget(dir);
	test_no_file();
	return tap_done();
}
