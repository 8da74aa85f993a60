/* SPDX-License-Identifier: Apache-2.0 */
/* Writing: whole files in one step, appending, exact replacement. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/base64.h"
#include "guest/files.h"

#define MAX_EDIT (64 * 1024 * 1024)

/* "644" and "0o644" are octal, as chmod takes them; a number is its value. */
static int arg_mode(const json_t *args, long long *ret, struct sb_err *err)
{
	const char *s = json_string_value(json_object_get(args, "mode"));
	unsigned long mode;
	char *end;

	if (!s)
		return json_get_int(args, "mode", 0, 07777, ret, err);
	if (strncmp(s, "0o", 2) == 0)
		s += 2;
	mode = strtoul(s, &end, 8);
	if (!*s || *end || strspn(s, "01234567") != strlen(s) || mode > 07777)
		return sb_fail(err, SB_INVALID,
			       "'mode' must be octal digits up to 7777");
	*ret = (long long)mode;
	return 0;
}

struct content {
	const char *data;
	size_t len;
	char *decoded; /* owns data, if it was base64 */
};

static int arg_content(const json_t *args, struct content *ret,
		       struct sb_err *err)
{
	const json_t *text = json_object_get(args, "content");
	const char *encoding = "utf-8";

	if (!json_is_string(text))
		return sb_fail(err, SB_INVALID,
			       "'content' is missing or not a string");
	if (json_get_str(args, "encoding", &encoding, err) < 0)
		return -1;
	ret->data = json_string_value(text);
	ret->len = json_string_length(text);
	if (strcmp(encoding, "base64") == 0) {
		ret->decoded = base64_decode(ret->data, ret->len, &ret->len);
		ret->data = ret->decoded;
		if (!ret->decoded)
			return sb_fail(err, SB_INVALID,
				       "'content' is not valid base64");
	} else if (strcmp(encoding, "utf-8") != 0) {
		return sb_fail(err, SB_INVALID,
			       "'encoding' must be utf-8 or base64");
	}
	return 0;
}

static int append(const char *path, const struct content *content,
		  long long mode, struct sb_err *err)
{
	autoclose int fd = -1;
	struct stat st;

	if (files_make_parents(path, err) < 0)
		return -1;
	fd = open(path,
		  O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY |
			  O_CLOEXEC,
		  mode < 0 ? 0644 : mode);
	if (fd < 0 || fstat(fd, &st) < 0)
		return files_fail(err, "write", path);
	if (!S_ISREG(st.st_mode))
		return sb_fail(err, SB_INVALID, "'%s' is not a regular file",
			       path);
	if (fs_write_all(fd, content->data, content->len) < 0)
		return files_fail(err, "write", path);
	return 0;
}

static int replace(const char *path, const void *data, size_t len,
		   long long mode, struct sb_err *err)
{
	struct file_new f;
	int rc = file_new_open(&f, path, mode, err);

	if (rc == 0 && fs_write_all(f.fd, data, len) < 0)
		rc = files_fail(err, "write", path);
	if (rc == 0)
		rc = file_new_commit(&f, err);
	file_new_done(&f);
	return rc;
}

int files_write(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	struct content content = { 0 };
	autofree char *decoded = NULL;
	long long mode = -1;
	bool more = false;
	int rc;

	rc = arg_content(c->args, &content, err);
	decoded = content.decoded;
	if (rc < 0 || arg_mode(c->args, &mode, err) < 0 ||
	    files_arg_bool(c->args, "append", &more, err) < 0)
		return -1;
	if (more)
		rc = append(c->path, &content, mode, err);
	else
		rc = replace(c->path, content.data, content.len, mode, err);
	if (rc < 0)
		return -1;
	*ret = json_pack("{s:b, s:I}", "success", 1, "bytes_written",
			 (json_int_t)content.len);
	files_put_name(*ret, "path", c->path);
	return 0;
}

static size_t count_of(const char *text, size_t len, const char *what, size_t n)
{
	size_t count = 0;
	const char *p = text, *end = text + len;

	while ((p = memmem(p, end - p, what, n))) {
		count++;
		p += n;
	}
	return count;
}

static void substitute(struct buf *out, const struct buf *in, const char *old,
		       const char *new)
{
	const char *p = in->p, *end = in->p + in->len, *hit;
	size_t n = strlen(old);

	while ((hit = memmem(p, end - p, old, n))) {
		buf_add(out, p, hit - p);
		buf_adds(out, new);
		p = hit + n;
	}
	buf_add(out, p, end - p);
}

/* How often old is in the text, which must be once unless all are wanted. */
static int count_hits(const struct file_call *c, const struct buf *in,
		      const char *old, size_t *ret, struct sb_err *err)
{
	bool all = false;

	if (files_arg_bool(c->args, "replace_all", &all, err) < 0)
		return -1;
	*ret = count_of(in->p, in->len, old, strlen(old));
	if (!*ret)
		return sb_fail(err, SB_CONFLICT, "'old_string' is not in '%s'",
			       c->path);
	if (*ret > 1 && !all) {
		sb_fail(err, SB_CONFLICT, "'old_string' is %zu times in '%s'",
			*ret, c->path);
		return sb_hint(err, "give more of the text around it, or "
				    "'replace_all'");
	}
	return 0;
}

static int read_all(const char *path, struct buf *out, struct sb_err *err)
{
	autoclose int fd = -1;
	char block[64 * 1024];
	struct stat st;
	ssize_t n;

	if (files_open(path, &fd, &st, err) < 0)
		return -1;
	while ((n = read(fd, block, sizeof(block))) > 0) {
		if (out->len + n > MAX_EDIT)
			return sb_fail(err, SB_LIMIT,
				       "'%s' is larger than %d bytes", path,
				       MAX_EDIT);
		buf_add(out, block, n);
	}
	if (n < 0)
		return files_fail(err, "read", path);
	buf_adds(out, "");
	return 0;
}

int files_edit(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	autobuf struct buf in = { 0 }, out = { 0 };
	const char *old = NULL, *new = NULL;
	size_t hits;

	if (files_arg_str(c->args, "old_string", "old_str", &old, err) < 0 ||
	    files_arg_str(c->args, "new_string", "new_str", &new, err) < 0)
		return -1;
	if (str_empty(old) || !new)
		return sb_fail(err, SB_INVALID,
			       "'old_string' and 'new_string' must be given");
	if (read_all(c->path, &in, err) < 0 ||
	    count_hits(c, &in, old, &hits, err) < 0)
		return -1;
	if (in.len + hits * strlen(new) > MAX_EDIT)
		return sb_fail(err, SB_LIMIT,
			       "'%s' would be larger than %d bytes", c->path,
			       MAX_EDIT);
	substitute(&out, &in, old, new);
	if (replace(c->path, out.p, out.len, -1, err) < 0)
		return -1;
	*ret = json_pack("{s:b, s:I}", "success", 1, "replacements",
			 (json_int_t)hits);
	files_put_name(*ret, "path", c->path);
	return 0;
}
