/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads to disk in constant memory.  The loop collects what comes; a thread
 * of the pool takes it while the client is paused.  So either the loop or the
 * thread has the upload, never both.  Nothing is in its place before all of
 * the body has come.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "guest/files-call.h"
#include "guest/guestd.h"
#include "guest/multipart.h"

#define COLLECT (256 * 1024)
#define MAX_FILES 100
#define MAX_FIELD 4096

struct uploaded {
	struct file_new file;
	char *name; /* that the client gave; NULL for a raw body */
	long long size;
};

struct upload {
	struct http_req *req;
	const struct guestd *g;
	struct file_call call;
	struct multipart *form; /* NULL: the body is the file */
	struct buf in;
	bool working, ended;
	bool left; /* the client; the thread must not look at it */
	bool drop; /* the thread is only to clean up */
	size_t nfiles;
	struct uploaded *file;
	bool in_file;	   /* the part that is read is one */
	struct buf *field; /* or a field that we want */
	struct buf path;   /* the form's */
	json_t *answer;
	int rc;
	struct sb_err err;
};

static void close_files(struct upload *u)
{
	for (size_t i = 0; i < u->nfiles; i++) {
		file_new_done(&u->file[i].file);
		free(u->file[i].name);
	}
	free(u->file);
	u->file = NULL;
	u->nfiles = 0;
}

static void upload_free(struct upload *u)
{
	multipart_free(u->form);
	file_call_done(&u->call);
	buf_done(&u->in);
	buf_done(&u->path);
	free(u);
}

static int add_file(struct upload *u, const char *path, const char *name,
		    struct sb_err *err)
{
	struct uploaded *f;

	if (u->nfiles == MAX_FILES)
		return sb_fail(err, SB_LIMIT, "more than %d files in one form",
			       MAX_FILES);
	u->file = xrealloc(u->file, u->nfiles + 1, sizeof(*u->file));
	f = &u->file[u->nfiles++];
	*f = (struct uploaded){ .name = xstrdup0(name) };
	return file_new_open(&f->file, path, -1, err);
}

static int write_file(struct upload *u, const char *data, size_t len,
		      struct sb_err *err)
{
	struct uploaded *f = &u->file[u->nfiles - 1];

	f->size += (long long)len;
	if (fs_write_all(f->file.fd, data, len) < 0)
		return files_fail(err, "write", f->file.path);
	return 0;
}

/* What a form's file is called; a browser may send a path with it. */
static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* The place that the form or the query names for a file; the caller's. */
static char *place_of(const struct upload *u, const char *name)
{
	autofree char *path = NULL;
	struct stat st;

	if (u->path.len)
		path = file_absolute(u->g, u->path.p);
	else if (u->call.path)
		path = xstrdup(u->call.path);
	else if (name[0] == '/')
		return xstrdup(name);
	else
		return file_absolute(u->g, base_name(name));
	if ((u->path.len && u->path.p[u->path.len - 1] == '/') ||
	    u->nfiles > 1 || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return xasprintf("%s/%s", path, base_name(name));
	return steal(&path);
}

/* Where a file waits for a path that may come behind it; the caller's. */
static char *waiting_place(const struct upload *u)
{
	autofree char *dir = file_absolute(u->g, "");

	return xasprintf("%s/.sandbox-upload",
			 access(dir, W_OK) == 0 ? dir : "/var/tmp");
}

static int on_part(void *arg, const char *name, const char *filename,
		   struct sb_err *err)
{
	struct upload *u = arg;
	autofree char *place = NULL;

	u->field = NULL;
	u->in_file = filename != NULL;
	if (!filename) {
		if (strcmp(name, "path") == 0 || strcmp(name, "file") == 0)
			u->field = &u->path;
		return 0;
	}
	if (!*base_name(filename) || strcmp(base_name(filename), "..") == 0)
		return sb_fail(err, SB_INVALID, "a file has no name");
	place = u->path.len || u->call.path ? place_of(u, filename)
					    : waiting_place(u);
	return add_file(u, place, filename, err);
}

static int on_data(void *arg, const char *data, size_t len, struct sb_err *err)
{
	struct upload *u = arg;

	if (u->in_file)
		return write_file(u, data, len, err);
	if (!u->field)
		return 0;
	if (u->field->len + len > MAX_FIELD || memchr(data, '\0', len))
		return sb_fail(err, SB_INVALID,
			       "the form's 'path' is not a path");
	buf_add(u->field, data, len);
	return 0;
}

static int on_part_end(void *arg, struct sb_err *err)
{
	struct upload *u = arg;

	if (u->in_file)
		close(steal_fd(&u->file[u->nfiles - 1].file.fd));
	return 0;
}

static const struct multipart_ops form_ops = {
	.on_part = on_part,
	.on_data = on_data,
	.on_part_end = on_part_end,
};

/* Put a file where the form says in the end. */
static int settle(const struct upload *u, struct uploaded *f,
		  struct sb_err *err)
{
	autofree char *place = f->name ? place_of(u, f->name) : NULL;
	struct file_call call = { 0 };
	autojson json_t *answer = NULL;
	autojson json_t *args = NULL;
	struct stat st;
	mode_t mode = 0644;

	if (!place || strcmp(place, f->file.path) == 0)
		return file_new_commit(&f->file, err);
	/* This may be on another file system. */
	if (stat(place, &st) == 0)
		mode = st.st_mode & 07777;
	args = json_pack("{s:b}", "overwrite", 1);
	call.path = f->file.tmp;
	call.target = place;
	call.args = args;
	if (files_make_parents(place, err) < 0 ||
	    files_move(&call, &answer, err) < 0)
		return -1;
	if (chmod(place, mode) < 0)
		return files_fail(err, "write", place);
	free(f->file.tmp);
	f->file.tmp = NULL;
	free(f->file.path);
	f->file.path = steal(&place);
	return 0;
}

static int finish(struct upload *u, struct sb_err *err)
{
	json_t *list;

	if (u->form && multipart_end(u->form, err) < 0)
		return -1;
	if (!u->nfiles)
		return sb_fail(err, SB_INVALID, "the form has no file");
	list = json_array();
	u->answer = json_pack("{s:b, s:o}", "success", 1, "files", list);
	for (size_t i = 0; i < u->nfiles; i++) {
		struct uploaded *f = &u->file[i];
		json_t *j;

		if (settle(u, f, err) < 0)
			return -1;
		j = json_pack("{s:I}", "size", (json_int_t)f->size);
		files_put_name(j, "path", f->file.path);
		json_array_append_new(list, j);
	}
	files_put_name(u->answer, "path", u->file[0].file.path);
	json_put(u->answer, "size", json_integer(u->file[0].size));
	return 0;
}

static int take(struct upload *u, struct sb_err *err)
{
	if (!u->form && !u->nfiles && add_file(u, u->call.path, NULL, err) < 0)
		return -1;
	if (u->form && multipart_feed(u->form, u->in.p, u->in.len, err) < 0)
		return -1;
	if (!u->form && write_file(u, u->in.p, u->in.len, err) < 0)
		return -1;
	u->in.len = 0;
	return u->ended ? finish(u, err) : 0;
}

static void work(void *arg)
{
	struct upload *u = arg;

	files_enter(u->call.as_root);
	if (u->rc == 0 && !u->drop)
		u->rc = take(u, &u->err);
	if (u->rc < 0 || u->drop || u->ended)
		close_files(u);
	files_leave();
}

static void drop(struct upload *u);

static void worked(void *arg)
{
	struct upload *u = arg;

	u->working = false;
	if (u->left && u->file) {
		drop(u);
	} else if (u->left || u->rc < 0) {
		json_decref(u->answer);
		http_fail(u->req,
			  &u->err); /* goes nowhere if the client left */
		upload_free(u);
	} else if (u->ended) {
		http_reply_json(u->req, 200, u->answer);
		upload_free(u);
	} else {
		http_body_resume(u->req);
	}
}

static void start_work(struct upload *u)
{
	u->working = true;
	loop_work(u->g->loop, work, worked, u);
}

static void drop(struct upload *u)
{
	u->drop = true;
	sb_fail(&u->err, SB_CANCELLED, "the client left");
	start_work(u);
}

static void body_data(void *arg, const char *data, size_t len)
{
	struct upload *u = arg;

	buf_add(&u->in, data, len);
	if (u->in.len < COLLECT)
		return;
	http_body_pause(u->req);
	start_work(u);
}

static void body_end(void *arg)
{
	struct upload *u = arg;

	u->ended = true;
	start_work(u);
}

static void body_fail(void *arg, const struct sb_err *err)
{
	struct upload *u = arg;

	u->rc = -1;
	u->err = *err;
	http_body_pause(u->req);
	start_work(u);
}

static void on_leave(void *arg)
{
	struct upload *u = arg;

	u->left = true;
	if (!u->working)
		drop(u);
}

void file_upload(struct http_req *req, bool form)
{
	static const struct http_body_ops body_ops = {
		.on_data = body_data,
		.on_end = body_end,
		.on_fail = body_fail,
	};
	struct upload *u = xcalloc(1, sizeof(*u));

	u->req = req;
	u->g = http_ctx(req);
	u->rc = file_call_parse(&u->call, req, &u->err);
	if (u->rc == 0 && form)
		u->form = multipart_new(http_header(req, "content-type"),
					&form_ops, u, &u->err);
	if (u->rc == 0 && form && !u->form)
		u->rc = -1;
	if (u->rc == 0 && !form && !u->call.path)
		u->rc = sb_fail(&u->err, SB_INVALID, "'path' is missing");
	if (u->rc < 0) {
		http_fail(req, &u->err);
		upload_free(u);
		return;
	}
	http_on_leave(req, on_leave, u);
	http_body_begin(req, &body_ops, u);
}
