/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a tar stream from a guest: ustar, and the extended headers of GNU and
 * pax for what does not fit there.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/tar.h"
#include "common/tree.h"

/* Extended headers hold little more than two paths. */
#define META_MAX (64 * 1024)
/* tar fills its last record with zeros; more than that is no tar. */
#define TRAILER_MAX (1024 * 1024)

enum state {
	ST_HEADER,
	ST_META, /* the body of an extended header */
	ST_BODY, /* the body of a file, or one that is skipped */
	ST_END,	 /* behind the end mark */
};

struct tar_reader {
	struct tree tree;
	enum state state;
	struct buf block; /* the header or extended header so far */
	struct tar_header h;
	uint64_t left;	      /* bytes of the body to come */
	unsigned int padding; /* zeros behind the body */
	int fd;		      /* the file that the body goes to, or -1 */
	/* From extended headers, for the next entry; path and link owned. */
	char *path, *link;
	int64_t size; /* -1: none */
	unsigned int zero_blocks;
	size_t trailer;
};

struct tar_reader *tar_reader_new(int dir_fd, const char *name)
{
	struct tar_reader *r = xcalloc(1, sizeof(*r));

	r->tree = (struct tree){ .dir_fd = dir_fd, .name = name };
	r->fd = -1;
	r->size = -1;
	return r;
}

static void drop_extended(struct tar_reader *r)
{
	free(r->path);
	free(r->link);
	r->path = r->link = NULL;
	r->size = -1;
}

void tar_reader_free(struct tar_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	drop_extended(r);
	buf_done(&r->block);
	free(r);
}

static int bad(struct sb_err *err, const char *what)
{
	return sb_fail(err, SB_GUEST, "the guest sent a bad archive: %s", what);
}

/* Octal, with spaces or NULs around it, or base 256; -1 if it is neither. */
static int64_t number(const char *field, size_t len)
{
	uint64_t v = 0;
	size_t i = 0;

	if ((unsigned char)field[0] == 0x80) {
		for (i = 1; i < len; i++) {
			if (v >> 55)
				return -1;
			v = v << 8 | (unsigned char)field[i];
		}
		return v;
	}
	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++) {
		if (v >> 60)
			return -1;
		v = v << 3 | (field[i] - '0');
	}
	if (i < len && field[i] != ' ' && field[i] != '\0')
		return -1;
	return v;
}

static char *header_path(const struct tar_header *h)
{
	/* GNU's own form has other things where ustar has the prefix. */
	if (memcmp(h->magic, "ustar", 6) == 0 && h->prefix[0])
		return xasprintf("%.*s/%.*s", (int)sizeof(h->prefix), h->prefix,
				 (int)sizeof(h->name), h->name);
	return xstrndup(h->name, sizeof(h->name));
}

/* Make what the header tells; its body, if any, goes to r->fd. */
static int make_entry(struct tar_reader *r, struct sb_err *err)
{
	autofree char *path = r->path ? steal(&r->path) : header_path(&r->h);
	autofree char *link = r->link ? steal(&r->link)
				      : xstrndup(r->h.link, sizeof(r->h.link));
	mode_t mode = number(r->h.mode, sizeof(r->h.mode));

	drop_extended(r);
	switch (r->h.type) {
	case '0':
	case '7':
	case '\0':
		return tree_make_file(&r->tree, path, mode, &r->fd, err);
	case '1':
		return tree_make_hardlink(&r->tree, path, link, err);
	case '2':
		return tree_make_symlink(&r->tree, path, link, err);
	case '5':
		return tree_make_dir(&r->tree, path, mode, err);
	default:
		return sb_fail(err, SB_DENIED,
			       "'%s' is neither file, folder nor link", path);
	}
}

static int set_size(struct tar_reader *r, int64_t size, struct sb_err *err)
{
	if (size < 0)
		return bad(err, "a size is no number");
	r->left = size;
	r->padding = -(uint64_t)size & (TAR_BLOCK - 1);
	return 0;
}

static bool is_zero(const struct tar_header *h)
{
	const char *p = (const char *)h;

	return p[0] == 0 && memcmp(p, p + 1, TAR_BLOCK - 1) == 0;
}

static void replace(char **p, const char *value, size_t len)
{
	free(*p);
	*p = xstrndup(value, len);
}

/* One record of a pax header: "LENGTH KEY=VALUE\n". */
static int on_pax(struct tar_reader *r, char *key, size_t len,
		  struct sb_err *err)
{
	char *value = memchr(key, '=', len);
	long long size;
	size_t n;

	if (!value)
		return bad(err, "a record has no value");
	*value++ = '\0';
	n = key + len - value;
	if (memchr(value, '\0', n))
		return bad(err, "a name holds a NUL");
	if (strcmp(key, "path") == 0)
		replace(&r->path, value, n);
	else if (strcmp(key, "linkpath") == 0)
		replace(&r->link, value, n);
	else if (strcmp(key, "size") == 0) {
		if (parse_num(value, 0, INT64_MAX, &size) < 0)
			return bad(err, "a size is no number");
		r->size = size;
	}
	return 0;
}

static int on_pax_records(struct tar_reader *r, struct sb_err *err)
{
	char *p = r->block.p, *end = p + r->block.len;

	while (p < end) {
		char *rest;
		unsigned long len = strtoul(p, &rest, 10);

		if (*rest != ' ' || len > (size_t)(end - p) ||
		    p + len <= rest + 1 || p[len - 1] != '\n')
			return bad(err, "a record has a wrong length");
		p[len - 1] = '\0';
		if (on_pax(r, rest + 1, p + len - 1 - (rest + 1), err) < 0)
			return -1;
		p += len;
	}
	return 0;
}

static int on_meta(struct tar_reader *r, struct sb_err *err)
{
	int rc = 0;

	/* buf keeps a NUL behind the bytes, also behind none. */
	buf_add(&r->block, "", 0);
	if (r->h.type == 'L')
		replace(&r->path, r->block.p, r->block.len);
	else if (r->h.type == 'K')
		replace(&r->link, r->block.p, r->block.len);
	else
		rc = on_pax_records(r, err);
	r->block.len = 0;
	return rc;
}

/* The body of an entry is complete; its padding may follow. */
static int end_body(struct tar_reader *r, struct sb_err *err)
{
	int rc = 0;

	if (r->state == ST_META)
		rc = on_meta(r, err);
	if (r->fd >= 0 && close(steal_fd(&r->fd)) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write a file: %m");
	return rc;
}

/* Act on an entry's header, and say what follows it. */
static int on_entry(struct tar_reader *r, struct sb_err *err)
{
	int64_t size = number(r->h.size, sizeof(r->h.size));
	char type = r->h.type;

	r->state = ST_BODY;
	if (type && strchr("LKx", type)) {
		if (size > META_MAX)
			return bad(err, "a name is too long");
		r->state = ST_META;
		return set_size(r, size, err);
	}
	if (type == 'g')
		return set_size(r, size, err);
	if (r->size >= 0)
		size = r->size;
	/* Only files have a body, whatever the field says of the others. */
	if (type && strchr("125", type))
		size = 0;
	if (set_size(r, size, err) < 0)
		return -1;
	return make_entry(r, err);
}

static int on_header(struct tar_reader *r, struct sb_err *err)
{
	memcpy(&r->h, r->block.p, sizeof(r->h));
	r->block.len = 0;
	if (is_zero(&r->h)) {
		if (++r->zero_blocks == 2)
			r->state = ST_END;
		return 0;
	}
	if (r->zero_blocks)
		return bad(err, "something follows its end");
	if (number(r->h.sum, sizeof(r->h.sum)) != tar_sum(&r->h))
		return bad(err, "a checksum is wrong");
	if (on_entry(r, err) < 0)
		return -1;
	return r->left ? 0 : end_body(r, err);
}

static int take_body(struct tar_reader *r, const char *data, size_t len,
		     struct sb_err *err)
{
	if (r->state == ST_META)
		buf_add(&r->block, data, len);
	else if (r->fd >= 0 && fs_write_all(r->fd, data, len) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write a file: %m");
	r->left -= len;
	return r->left ? 0 : end_body(r, err);
}

/* Use some of the bytes; returns how many, or -1. */
static ssize_t take(struct tar_reader *r, const char *data, size_t len,
		    struct sb_err *err)
{
	size_t n = len;

	switch (r->state) {
	case ST_HEADER:
		n = MIN(len, TAR_BLOCK - r->block.len);
		buf_add(&r->block, data, n);
		if (r->block.len == TAR_BLOCK && on_header(r, err) < 0)
			return -1;
		break;
	case ST_META:
	case ST_BODY:
		n = MIN(len, r->left ? r->left : r->padding);
		if (!r->left)
			r->padding -= n;
		else if (take_body(r, data, n, err) < 0)
			return -1;
		break;
	case ST_END:
		r->trailer += n;
		if (r->trailer > TRAILER_MAX)
			return bad(err, "it does not end");
		break;
	}
	return n;
}

int tar_reader_write(struct tar_reader *r, const char *data, size_t len,
		     struct sb_err *err)
{
	while (len) {
		ssize_t n = take(r, data, len, err);

		if (n < 0)
			return -1;
		data += n;
		len -= n;
		if ((r->state == ST_META || r->state == ST_BODY) && !r->left &&
		    !r->padding)
			r->state = ST_HEADER;
	}
	return 0;
}

int tar_reader_end(struct tar_reader *r, struct sb_err *err)
{
	if (r->state != ST_END || !r->tree.entries)
		return bad(err, "it is cut off");
	return 0;
}
