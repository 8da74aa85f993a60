/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file, with ranges and entity tag; a folder as tar. */
#include "config.h"

#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/range.h"
#include "common/tar.h"
#include "common/util.h"
#include "guest/files-call.h"
#include "guest/guestd.h"

struct download {
	struct http_req *req; /* until it is replied to */
	struct file_call call;
	const char *type;
	int fd;
	struct stat st;
	struct tar_writer *tar; /* of a folder */
	bool sizeless;		/* the kernel makes it up as it is read */
	int rc;
	struct sb_err err;
};

static void download_free(void *arg)
{
	struct download *d = arg;

	if (d->fd >= 0)
		close(d->fd);
	tar_writer_free(d->tar);
	file_call_done(&d->call);
	free(d);
}

static ssize_t download_read(void *arg, char *data, size_t max,
			     struct sb_err *err)
{
	struct download *d = arg;
	ssize_t n = read(d->fd, data, max);

	if (n < 0)
		return files_fail(err, "read", d->call.path);
	return n;
}

static ssize_t tar_read(void *arg, char *data, size_t max, struct sb_err *err)
{
	struct download *d = arg;
	ssize_t n;

	files_enter(d->call.as_root);
	n = tar_writer_read(d->tar, data, max, err);
	files_leave();
	return n;
}

static const struct http_source_ops tar_ops = {
	.read = tar_read,
	.free = download_free,
};

static const struct http_source_ops download_ops = {
	.read = download_read,
	.free = download_free,
};

static bool is_sizeless(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	return fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
	       fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == DEBUGFS_MAGIC ||
	       fs.f_type == TRACEFS_MAGIC;
}

/* The last name of a path; the root has none. */
static const char *name_of(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	return *name ? name : ".";
}

static void open_it(void *arg)
{
	struct download *d = arg;
	const char *path = d->call.path;

	files_enter(d->call.as_root);
	if (stat(path, &d->st) == 0 && S_ISDIR(d->st.st_mode))
		d->rc = tar_writer_new(path, name_of(path), NULL, NULL, &d->tar,
				       &d->err);
	else
		d->rc = files_open(path, &d->fd, &d->st, &d->err);
	if (d->rc == 0 && !d->tar)
		d->sizeless = is_sizeless(d->fd);
	files_leave();
}

/* filename="…" for old clients, filename*= with all that the name has. */
static void set_disposition(struct http_req *req, const char *path,
			    const char *suffix)
{
	autofree char *name = xasprintf("%s%s", name_of(path), suffix);
	autobuf struct buf b = { 0 };

	buf_adds(&b, "attachment; filename=\"");
	for (const char *p = name; *p; p++)
		buf_addf(&b, "%c",
			 *p < ' ' || *p > '~' || strchr("\"\\%", *p) ? '_'
								     : *p);
	buf_adds(&b, "\"; filename*=UTF-8''");
	for (const char *p = name; *p; p++) {
		bool plain = (*p >= '0' && *p <= '9') ||
			     (*p >= 'a' && *p <= 'z') ||
			     (*p >= 'A' && *p <= 'Z') || strchr("-._~", *p);

		buf_addf(&b, plain ? "%c" : "%%%02X", (unsigned char)*p);
	}
	http_set_header(req, "Content-Disposition", b.p);
}

/* Which part is asked for; If-Range makes it all of a file that changed. */
static enum range_kind part_of(const struct download *d, const char *etag,
			       uint64_t *ret_offset, uint64_t *ret_length)
{
	const char *if_range = http_header(d->req, "if-range");

	*ret_offset = 0;
	*ret_length = (uint64_t)d->st.st_size;
	if (if_range && strcmp(if_range, etag) != 0)
		return RANGE_ALL;
	return range_parse(http_header(d->req, "range"),
			   (uint64_t)d->st.st_size, ret_offset, ret_length);
}

static void send_part(struct download *d, const char *etag)
{
	uint64_t size = (uint64_t)d->st.st_size, offset, length;
	enum range_kind kind = part_of(d, etag, &offset, &length);
	char value[80];

	http_set_header(d->req, "Accept-Ranges", "bytes");
	if (kind == RANGE_BAD) {
		snprintf(value, sizeof(value), "bytes */%" PRIu64, size);
		http_set_header(d->req, "Content-Range", value);
		http_reply_empty(d->req, 416);
		download_free(d);
		return;
	}
	if (kind == RANGE_PART) {
		snprintf(value, sizeof(value),
			 "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, offset,
			 offset + length - 1, size);
		http_set_header(d->req, "Content-Range", value);
		lseek(d->fd, (off_t)offset, SEEK_SET);
	}
	http_reply_source(d->req, kind == RANGE_PART ? 206 : 200, d->type,
			  length, &download_ops, d);
}

static void send_file(struct download *d)
{
	const char *known = http_header(d->req, "if-none-match");
	char etag[ETAG_LEN];

	etag_of(&d->st, etag);
	http_set_header(d->req, "ETag", etag);
	if (known && etag_listed(known, etag)) {
		http_reply_empty(d->req, 304);
		download_free(d);
		return;
	}
	send_part(d, etag);
}

static void opened(void *arg)
{
	struct download *d = arg;

	if (d->rc < 0) {
		http_fail(d->req, &d->err);
		download_free(d);
		return;
	}
	set_disposition(d->req, d->call.path, d->tar ? ".tar" : "");
	if (d->tar) {
		http_reply_source(d->req, 200, "application/x-tar",
				  HTTP_LENGTH_UNKNOWN, &tar_ops, d);
		return;
	}
	if (d->sizeless) {
		http_reply_source(d->req, 200, "application/octet-stream",
				  HTTP_LENGTH_UNKNOWN, &download_ops, d);
		return;
	}
	send_file(d);
}

void file_send(struct http_req *req, int fd, const char *name, const char *type)
{
	struct download *d = xcalloc(1, sizeof(*d));

	d->req = req;
	d->fd = fd;
	d->type = type;
	d->call.path = xstrdup(name);
	if (fstat(fd, &d->st) < 0) {
		files_fail(&d->err, "read", name);
		http_fail(req, &d->err);
		download_free(d);
		return;
	}
	send_file(d);
}

void file_download(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	struct download *d = xcalloc(1, sizeof(*d));

	d->req = req;
	d->type = "application/octet-stream";
	d->fd = -1;
	d->rc = file_call_parse(&d->call, req, &d->err);
	if (d->rc == 0 && !d->call.path)
		d->rc = sb_fail(&d->err, SB_INVALID, "'path' is missing");
	if (d->rc < 0)
		opened(d);
	else
		loop_work(g->loop, open_it, opened, d);
}
