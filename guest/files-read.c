/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: text by lines or bytes, and what is known of a file. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/base64.h"
#include "guest/files.h"

#define BLOCK (64 * 1024)

struct range {
	long long start_line,
		end_line;	 /* from 1, both included; 0: not given */
	long long offset, limit; /* bytes */
	const char *encoding;
};

static int parse_range(const json_t *args, struct range *r, struct sb_err *err)
{
	r->limit = -1;
	if (files_arg_int(args, "start_line", 1, LLONG_MAX, &r->start_line,
			  err) < 0 ||
	    files_arg_int(args, "end_line", 1, LLONG_MAX, &r->end_line, err) <
		    0 ||
	    files_arg_int(args, "offset", 0, LLONG_MAX, &r->offset, err) < 0 ||
	    files_arg_int(args, "limit", 0, FILES_MAX_READ, &r->limit, err) <
		    0 ||
	    json_get_str(args, "encoding", &r->encoding, err) < 0)
		return -1;
	if ((r->start_line || r->end_line) && (r->offset || r->limit >= 0))
		return sb_fail(err, SB_INVALID,
			       "give either lines or offset and limit");
	if (r->end_line && r->end_line < MAX(r->start_line, 1))
		return sb_fail(err, SB_INVALID,
			       "'end_line' is before 'start_line'");
	if (r->encoding && strcmp(r->encoding, "utf-8") != 0 &&
	    strcmp(r->encoding, "base64") != 0)
		return sb_fail(err, SB_INVALID,
			       "'encoding' must be utf-8 or base64");
	return 0;
}

static int too_large(const char *path, struct sb_err *err)
{
	sb_fail(err, SB_LIMIT, "more than %d bytes of '%s' were asked for",
		FILES_MAX_READ, path);
	return sb_hint(err, "read parts with 'offset' and 'limit', or use "
			    "/v1/file/download");
}

/* size is what it is said to be: files of /proc say 0. */
static int read_bytes(int fd, const char *path, long long size,
		      const struct range *r, struct buf *out, bool *ret_more,
		      struct sb_err *err)
{
	size_t want = r->limit >= 0 ? (size_t)r->limit : FILES_MAX_READ;
	ssize_t n;

	if (r->offset && lseek(fd, r->offset, SEEK_SET) < 0)
		return files_fail(err, "read", path);
	/* One byte more than wanted tells whether there is more. */
	buf_reserve(out, MIN((size_t)MAX(size - r->offset, 0), want) + 1);
	do {
		buf_reserve(out, 1);
		n = read(fd, out->p + out->len,
			 MIN(out->cap - out->len - 1, want + 1 - out->len));
		if (n < 0)
			return files_fail(err, "read", path);
		out->len += n;
	} while (n > 0 && out->len <= want);
	out->p[out->len] = '\0';
	*ret_more = out->len > want;
	if (*ret_more && r->limit < 0)
		return too_large(path, err);
	if (*ret_more)
		out->p[--out->len] = '\0';
	return 0;
}

static int read_lines(int fd, const char *path, const struct range *r,
		      struct buf *out, bool *ret_more, struct sb_err *err)
{
	long long line = 1, last = r->end_line ? r->end_line : LLONG_MAX;
	char block[BLOCK];
	ssize_t n = 0;

	while (line <= last && (n = read(fd, block, sizeof(block))) > 0) {
		for (char *p = block, *end = block + n;
		     p < end && line <= last;) {
			char *nl = memchr(p, '\n', end - p);
			size_t len = nl ? nl + 1 - p : end - p;

			if (line >= r->start_line)
				buf_add(out, p, len);
			line += nl != NULL;
			p += len;
			*ret_more = p < end;
		}
		if (out->len > FILES_MAX_READ)
			return too_large(path, err);
	}
	if (n < 0)
		return files_fail(err, "read", path);
	if (line > last && !*ret_more)
		*ret_more = read(fd, block, 1) > 0;
	return 0;
}

static void put_content(json_t *j, const struct buf *b, const char *encoding)
{
	json_t *text = NULL;

	if (!encoding || strcmp(encoding, "utf-8") == 0) {
		text = json_text(b->p ? b->p : "", b->len);
		/* Asked for as text, it is text, with U+FFFD, which is longer,
		 * where it is not; else nothing may be lost. */
		if (!encoding && json_string_length(text) != b->len) {
			json_decref(text);
			text = NULL;
		}
	}
	json_put(j, "encoding", json_str(text ? "utf-8" : "base64"));
	if (!text) {
		autofree char *code = base64_encode(b->p ? b->p : "", b->len);

		text = json_str(code);
	}
	json_put(j, "content", text);
}

int files_read(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	autobuf struct buf b = { 0 };
	struct range r = { 0 };
	autoclose int fd = -1;
	struct stat st;
	bool more = false;
	json_t *j;
	int rc;

	if (parse_range(c->args, &r, err) < 0 ||
	    files_open(c->path, &fd, &st, err) < 0)
		return -1;
	if (r.start_line || r.end_line)
		rc = read_lines(fd, c->path, &r, &b, &more, err);
	else
		rc = read_bytes(fd, c->path, st.st_size, &r, &b, &more, err);
	if (rc < 0)
		return -1;
	j = json_object();
	files_put_name(j, "path", c->path);
	put_content(j, &b, r.encoding);
	json_put(j, "bytes", json_integer(b.len));
	json_put(j, "size", json_integer(st.st_size));
	json_put(j, "truncated", json_boolean(more));
	*ret = j;
	return 0;
}

int files_stat(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	struct stat st;

	if (lstat(c->path, &st) < 0)
		return files_fail(err, "look at", c->path);
	*ret = files_entry(c->path, &st);
	return 0;
}

int files_exists(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	struct stat st;
	bool exists = lstat(c->path, &st) == 0;
	json_t *j;

	if (!exists && errno != ENOENT && errno != ENOTDIR)
		return files_fail(err, "look at", c->path);
	j = exists ? files_entry(c->path, &st) : json_object();
	if (!exists)
		files_put_name(j, "path", c->path);
	json_put(j, "exists", json_boolean(exists));
	*ret = j;
	return 0;
}
