/* SPDX-License-Identifier: Apache-2.0 */
/* Making, removing, moving and copying. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "guest/files-names.h"
#include "guest/files.h"

#define MAX_DEPTH 256

static json_t *done_json(const struct file_call *c)
{
	json_t *j = json_pack("{s:b}", "success", 1);

	files_put_name(j, "path", c->path);
	if (c->target)
		files_put_name(j, "destination", c->target);
	return j;
}

int files_mkdir(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	bool parents = true;
	struct stat st;

	if (files_arg_bool(c->args, "parents", &parents, err) < 0)
		return -1;
	if (parents && files_make_parents(c->path, err) < 0)
		return -1;
	if (mkdir(c->path, 0755) < 0 &&
	    !(parents && errno == EEXIST && stat(c->path, &st) == 0 &&
	      S_ISDIR(st.st_mode)))
		return files_fail(err, "make", c->path);
	*ret = done_json(c);
	return 0;
}

int files_delete(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	bool recursive = false;
	struct stat st;

	if (files_arg_bool(c->args, "recursive", &recursive, err) < 0)
		return -1;
	if (lstat(c->path, &st) < 0)
		return files_fail(err, "delete", c->path);
	if (S_ISDIR(st.st_mode) && recursive) {
		if (fs_remove_tree(c->path, err) < 0)
			return -1;
	} else if (S_ISDIR(st.st_mode) ? rmdir(c->path) < 0
				       : unlink(c->path) < 0) {
		files_fail(err, "delete", c->path);
		if (err->code == SB_CONFLICT)
			sb_hint(err, "give 'recursive' to delete a folder "
				     "and all in it");
		return -1;
	}
	*ret = done_json(c);
	return 0;
}

static int exists_already(const char *path, struct sb_err *err)
{
	sb_fail(err, SB_CONFLICT, "'%s' exists already", path);
	return sb_hint(err, "give 'overwrite' to replace it");
}

static int copy_bytes(int from, const char *path, const struct stat *st,
		      const char *target, struct sb_err *err)
{
	struct file_new f;
	int rc = file_new_open(&f, target, st->st_mode & 0777, err);
	ssize_t n = 1;

	while (rc == 0 && n > 0) {
		n = sendfile(f.fd, from, NULL, 0x7ffff000);
		if (n < 0)
			rc = files_fail(err, "copy", path);
	}
	if (rc == 0)
		rc = file_new_commit(&f, err);
	file_new_done(&f);
	return rc;
}

static int copy_file(const char *path, const char *target, struct sb_err *err)
{
	autoclose int fd = -1;
	struct stat st;

	if (files_open(path, &fd, &st, err) < 0)
		return -1;
	return copy_bytes(fd, path, &st, target, err);
}

static int copy_symlink(const char *path, const char *target,
			struct sb_err *err)
{
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n < 0)
		return files_fail(err, "copy", path);
	text[n] = '\0';
	if (symlink(text, target) < 0)
		return files_fail(err, "write", target);
	return 0;
}

static int copy_tree(const char *path, const char *target, int depth,
		     struct sb_err *err);

static int copy_folder(const char *path, const char *target,
		       const struct stat *st, int depth, struct sb_err *err)
{
	struct names names = { 0 };
	int rc;

	if (depth == MAX_DEPTH)
		return sb_fail(err, SB_LIMIT, "'%s' is too deep", path);
	if (mkdir(target, st->st_mode & 0777) < 0 && errno != EEXIST)
		return files_fail(err, "make", target);
	rc = names_read(&names, path, err);
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		autofree char *from = xasprintf("%s/%s", path, names.name[i]);
		autofree char *to = xasprintf("%s/%s", target, names.name[i]);

		rc = copy_tree(from, to, depth + 1, err);
	}
	names_done(&names);
	return rc;
}

/* Whatever path is; symlinks stay symlinks. */
static int copy_tree(const char *path, const char *target, int depth,
		     struct sb_err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return files_fail(err, "copy", path);
	if (S_ISDIR(st.st_mode))
		return copy_folder(path, target, &st, depth, err);
	if (S_ISLNK(st.st_mode))
		return copy_symlink(path, target, err);
	return copy_file(path, target, err);
}

/* "/a/b" is in "/a". */
static bool is_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

static int check_target(const struct file_call *c, bool overwrite,
			struct sb_err *err)
{
	struct stat st;

	if (!c->target)
		return sb_fail(err, SB_INVALID, "'destination' is missing");
	if (is_within(c->target, c->path))
		return sb_fail(err, SB_INVALID, "'%s' is the source or in it",
			       c->target);
	if (!overwrite && lstat(c->target, &st) == 0)
		return exists_already(c->target, err);
	return files_make_parents(c->target, err);
}

int files_copy(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	bool overwrite = false;
	struct stat st;

	if (files_arg_bool(c->args, "overwrite", &overwrite, err) < 0)
		return -1;
	/* Before the target's parents are made. */
	if (lstat(c->path, &st) < 0)
		return files_fail(err, "copy", c->path);
	if (check_target(c, overwrite, err) < 0 ||
	    copy_tree(c->path, c->target, 0, err) < 0)
		return -1;
	*ret = done_json(c);
	return 0;
}

static int rename_it(const struct file_call *c, bool overwrite,
		     struct sb_err *err)
{
	if (renameat2(AT_FDCWD, c->path, AT_FDCWD, c->target,
		      overwrite ? 0 : RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST && !overwrite)
		return exists_already(c->target, err);
	if (errno != EXDEV && errno != EINVAL)
		return files_fail(err, "move", c->path);
	/* Another file system, or one without RENAME_NOREPLACE. */
	if (errno == EINVAL && rename(c->path, c->target) == 0)
		return 0;
	if (copy_tree(c->path, c->target, 0, err) < 0)
		return -1;
	return fs_remove_tree(c->path, err);
}

int files_move(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	bool overwrite = false;
	struct stat st;

	if (files_arg_bool(c->args, "overwrite", &overwrite, err) < 0)
		return -1;
	if (lstat(c->path, &st) < 0)
		return files_fail(err, "move", c->path);
	if (check_target(c, overwrite, err) < 0 ||
	    rename_it(c, overwrite, err) < 0)
		return -1;
	*ret = done_json(c);
	return 0;
}
