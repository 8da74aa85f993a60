/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a log that rotates. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log-line.h"
#include "common/log-read.h"
#include "common/util.h"

#define BLOCK (64 * 1024)

struct log_reader {
	log_opener open;
	void *arg;
	int fd; /* -1: there was none yet */
	ino_t ino;
	off_t at; /* of the first byte that was not returned */
	struct buf block;
	size_t used; /* bytes of block that were returned */
};

struct log_reader *log_reader_new(log_opener open, void *arg)
{
	struct log_reader *r = xcalloc(1, sizeof(*r));

	r->open = open;
	r->arg = arg;
	r->fd = -1;
	return r;
}

void log_reader_free(struct log_reader *r)
{
	if (!r)
		return;
	util_close(&r->fd);
	buf_done(&r->block);
	free(r);
}

static int open_file(const struct log_reader *r, bool older, struct stat *st)
{
	int fd = r->open(r->arg, older);

	if (fd >= 0 && fstat(fd, st) == 0)
		return fd;
	util_close(&fd);
	return -1;
}

/* Go on in another file. */
static void enter(struct log_reader *r, int fd /* takes */, ino_t ino, off_t at)
{
	util_close(&r->fd);
	r->fd = fd;
	r->ino = ino;
	r->at = at;
	r->block.len = r->used = 0;
}

/* The last bytes of a file, of which there are size. */
static void read_end(int fd, off_t size, size_t bytes, struct buf *ret)
{
	ret->len = 0;
	while (ret->len < bytes) {
		char block[BLOCK];
		ssize_t n = pread(fd, block,
				  MIN(sizeof(block), bytes - ret->len),
				  size - (off_t)(bytes - ret->len));

		if (n <= 0)
			return;
		buf_add(ret, block, n);
	}
}

/*
 * Where in text the last lines begin, counting *lines down.  whole is whether
 * text begins with a line's beginning.  -1 if it may be before text.
 */
static ssize_t find_lines(const struct buf *text, bool whole, long long *lines,
			  int64_t since_ms)
{
	const char *p = text->p;
	size_t end = text->len, first = end; /* that is not too old */

	if (end && p[end - 1] == '\n')
		end--;
	while (end && *lines > 0) {
		const char *nl = memrchr(p, '\n', end);
		size_t start = nl ? (size_t)(nl - p) + 1 : 0;
		int64_t time;

		if (!nl && !whole)
			return -1;
		time = log_line_time(p + start, end - start);
		/* Lines without a time belong to the one before them. */
		if (time >= 0 && time < since_ms) {
			*lines = 0;
			return (ssize_t)first;
		}
		if (time >= 0)
			first = start;
		--*lines;
		if (!nl || !*lines)
			return (ssize_t)start;
		end = start - 1;
	}
	if (*lines <= 0)
		return (ssize_t)text->len;
	return whole ? 0 : -1;
}

/* The same in a file; *lines is 0 when no older file is wanted. */
static off_t find_tail(int fd, off_t size, long long *lines, int64_t since_ms)
{
	autobuf struct buf text = { 0 };

	for (size_t max = BLOCK;; max = MIN(max * 4, LOG_READ_MAX_TAIL)) {
		size_t bytes = MIN((size_t)size, max);
		long long left = *lines;
		ssize_t at;

		read_end(fd, size, bytes, &text);
		at = find_lines(&text, bytes == (size_t)size, &left, since_ms);
		if (at < 0 && max < LOG_READ_MAX_TAIL)
			continue;
		if (at < 0) { /* all that we are ready to look at */
			const char *nl = memchr(text.p, '\n', text.len);

			at = nl ? nl - text.p + 1 : 0;
			left = 0;
		}
		*lines = left;
		return size - (off_t)bytes + at;
	}
}

void log_reader_tail(struct log_reader *r, long long lines, int64_t since_ms)
{
	struct stat st = { 0 }, old_st = { 0 };
	int fd = open_file(r, false, &st), old = -1;
	off_t at = 0, old_at;

	if (fd >= 0)
		at = find_tail(fd, st.st_size, &lines, since_ms);
	if (lines > 0)
		old = open_file(r, true, &old_st);
	/* It may have become the older one since it was opened. */
	if (old < 0 || (fd >= 0 && old_st.st_ino == st.st_ino)) {
		util_close(&old);
		enter(r, fd, st.st_ino, at);
		return;
	}
	old_at = find_tail(old, old_st.st_size, &lines, since_ms);
	enter(r, old, old_st.st_ino, old_at);
	util_close(&fd);
}

/* Go to the first line of all. */
static void rewind_all(struct log_reader *r)
{
	struct stat st = { 0 };
	int fd = open_file(r, true, &st);

	if (fd < 0)
		fd = open_file(r, false, &st);
	enter(r, fd, st.st_ino, 0);
}

int log_reader_seek(struct log_reader *r, const char *id, struct sb_err *err)
{
	unsigned long long ino, at;
	int end = 0;

	if (strlen(id) >= LOG_READ_ID ||
	    sscanf(id, "%llx-%llx%n", &ino, &at, &end) != 2 || id[end])
		return sb_fail(err, SB_INVALID,
			       "'%.48s' is not a place in a log", id);
	for (int older = 0; older < 2; older++) {
		struct stat st;
		int fd = open_file(r, older, &st);

		if (fd >= 0 && st.st_ino == ino &&
		    at <= (unsigned long long)st.st_size) {
			enter(r, fd, st.st_ino, (off_t)at);
			return 0;
		}
		util_close(&fd);
	}
	rewind_all(r);
	return 0;
}

/* Read more of the file; false at its end. */
static bool fill(struct log_reader *r)
{
	char block[BLOCK];
	struct stat st;
	ssize_t n;

	if (r->fd < 0)
		return false;
	buf_drop(&r->block, r->used);
	r->used = 0;
	if (fstat(r->fd, &st) == 0 &&
	    st.st_size < r->at + (off_t)r->block.len) {
		r->at = 0; /* it was truncated */
		r->block.len = 0;
	}
	n = pread(r->fd, block, sizeof(block), r->at + (off_t)r->block.len);
	if (n <= 0)
		return false;
	buf_add(&r->block, block, n);
	return true;
}

/* The file that comes after the present one, if that has been renamed. */
static int open_successor(const struct log_reader *r, ino_t *ret_ino)
{
	struct stat st, old_st;
	int fd = open_file(r, false, &st), old;

	if (fd < 0 || (r->fd >= 0 && st.st_ino == r->ino)) {
		util_close(&fd);
		return -1;
	}
	/* It may have happened twice. */
	old = r->fd >= 0 ? open_file(r, true, &old_st) : -1;
	if (old >= 0 && old_st.st_ino != r->ino && old_st.st_ino != st.st_ino) {
		util_close(&fd);
		*ret_ino = old_st.st_ino;
		return old;
	}
	util_close(&old);
	*ret_ino = st.st_ino;
	return fd;
}

static void take(struct log_reader *r, size_t len, size_t end, const char **ret,
		 size_t *ret_len)
{
	*ret = r->block.p + r->used;
	*ret_len = len;
	r->used += len + end;
	r->at += (off_t)(len + end);
}

bool log_reader_next(struct log_reader *r, bool at_end, const char **ret,
		     size_t *ret_len)
{
	for (;;) {
		size_t rest = r->block.len - r->used;
		const char *p = rest ? r->block.p + r->used : "";
		const char *nl = memchr(p, '\n', MIN(rest, LOG_READ_MAX_LINE));
		ino_t ino = 0;
		int next;

		if (nl || rest >= LOG_READ_MAX_LINE) {
			take(r, nl ? (size_t)(nl - p) : LOG_READ_MAX_LINE,
			     nl != NULL, ret, ret_len);
			return true;
		}
		if (fill(r))
			continue;
		next = open_successor(r, &ino);
		/* Once it is renamed, nothing is added to it any more. */
		if (next >= 0 && fill(r)) {
			util_close(&next);
			continue;
		}
		rest = r->block.len - r->used;
		if (rest && (at_end || next >= 0)) {
			util_close(&next);
			take(r, rest, 0, ret, ret_len);
			return true;
		}
		if (next < 0)
			return false;
		enter(r, next, ino, 0);
	}
}

size_t log_reader_bytes(struct log_reader *r, const char **ret)
{
	for (;;) {
		size_t len = r->block.len - r->used;
		ino_t ino = 0;
		int next;

		if (len) {
			take(r, len, 0, ret, &len);
			return len;
		}
		if (fill(r))
			continue;
		next = open_successor(r, &ino);
		if (next < 0)
			return 0;
		if (fill(r))
			util_close(&next);
		else
			enter(r, next, ino, 0);
	}
}

void log_reader_id(const struct log_reader *r, char ret[LOG_READ_ID])
{
	snprintf(ret, LOG_READ_ID, "%llx-%llx", (unsigned long long)r->ino,
		 (unsigned long long)r->at);
}
