/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying files and trees as tar streams through a command: one round trip
 * whatever their number, and tar is in every guest while an SFTP server is not.
 * Either way the copy is made under a temporary name beside its target and then
 * renamed.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/blame.h"
#include "common/copy.h"
#include "common/fs.h"
#include "common/tar.h"

/*
 * How the scripts say what was wrong; other statuses are those of tar.  The
 * words of the guest's stderr are the second source.
 */
enum { EXIT_NOTFOUND = 81, EXIT_DENIED, EXIT_CONFLICT, EXIT_KIND };

/*
 * $1 is the target, $2 the name to use inside an existing folder, $3 is "dir"
 * or "file".  The stream holds "new" and, if it is whole, "end".
 */
static const char put_script[] =
	"t=$1\n"
	"[ -d \"$t\" ] && t=${t%/}/$2\n"
	"case $t in */*) d=${t%/*}/ ;; *) d=./ ;; esac\n"
	"[ -d \"$d\" ] && [ -n \"${t##*/}\" ] || exit 81\n"
	"[ -w \"$d\" ] || exit 82\n"
	"[ -d \"$t\" ] && exit 83\n"
	"[ $3 = dir ] && [ -e \"$t\" ] && exit 83\n"
	"tmp=${d}.sandbox-put.$$\n"
	"mkdir -m 700 \"$tmp\" || exit\n"
	"trap 'rm -rf \"$tmp\"' EXIT\n"
	"trap 'exit 129' HUP INT TERM\n"
	"LC_ALL=C tar -xpof - -C \"$tmp\" || exit\n"
	"[ -e \"$tmp/end\" ] || exit\n"
	"mv -f \"$tmp/new\" \"$t\"\n";

static const char get_script[] =
	"p=$1\n"
	"[ -e \"$p\" ] || exit 81\n"
	"[ -r \"$p\" ] || exit 82\n"
	"LC_ALL=C; export LC_ALL\n"
	"if [ -d \"$p\" ]; then\n"
	"	cd -- \"$p\" && exec tar -cf - .\n"
	"	exit 82\n"
	"fi\n"
	"[ -f \"$p\" ] || exit 84\n"
	"case $p in */*) cd -- \"${p%/*}/\" || exit 82 ;; esac\n"
	"exec tar -chf - \"./${p##*/}\"\n";

struct copy {
	struct tar_writer *writer;
	struct tar_reader *reader;
	void (*progress)(void *arg, size_t done);
	void *progress_arg;
	size_t done;
	struct blame words;
};

static void advance(struct copy *c, size_t n)
{
	c->done += n;
	if (c->progress)
		c->progress(c->progress_arg, c->done);
}

static ssize_t pull_tar(void *arg, char *data, size_t max, struct sb_err *err)
{
	struct copy *c = arg;
	ssize_t n = tar_writer_read(c->writer, data, max, err);

	if (n > 0)
		advance(c, n);
	return n;
}

static int push_tar(void *arg, int stream, const char *data, size_t len,
		    struct sb_err *err)
{
	struct copy *c = arg;

	if (stream == STDERR_FILENO) {
		blame_hear(&c->words, data, len);
		return 0;
	}
	if (!c->reader)
		return 0;
	if (tar_reader_write(c->reader, data, len, err) < 0)
		return -1;
	advance(c, len);
	return 0;
}

static int check_status(int status, const char *path, const struct blame *w,
			struct sb_err *err)
{
	switch (status) {
	case 0:
		return 0;
	case EXIT_NOTFOUND:
		return sb_fail(err, SB_NOTFOUND,
			       "no such file or folder in the guest: '%s'",
			       path);
	case EXIT_DENIED:
		return sb_fail(err, SB_DENIED,
			       "the guest's user may not use '%s'", path);
	case EXIT_CONFLICT:
		sb_fail(err, SB_CONFLICT, "'%s' exists in the guest", path);
		return sb_hint(err,
			       "remove it there first, or choose another name");
	case EXIT_KIND:
		return sb_fail(err, SB_INVALID,
			       "'%s' is neither a file nor a folder", path);
	case 127:
		return sb_fail(err, SB_MISSING, "the guest has no tar");
	}
	return blame_fail(w, "cannot copy in the guest", err);
}

/* The last component of a path that a user gave; NULL if it names nothing. */
static char *base_name(const char *path)
{
	size_t end = strlen(path), start;
	char *name;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	name = xstrndup(path + start, end - start);
	if (*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
		return name;
	free(name);
	return NULL;
}

static int run_script(const struct copy_way *way, const char *script,
		      const char *const args[3], bool with_input,
		      struct copy *c, int *ret_status, struct sb_err *err)
{
	const char *argv[] = { "/bin/sh", "-c",	   script,  "sh",
			       args[0],	  args[1], args[2], NULL };

	return way->run(way->arg, argv, with_input ? pull_tar : NULL, push_tar,
			c, ret_status, err);
}

int copy_put(const struct copy_way *way, const char *local, const char *remote,
	     void (*progress)(void *arg, size_t done), void *arg,
	     struct sb_err *err)
{
	autotarw struct tar_writer *w = NULL;
	autofree char *real = realpath(local, NULL);
	autofree char *name = NULL;
	struct copy c = { .progress = progress, .progress_arg = arg };
	struct stat st;
	int status;

	if (!real || stat(real, &st) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot read '%s': %m", local);
	/* "cp . demo:dir" makes a folder of the name that "." has. */
	name = base_name(local);
	if (!name)
		name = base_name(real);
	if (!name || str_empty(remote))
		return sb_fail(err, SB_INVALID, "cannot copy '%s' to '%s'",
			       local, remote);
	if (tar_writer_new(real, "new", NULL, "end", &w, err) < 0)
		return -1;
	c.writer = w;
	if (run_script(way, put_script,
		       (const char *const[]){ remote, name,
					      S_ISDIR(st.st_mode) ? "dir"
								  : "file" },
		       true, &c, &status, err) < 0)
		return -1;
	return check_status(status, remote, &c.words, err);
}

/* The name that the copy of remote gets, as cp chooses it. */
static int choose_target(const char *remote, const char *local, char **ret,
			 struct sb_err *err)
{
	bool slash = str_ends(local, "/");
	autofree char *name = NULL;
	struct stat st;

	if (!slash && (stat(local, &st) < 0 || !S_ISDIR(st.st_mode))) {
		*ret = xstrdup(local);
		return 0;
	}
	name = base_name(remote);
	if (!name)
		return sb_fail(err, SB_INVALID,
			       "'%s' has no name for its copy: give one",
			       remote);
	*ret = xasprintf("%s%s%s", local, slash ? "" : "/", name);
	return 0;
}

static int receive(const struct copy_way *way, const char *remote, int dir_fd,
		   struct copy *c, struct sb_err *err)
{
	autotarr struct tar_reader *r = tar_reader_new(dir_fd, "new");
	int status;

	c->reader = r;
	if (run_script(way, get_script, (const char *const[]){ remote, "", "" },
		       false, c, &status, err) < 0 ||
	    check_status(status, remote, &c->words, err) < 0)
		return -1;
	return tar_reader_end(r, err);
}

static int receive_in(const struct copy_way *way, const char *remote,
		      const char *tmp, const char *target, struct copy *c,
		      struct sb_err *err)
{
	autoclose int fd = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return sb_fail(err, SB_SYSTEM, "cannot open '%s': %m", tmp);
	if (receive(way, remote, fd, c, err) < 0)
		return -1;
	if (renameat(fd, "new", AT_FDCWD, target) == 0)
		return 0;
	if (errno != EEXIST && errno != ENOTEMPTY && errno != EISDIR &&
	    errno != ENOTDIR)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write '%s': %m", target);
	sb_fail(err, SB_CONFLICT, "'%s' exists", target);
	return sb_hint(err, "remove it first, or choose another name");
}

int copy_get(const struct copy_way *way, const char *remote, const char *local,
	     void (*progress)(void *arg, size_t done), void *arg,
	     struct sb_err *err)
{
	struct copy c = { .progress = progress, .progress_arg = arg };
	autofree char *target = NULL, *tmp = NULL;
	const char *slash;
	int rc;

	if (str_empty(remote) || str_empty(local))
		return sb_fail(err, SB_INVALID, "cannot copy '%s' to '%s'",
			       remote, local);
	if (choose_target(remote, local, &target, err) < 0)
		return -1;
	slash = strrchr(target, '/');
	tmp = xasprintf("%.*s.sandbox-get.XXXXXX",
			slash ? (int)(slash + 1 - target) : 0, target);
	if (!mkdtemp(tmp))
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write beside '%s': %m", target);
	rc = receive_in(way, remote, tmp, target, &c, err);
	if (fs_remove_tree(tmp, rc < 0 ? NULL : err) < 0)
		rc = -1;
	if (rc < 0)
		blame_clean(err);
	return rc;
}
