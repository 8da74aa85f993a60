/* SPDX-License-Identifier: Apache-2.0 */
/* A local file or folder as a tar stream. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tar.h"

static_assert(sizeof(struct tar_header) == TAR_BLOCK, "tar header");

struct tar_writer {
	char *root;
	const char *name, *skip, *last; /* borrowed */
	FTS *fts;
	int fd; /* the file whose bytes follow */
	off_t left, padding;
	struct buf out; /* headers and padding, before those bytes */
	bool ended;
};

unsigned int tar_sum(const struct tar_header *h)
{
	const unsigned char *p = (const unsigned char *)h;
	const size_t from = offsetof(struct tar_header, sum);
	unsigned int sum = 0;

	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= from && i < from + sizeof(h->sum) ? ' ' : p[i];
	return sum;
}

int tar_writer_new(const char *path, const char *name, const char *skip,
		   const char *last, struct tar_writer **ret,
		   struct sb_err *err)
{
	autotarw struct tar_writer *w = xcalloc(1, sizeof(*w));

	w->fd = -1;
	w->name = name;
	w->skip = skip;
	w->last = last;
	/* A symlink that the user names is followed, those below are not. */
	w->root = realpath(path, NULL);
	if (!w->root)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot read '%s': %m", path);
	*ret = steal(&w);
	return 0;
}

void tar_writer_free(struct tar_writer *w)
{
	if (!w)
		return;
	if (w->fts)
		fts_close(w->fts);
	if (w->fd >= 0)
		close(w->fd);
	buf_done(&w->out);
	free(w->root);
	free(w);
}

static void pad_block(struct buf *b)
{
	static const char zeros[TAR_BLOCK];

	if (b->len % TAR_BLOCK)
		buf_add(b, zeros, TAR_BLOCK - b->len % TAR_BLOCK);
}

/* Octal, or base 256 where that is too short. */
static void put_size(char field[12], uint64_t size)
{
	if (size <= 077777777777) {
		char octal[13];

		snprintf(octal, sizeof(octal), "%011llo",
			 (unsigned long long)size);
		memcpy(field, octal, 12);
		return;
	}
	for (int i = 11; i > 0; i--, size >>= 8)
		field[i] = size & 0xff;
	field[0] = (char)0x80;
}

static void add_header(struct buf *b, char type, const char *name,
		       const char *link, const struct stat *st, off_t size)
{
	struct tar_header h = { .type = type, .magic = "ustar  " };

	memcpy(h.name, name, strnlen(name, sizeof(h.name)));
	memcpy(h.link, link, strnlen(link, sizeof(h.link)));
	snprintf(h.mode, sizeof(h.mode), "%07o",
		 (unsigned int)st->st_mode & 07777);
	memcpy(h.uid, "0000000", 8);
	memcpy(h.gid, "0000000", 8);
	put_size(h.size, size);
	put_size(h.mtime, MAX(st->st_mtime, 0));
	snprintf(h.sum, sizeof(h.sum), "%06o", tar_sum(&h));
	h.sum[7] = ' ';
	buf_add(b, &h, sizeof(h));
}

/* A name that does not fit its field comes before, as an entry of its own. */
static void add_long(struct buf *b, char type, const char *name)
{
	static const struct stat none;
	size_t len = strlen(name) + 1;

	if (len <= sizeof(((struct tar_header *)0)->name))
		return;
	add_header(b, type, "././@LongLink", "", &none, len);
	buf_add(b, name, len);
	pad_block(b);
}

static void add_entry(struct tar_writer *w, char type, const char *name,
		      const char *link, const struct stat *st)
{
	add_long(&w->out, 'K', link);
	add_long(&w->out, 'L', name);
	add_header(&w->out, type, name, link, st, w->left);
}

static int add_file(struct tar_writer *w, const char *path, const char *name,
		    struct sb_err *err)
{
	struct stat st;

	w->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (w->fd < 0 || fstat(w->fd, &st) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot read '%s': %m", path);
	if (!S_ISREG(st.st_mode))
		return sb_fail(err, SB_CONFLICT,
			       "'%s' changed while it was read", path);
	w->left = st.st_size;
	w->padding = -st.st_size & (TAR_BLOCK - 1);
	add_entry(w, '0', name, "", &st);
	return 0;
}

static int add_symlink(struct tar_writer *w, const FTSENT *e, const char *name,
		       struct sb_err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlink(e->fts_accpath, target, sizeof(target) - 1);

	if (n < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot read '%s': %m", e->fts_path);
	target[n] = '\0';
	add_entry(w, '2', name, target, e->fts_statp);
	return 0;
}

/* The next thing to send; NULL at the end and on failure (errno). */
static FTSENT *next_found(struct tar_writer *w)
{
	FTSENT *e;

	/* Not before it is needed: glibc leaks an FTS that was never read. */
	if (!w->fts)
		w->fts = fts_open((char *[]){ w->root, NULL },
				  FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!w->fts)
		return NULL;
	do {
		errno = 0;
		e = fts_read(w->fts);
	} while (e && (e->fts_info == FTS_DP ||
		       (w->skip && e->fts_level == 1 &&
			strcmp(e->fts_name, w->skip) == 0)));
	return e;
}

/* Put the next entry into out.  0, 1 at the end, -1 on failure. */
static int next_entry(struct tar_writer *w, struct sb_err *err)
{
	FTSENT *e = next_found(w);
	autofree char *name = NULL;
	const char *below;

	if (!e && errno)
		return sb_fail(err, SB_SYSTEM, "cannot read '%s': %m", w->root);
	if (!e)
		return 1;
	below = e->fts_level == 0 ? "" : e->fts_path + strlen(w->root);
	below += strspn(below, "/");
	name = xasprintf("%s%s%s%s", w->name, *below ? "/" : "", below,
			 e->fts_info == FTS_D ? "/" : "");
	switch (e->fts_info) {
	case FTS_D:
		add_entry(w, '5', name, "", e->fts_statp);
		return 0;
	case FTS_F:
		return add_file(w, e->fts_accpath, name, err);
	case FTS_SL:
	case FTS_SLNONE:
		return add_symlink(w, e, name, err);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return sb_fail(err, sb_code_of_errno(e->fts_errno),
			       "cannot read '%s': %s", e->fts_path,
			       strerror(e->fts_errno));
	default:
		if (!w->last)
			return 0;
		return sb_fail(err, SB_INVALID,
			       "'%s' is neither file, folder nor symlink",
			       e->fts_path);
	}
}

static void add_end(struct tar_writer *w)
{
	static const char zeros[2 * TAR_BLOCK];
	static const struct stat st = { .st_mode = 0600 };

	if (w->last)
		add_entry(w, '0', w->last, "", &st);
	buf_add(&w->out, zeros, sizeof(zeros));
	w->ended = true;
}

static ssize_t read_file(struct tar_writer *w, char *data, size_t max,
			 struct sb_err *err)
{
	static const char zeros[TAR_BLOCK];
	ssize_t n = read(w->fd, data, MIN((off_t)max, w->left));

	if (n < 0)
		return sb_fail(err, SB_SYSTEM, "cannot read below '%s': %m",
			       w->root);
	if (n == 0)
		return sb_fail(err, SB_CONFLICT,
			       "a file of '%s' shrank while it was read",
			       w->root);
	w->left -= n;
	if (w->left == 0)
		buf_add(&w->out, zeros, w->padding);
	return n;
}

ssize_t tar_writer_read(struct tar_writer *w, char *data, size_t max,
			struct sb_err *err)
{
	size_t n;

	while (!w->out.len && !w->left && !w->ended) {
		if (w->fd >= 0)
			close(steal_fd(&w->fd));
		switch (next_entry(w, err)) {
		case 0:
			break;
		case 1:
			add_end(w);
			break;
		default:
			return -1;
		}
	}
	if (!w->out.len && w->left)
		return read_file(w, data, max, err);
	n = MIN(max, w->out.len);
	if (n)
		memcpy(data, w->out.p, n);
	buf_drop(&w->out, n);
	return n;
}
