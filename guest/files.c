/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations on files share: who acts, arguments, errors, entries. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/base64.h"
#include "guest/account.h"
#include "guest/files.h"
#include "guest/guestd.h"

#define NOBODY 65534

void files_enter(bool as_root)
{
	struct account user;
	int r;

	if (as_root || geteuid() != 0)
		return;
	r = account_find(GUESTD_USER, &user);
	/* Not knowing who the user is must not make us root. */
	if (r <= 0) {
		setfsgid(r < 0 ? NOBODY : user.gid);
		setfsuid(r < 0 ? NOBODY : user.uid);
	}
}

void files_leave(void)
{
	setfsuid(geteuid());
	setfsgid(getegid());
}

int files_arg_int(const json_t *args, const char *key, long long min,
		  long long max, long long *ret, struct sb_err *err)
{
	const char *s = json_string_value(json_object_get(args, key));

	if (!s)
		return json_get_int(args, key, min, max, ret, err);
	if (parse_num(s, min, max, ret) == 0)
		return 0;
	return sb_fail(err, SB_INVALID,
		       "'%s' must be a whole number from %lld to %lld", key,
		       min, max);
}

int files_arg_bool(const json_t *args, const char *key, bool *ret,
		   struct sb_err *err)
{
	static const char *const words[] = { "1", "true",  "yes", "",
					     "0", "false", "no" };
	const char *s = json_string_value(json_object_get(args, key));

	if (!s)
		return json_get_bool(args, key, ret, err);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(s, words[i]) == 0) {
			*ret = i < 4;
			return 0;
		}
	return sb_fail(err, SB_INVALID, "'%s' must be true or false", key);
}

int files_arg_str(const json_t *args, const char *key, const char *alias,
		  const char **ret, struct sb_err *err)
{
	if (alias && !json_object_get(args, key))
		key = alias;
	return json_get_str(args, key, ret, err);
}

int files_fail(struct sb_err *err, const char *verb, const char *path)
{
	enum sb_code code = sb_code_of_errno(errno);

	switch (errno) {
	case ELOOP:
	case ENAMETOOLONG:
	case ENOTDIR:
	case EISDIR:
	case ENXIO:
	case EINVAL:
		code = SB_INVALID;
		break;
	case EEXIST:
	case ENOTEMPTY:
	case EBUSY:
	case ETXTBSY:
		code = SB_CONFLICT;
		break;
	case EROFS:
		code = SB_DENIED;
		break;
	case EFBIG:
		code = SB_LIMIT;
		break;
	}
	return sb_fail(err, code, "cannot %s '%s': %m", verb, path);
}

int files_open(const char *path, int *ret_fd, struct stat *ret_st,
	       struct sb_err *err)
{
	autoclose int fd =
		open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	/* A socket cannot be opened: ENXIO. */
	if (fd < 0 || fstat(fd, ret_st) < 0)
		return files_fail(err, "open", path);
	if (S_ISDIR(ret_st->st_mode))
		return sb_fail(err, SB_INVALID, "'%s' is a folder", path);
	if (!S_ISREG(ret_st->st_mode))
		return sb_fail(err, SB_INVALID, "'%s' is not a regular file",
			       path);
	*ret_fd = steal_fd(&fd);
	return 0;
}

int files_make_parents(const char *path, struct sb_err *err)
{
	autofree char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');

	if (!slash || slash == dir)
		return 0;
	*slash = '\0';
	if (access(dir, F_OK) == 0) /* as root: only whether it is there */
		return 0;
	return fs_mkdirs(dir, 0755, err);
}

/* The name that path has in the end, so that a symlink to it stays one. */
static int real_name(const char *path, char **ret, struct sb_err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode)) {
		*ret = xstrdup(path);
		return 0;
	}
	*ret = realpath(path, NULL);
	if (!*ret)
		return files_fail(err, "write", path);
	return 0;
}

int file_new_open(struct file_new *f, const char *path, long long mode,
		  struct sb_err *err)
{
	struct stat st;
	bool exists;

	*f = (struct file_new){ .fd = -1 };
	if (files_make_parents(path, err) < 0 ||
	    real_name(path, &f->path, err) < 0)
		return -1;
	exists = stat(f->path, &st) == 0;
	if (!exists && errno != ENOENT)
		return files_fail(err, "write", path);
	if (exists && !S_ISREG(st.st_mode))
		return sb_fail(err, SB_INVALID, "'%s' is not a regular file",
			       path);
	/* A file that could not be written must not be replaced, either. */
	if (exists) {
		autoclose int fd =
			open(f->path,
			     O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0 && errno != ETXTBSY)
			return files_fail(err, "write", path);
	}
	f->tmp = xasprintf("%.*s.sandbox-XXXXXX",
			   (int)(strrchr(f->path, '/') + 1 - f->path), f->path);
	f->fd = mkostemp(f->tmp, O_CLOEXEC);
	if (f->fd < 0) {
		free(steal(&f->tmp));
		return files_fail(err, "write", path);
	}
	/* The owner may be another whom we cannot give files: no matter. */
	if (exists && fchown(f->fd, st.st_uid, st.st_gid) < 0)
		errno = 0;
	if (mode < 0)
		mode = exists ? st.st_mode & 07777 : 0644;
	if (fchmod(f->fd, mode) < 0)
		return files_fail(err, "write", path);
	return 0;
}

int file_new_commit(struct file_new *f, struct sb_err *err)
{
	if (rename(f->tmp, f->path) < 0)
		return files_fail(err, "write", f->path);
	free(steal(&f->tmp));
	return 0;
}

void file_new_done(struct file_new *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->tmp)
		unlink(f->tmp);
	free(f->tmp);
	free(f->path);
	*f = (struct file_new){ .fd = -1 };
}

void files_put_name(json_t *obj, const char *key, const char *value)
{
	json_t *j = json_str(value);

	if (strcmp(json_string_value(j), value) != 0) {
		autofree char *text = base64_encode(value, strlen(value));
		autofree char *other = xasprintf("%s_base64", key);

		json_put(obj, other, json_str(text));
	}
	json_put(obj, key, j);
}

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symlink";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	default:
		return "device";
	}
}

json_t *files_entry(const char *path, const struct stat *st)
{
	const char *slash = strrchr(path, '/');
	json_t *j = json_object();
	char target[PATH_MAX];
	ssize_t n;

	json_put(j, "name", json_str(slash && slash[1] ? slash + 1 : path));
	files_put_name(j, "path", path);
	json_put(j, "type", json_str(type_name(st->st_mode)));
	json_put(j, "is_dir", json_boolean(S_ISDIR(st->st_mode)));
	json_put(j, "size", json_integer(st->st_size));
	json_put(j, "mode",
		 json_sprintf("%04o", (unsigned int)st->st_mode & 07777));
	json_put(j, "uid", json_integer(st->st_uid));
	json_put(j, "gid", json_integer(st->st_gid));
	json_put(j, "mtime",
		 json_real((double)st->st_mtim.tv_sec +
			   (double)st->st_mtim.tv_nsec / 1e9));
	if (S_ISLNK(st->st_mode)) {
		n = readlink(path, target, sizeof(target) - 1);
		target[MAX(n, 0)] = '\0';
		files_put_name(j, "target", target);
	}
	return j;
}
