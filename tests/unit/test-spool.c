/* SPDX-License-Identifier: Apache-2.0 */
/* A spool gives back what was put in, in its order, and keeps nothing else. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/spool.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define PIECE 65536
#define MEMORY (4 * PIECE)
#define MOST (128 * PIECE)

/* The byte at a place of an endless text in which no two pages are alike. */
static char byte_at(uint64_t pos)
{
	return (char)((pos * 2654435761U) >> 13);
}

/* A spool, and what has gone through it. */
struct stream {
	struct spool *q;
	uint64_t in, out;
};

static int put(struct stream *s, size_t len, struct sb_err *err)
{
	char data[PIECE];

	for (size_t i = 0; i < len; i++)
		data[i] = byte_at(s->in + i);
	if (spool_put(s->q, data, len, err) < 0)
		return -1;
	s->in += len;
	return 0;
}

/* Whether there was something, and it was the right thing. */
static bool take(struct stream *s, size_t max)
{
	char data[PIECE];
	struct sb_err err;
	size_t n;

	if (spool_take(s->q, data, max, &n, &err) < 0 || !n || n > max)
		return false;
	for (size_t i = 0; i < n; i++)
		if (data[i] != byte_at(s->out + i))
			return false;
	s->out += n;
	return spool_len(s->q) == s->in - s->out;
}

static bool take_all(struct stream *s)
{
	while (spool_len(s->q))
		if (!take(s, PIECE))
			return false;
	return s->in == s->out;
}

/* Bytes on the disk of the file in the folder of this test; -1: none is open. */
static long long on_disk(void)
{
	for (int fd = 3; fd < 64; fd++) {
		autofree char *name = xasprintf("/proc/self/fd/%d", fd);
		char path[256] = "";
		struct stat st;

		if (readlink(name, path, sizeof(path) - 1) > 0 &&
		    str_starts(path, scratch_dir) && fstat(fd, &st) == 0)
			return (long long)st.st_blocks * 512;
	}
	return -1;
}

/* Without a folder for files: memory must do. */
static void test_memory(void)
{
	autospool struct spool *q = spool_new("/nonexistent", MEMORY, MOST);
	struct stream s = { .q = q };
	struct sb_err err;
	bool good = true;
	size_t n = 1;
	char c;

	ok(spool_take(q, &c, 1, &n, &err) == 0 && n == 0 && !spool_len(q),
	   "an empty one gives nothing");
	good = put(&s, PIECE, &err) == 0 && put(&s, PIECE, &err) == 0 &&
	       put(&s, PIECE, &err) == 0 && take(&s, 12345);
	for (int i = 0; i < 100; i++)
		good = good && put(&s, PIECE, &err) == 0 && take(&s, PIECE);
	ok(good, "what was taken makes room in memory");
	while (put(&s, 1000, &err) == 0)
		;
	ok(err.code == SB_NOTFOUND && spool_len(q) > MEMORY - 1000 &&
		   spool_len(q) <= MEMORY,
	   "where there can be no file, memory is all there is");
	ok(take_all(&s), "and what was put in before is whole");
	ok(put(&s, PIECE, &err) == 0 && take_all(&s), "it is used again");
}

static void test_file(void)
{
	autospool struct spool *q = spool_new(scratch_dir, MEMORY, MOST);
	struct stream s = { .q = q };
	struct sb_err err;
	bool good = true, filed = false;

	for (int i = 0; good && i < 4000; i++) {
		/* It grows for a while, then shrinks until it is empty. */
		bool fill = i / 200 % 2 == 0;
		size_t n = 1 + random() % (i % 4 ? PIECE : 10);

		if (spool_len(q) < MOST / 2 && random() % 4 < (fill ? 3 : 1))
			good = put(&s, n, &err) == 0;
		else if (spool_len(q))
			good = take(&s, n);
		filed = filed || on_disk() > 0;
	}
	ok(good && filed,
	   "all comes out in its order, through file and memory");
	ok(take_all(&s) && on_disk() < 0, "an empty one has no file");
	for (int i = 0; i < 20; i++)
		good = good && put(&s, PIECE, &err) == 0;
	ok(good && on_disk() > 0, "it gets another");
}

/* One that is never empty lets go of what is behind it. */
static void test_give_back(void)
{
	autospool struct spool *q = spool_new(scratch_dir, MEMORY, MOST);
	struct stream s = { .q = q };
	struct sb_err err;
	bool good = true;
	long long most = 0;

	for (int i = 0; i < 40; i++)
		good = good && put(&s, PIECE, &err) == 0;
	for (int i = 0; good && i < 10 * MOST / PIECE; i++) {
		good = put(&s, PIECE, &err) == 0 && take(&s, PIECE);
		most = MAX(most, on_disk());
	}
	ok(good, "ten times what it holds at most passes through");
	ok(most > 0 && most < 64 * PIECE, "its file stays small");
	ok(take_all(&s), "up to the last byte");
}

static void test_limits(void)
{
	autospool struct spool *q = spool_new(scratch_dir, MEMORY, MOST);
	struct stream s = { .q = q };
	struct sb_err err;

	while (put(&s, PIECE, &err) == 0)
		;
	ok(err.code == SB_LIMIT && spool_len(q) == MOST, "it has a limit");
	ok(take_all(&s) && put(&s, 1, &err) == 0 && take_all(&s),
	   "at which nothing is lost");
	spool_free(q);
	s.q = q = spool_new(scratch_dir, 2 * SPOOL_MEMORY_ALL,
			    4 * (uint64_t)SPOOL_MEMORY_ALL);
	while (spool_len(q) < SPOOL_MEMORY_ALL && put(&s, PIECE, &err) == 0)
		;
	ok(spool_len(q) == SPOOL_MEMORY_ALL && on_disk() < 0 &&
		   put(&s, PIECE, &err) == 0 && on_disk() > 0,
	   "so has the memory of all of them");
	ok(take_all(&s), "and the file goes on where memory ends");
}

static void test_full_disk(void)
{
	autospool struct spool *q = spool_new(scratch_dir, MEMORY, MOST);
	struct stream s = { .q = q };
	struct rlimit small, old;
	struct sb_err err;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 10 * PIECE + 100;
	setrlimit(RLIMIT_FSIZE, &small);
	while (put(&s, PIECE, &err) == 0)
		;
	ok(err.code == SB_SYSTEM && spool_len(q) == MEMORY + 10 * PIECE,
	   "what does not fit on the disk is refused");
	setrlimit(RLIMIT_FSIZE, &old);
	ok(put(&s, PIECE, &err) == 0 && take_all(&s),
	   "what came before and after that is whole");
}

int main(void)
{
	scratch_init();
	test_memory();
	test_file();
	test_give_back();
	test_limits();
	test_full_disk();
	return tap_done();
}
