/* SPDX-License-Identifier: Apache-2.0 */
/* What a command fetches, on its way into a file. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/util.h"
#include "host/ctl-save.h"

#define FILE_MODE 0666 /* less the umask */

char *save_name(const char *output, const char *stem, const char *suffix)
{
	struct stat st;
	char *path;

	if (!output)
		output = ".";
	if (strcmp(output, "-") == 0 || stat(output, &st) < 0 ||
	    !S_ISDIR(st.st_mode))
		return xstrdup(output);
	for (int i = 1;; i++) {
		autofree char *more = i > 1 ? xasprintf("-%d", i) : xstrdup("");

		if (strcmp(output, ".") == 0)
			path = xasprintf("%s%s%s", stem, more, suffix);
		else
			path = xasprintf("%s%s%s%s%s", output,
					 str_ends(output, "/") ? "" : "/", stem,
					 more, suffix);
		if (lstat(path, &st) < 0)
			return path;
		free(path);
	}
}

static int cannot(const char *path, struct sb_err *err)
{
	return sb_fail(err, sb_code_of_errno(errno), "cannot write '%s': %m",
		       path);
}

/* Stdout, or what is no plain file and must not be replaced by one. */
static int open_as_is(struct save *s, struct sb_err *err)
{
	s->fd = strcmp(s->path, "-") == 0
			? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
			: open(s->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (s->fd < 0)
		return cannot(s->path, err);
	if (!isatty(s->fd))
		return 0;
	sb_fail(err, SB_INVALID, "this is not written to a terminal");
	return sb_hint(err, "name a file (-o FILE), or pipe it on");
}

int save_open(struct save *s, const char *path, struct sb_err *err)
{
	mode_t mask = umask(0);
	struct stat st;
	bool there;
	char *real;

	umask(mask);
	*s = (struct save){ .path = xstrdup(path), .fd = -1 };
	there = stat(path, &st) == 0;
	if (strcmp(path, "-") == 0 || (there && !S_ISREG(st.st_mode)))
		return open_as_is(s, err);
	/* A symlink stays one. */
	real = there ? realpath(path, NULL) : NULL;
	if (real) {
		free(s->path);
		s->path = real;
	}
	s->tmp = xasprintf("%s.XXXXXX", s->path);
	s->fd = mkostemp(s->tmp, O_CLOEXEC);
	if (s->fd < 0) {
		cannot(path, err);
		free(steal(&s->tmp));
		return -1;
	}
	if (fchmod(s->fd, there ? st.st_mode & 0777 : FILE_MODE & ~mask) < 0)
		return cannot(path, err);
	return 0;
}

int save_add(struct save *s, const void *data, size_t len, struct sb_err *err)
{
	return fs_write_all(s->fd, data, len) < 0 ? cannot(s->path, err) : 0;
}

int save_end(struct save *s, struct sb_err *err)
{
	if (!s->tmp)
		return 0;
	if (fsync(s->fd) < 0 || rename(s->tmp, s->path) < 0)
		return cannot(s->path, err);
	free(steal(&s->tmp));
	return 0;
}

void save_done(struct save *s)
{
	if (s->tmp)
		unlink(s->tmp);
	if (s->path)
		util_close(&s->fd);
	free(s->tmp);
	free(s->path);
}
