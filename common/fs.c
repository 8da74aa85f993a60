/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders, done safely. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/util.h"

int fs_mkdirs(const char *path, mode_t mode, struct sb_err *err)
{
	autofree char *p = xstrdup(path);

	for (char *slash = p + 1;; slash++) {
		char c = *slash;

		if (c != '/' && c != '\0')
			continue;
		*slash = '\0';
		if (mkdir(p, mode) < 0 && errno != EEXIST)
			return sb_fail(err, sb_code_of_errno(errno),
				       "cannot create folder '%s': %m", p);
		*slash = c;
		if (!c)
			return 0;
	}
}

/* Remove what name in dirfd is, whole. */
static int remove_at(int at, const char *name)
{
	autoclose int fd = -1;
	struct dirent *e;
	int rc = 0;
	DIR *d;

	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	d = fdopendir(fd);
	if (!d)
		return -1;
	fd = -1;
	while (rc == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = remove_at(dirfd(d), e->d_name);
	closedir(d);
	if (rc < 0)
		return rc;
	return unlinkat(at, name, AT_REMOVEDIR);
}

int fs_remove_tree(const char *path, struct sb_err *err)
{
	if (remove_at(AT_FDCWD, path) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot remove '%s': %m", path);
	return 0;
}

int fs_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

int fs_write_at(int fd, const void *data, size_t len, off_t pos)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		pos += n;
		len -= n;
	}
	return 0;
}

ssize_t fs_read_at(int fd, void *data, size_t len, off_t pos)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, (char *)data + got, len - got,
				  pos + (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		got += n;
	}
	return (ssize_t)got;
}

int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode,
		    struct sb_err *err)
{
	autofree char *tmp = xasprintf("%s.XXXXXX", path);
	autoclose int fd = mkostemp(tmp, O_CLOEXEC);

	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write '%s': %m", path);
	if (fchmod(fd, mode) < 0 || fs_write_all(fd, data, len) < 0 ||
	    fsync(fd) < 0 || rename(tmp, path) < 0) {
		sb_fail(err, sb_code_of_errno(errno), "cannot write '%s': %m",
			path);
		unlink(tmp);
		return -1;
	}
	return 0;
}

int fs_read(const char *path, size_t max, char **ret, size_t *ret_len,
	    struct sb_err *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	autobuf struct buf b = { 0 };
	char block[16384];
	ssize_t n;

	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open '%s': %m", path);
	while ((n = read(fd, block, sizeof(block))) > 0) {
		if (b.len + n > max)
			return sb_fail(err, SB_LIMIT,
				       "'%s' is larger than %zu bytes", path,
				       max);
		buf_add(&b, block, n);
	}
	if (n < 0)
		return sb_fail(err, SB_SYSTEM, "cannot read '%s': %m", path);
	if (!b.p)
		buf_adds(&b, "");
	if (ret_len)
		*ret_len = b.len;
	*ret = steal(&b.p);
	return 0;
}

int fs_read_line(const char *path, char **ret, struct sb_err *err)
{
	char *text;

	if (fs_read(path, 65536, &text, NULL, err) < 0)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	*ret = text;
	return 0;
}

static int open_beneath(const char *dir, const char *path, int flags,
			mode_t mode, int *ret_fd, struct sb_err *err)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	autoclose int dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = -1;
	struct stat st;

	if (dfd >= 0)
		fd = (int)syscall(SYS_openat2, dfd, path, &how, sizeof(how));
	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open '%s' in '%s': %m", path, dir);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return sb_fail(err, SB_DENIED,
			       "'%s' in '%s' is not a regular file", path, dir);
	*ret_fd = steal_fd(&fd);
	return 0;
}

int fs_open_beneath(const char *dir, const char *path, int *ret_fd,
		    struct sb_err *err)
{
	return open_beneath(dir, path, O_RDONLY, 0, ret_fd, err);
}

int fs_append_beneath(const char *dir, const char *path, int *ret_fd,
		      struct sb_err *err)
{
	return open_beneath(dir, path, O_WRONLY | O_APPEND | O_CREAT, 0644,
			    ret_fd, err);
}
