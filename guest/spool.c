/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of bytes.  The oldest are in memory and all others in the file: as
 * long as there is one, nothing is added to memory.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "guest/spool.h"

#define GIVE_BACK_STEP (1024 * 1024)

struct spool {
	const char *dir;
	size_t memory;
	uint64_t max;
	struct buf mem;
	size_t taken; /* of mem */
	int fd;	      /* -1: nothing is in a file */
	/* Of the file: what is given back, and what was not taken. */
	uint64_t given_back, first, end;
};

static size_t in_memory;  /* bytes of all spools */
static uint64_t in_files; /* and on the disk */

struct spool *spool_new(const char *dir, size_t memory, uint64_t max)
{
	struct spool *q = xcalloc(1, sizeof(*q));

	q->dir = dir;
	q->memory = memory;
	q->max = max;
	q->fd = -1;
	return q;
}

static void drop_memory(struct spool *q)
{
	in_memory -= q->mem.len;
	buf_done(&q->mem);
	q->taken = 0;
}

static void drop_file(struct spool *q)
{
	in_files -= q->end - q->given_back;
	q->given_back = q->first = q->end = 0;
	util_close(&q->fd);
	q->fd = -1;
}

void spool_free(struct spool *q)
{
	if (!q)
		return;
	drop_memory(q);
	drop_file(q);
	free(q);
}

static size_t memory_len(const struct spool *q)
{
	return q->mem.len - q->taken;
}

uint64_t spool_len(const struct spool *q)
{
	return memory_len(q) + q->end - q->first;
}

static bool fits_memory(const struct spool *q, size_t len)
{
	return q->fd < 0 && memory_len(q) + len <= q->memory &&
	       in_memory + len <= SPOOL_MEMORY_ALL;
}

static void put_memory(struct spool *q, const void *data, size_t len)
{
	/* Only when there is need, for the rest of it is moved. */
	if (q->mem.len + len > q->memory) {
		in_memory -= q->taken;
		buf_drop(&q->mem, q->taken);
		q->taken = 0;
	}
	buf_add(&q->mem, data, len);
	in_memory += len;
}

static int put_file(struct spool *q, const void *data, size_t len,
		    struct sb_err *err)
{
	if (q->fd < 0)
		q->fd = open(q->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (q->fd >= 0 && fs_write_at(q->fd, data, len, (off_t)q->end) == 0) {
		q->end += len;
		in_files += len;
		return 0;
	}
	sb_fail(err, sb_code_of_errno(errno),
		"cannot write to a file in '%s': %m", q->dir);
	if (q->first == q->end)
		drop_file(q);
	return -1;
}

int spool_put(struct spool *q, const void *data, size_t len, struct sb_err *err)
{
	/* What could not be given back still counts. */
	uint64_t kept = memory_len(q) + q->end - q->given_back;

	if (kept + len > q->max)
		return sb_fail(err, SB_LIMIT,
			       "more than %llu bytes have not been read",
			       (unsigned long long)q->max);
	if (fits_memory(q, len)) {
		put_memory(q, data, len);
		return 0;
	}
	if (in_files + len > SPOOL_FILES_ALL)
		return sb_fail(err, SB_LIMIT,
			       "more than %d bytes wait for slow readers",
			       SPOOL_FILES_ALL);
	return put_file(q, data, len, err);
}

static size_t take_memory(struct spool *q, void *data, size_t max)
{
	size_t n = MIN(max, memory_len(q));

	memcpy(data, q->mem.p + q->taken, n);
	q->taken += n;
	if (!memory_len(q))
		drop_memory(q);
	return n;
}

/*
 * In steps, for each is a call to the kernel; and from the beginning, as a
 * block is only given back when all of it is.
 */
static void give_back(struct spool *q)
{
	if (q->first == q->end) {
		drop_file(q);
		return;
	}
	if (q->first - q->given_back < GIVE_BACK_STEP ||
	    fallocate(q->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		      (off_t)q->first) < 0)
		return;
	in_files -= q->first - q->given_back;
	q->given_back = q->first;
}

int spool_take(struct spool *q, void *data, size_t max, size_t *ret_len,
	       struct sb_err *err)
{
	size_t n;

	if (memory_len(q)) {
		*ret_len = take_memory(q, data, max);
		return 0;
	}
	n = MIN(max, q->end - q->first);
	if (n && fs_read_at(q->fd, data, n, (off_t)q->first) != (ssize_t)n)
		return sb_fail(err, SB_SYSTEM, "cannot read a file in '%s': %m",
			       q->dir);
	q->first += n;
	*ret_len = n;
	if (n)
		give_back(q);
	return 0;
}
