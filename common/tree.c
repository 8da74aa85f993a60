/* SPDX-License-Identifier: Apache-2.0 */
/* Making files, folders and links at paths that are not trusted. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "common/tree.h"

#define ENTRIES_MAX 4000000
#define DEPTH_MAX 256
/* No setuid and the like: these bits mean something else on this side. */
#define MODE_MASK 0777

/* Where something is to be made. */
struct place {
	int at;	   /* its folder */
	int depth; /* below the root: 0 is the root itself */
	char name[NAME_MAX + 1];
};

static void place_done(struct place *p)
{
	util_close(&p->at);
}
#define autoplace __attribute__((cleanup(place_done)))

static int bad(struct sb_err *err, const char *what)
{
	return sb_fail(err, SB_GUEST, "the guest sent a bad path: %s", what);
}

/* The next component of a path, "" at its end; "." and empty ones are none. */
static int next_part(const char **path, char part[NAME_MAX + 1],
		     struct sb_err *err)
{
	size_t n;

	do {
		*path += strspn(*path, "/");
		n = strcspn(*path, "/");
		if (n > NAME_MAX)
			return bad(err, "a name in it is too long");
		memcpy(part, *path, n);
		part[n] = '\0';
		*path += n;
	} while (strcmp(part, ".") == 0);
	if (strcmp(part, "..") == 0)
		return bad(err, "it leaves the folder");
	return 0;
}

static int locate(const struct tree *t, const char *path, struct place *ret,
		  struct sb_err *err)
{
	char part[NAME_MAX + 1];

	ret->depth = 0;
	strcpy(ret->name, t->name);
	ret->at = fcntl(t->dir_fd, F_DUPFD_CLOEXEC, 0);
	if (ret->at < 0)
		return sb_fail(err, SB_SYSTEM, "cannot copy an fd: %m");
	while (t->is_dir) {
		int fd;

		if (next_part(&path, part, err) < 0)
			return -1;
		if (!*part)
			break;
		if (++ret->depth > DEPTH_MAX)
			return bad(err, "it is too deep");
		fd = openat(ret->at, ret->name,
			    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return bad(err, "it leads through no folder");
		close(ret->at);
		ret->at = fd;
		strcpy(ret->name, part);
	}
	return 0;
}

/* The place of a new entry. */
static int claim(struct tree *t, const char *path, struct place *ret,
		 struct sb_err *err)
{
	if (t->entries && !t->is_dir)
		return bad(err, "there is more than the one file");
	if (++t->entries > ENTRIES_MAX)
		return sb_fail(err, SB_LIMIT, "more than %d files to copy",
			       ENTRIES_MAX);
	return locate(t, path, ret, err);
}

/* Turn the result of a system call that made path into 0 or -1. */
static int made(int rc, const char *path, struct sb_err *err)
{
	if (rc >= 0)
		return 0;
	if (errno == EEXIST)
		return bad(err, "it comes twice");
	return sb_fail(err, sb_code_of_errno(errno), "cannot write '%s': %m",
		       path);
}

int tree_make_dir(struct tree *t, const char *path, mode_t mode,
		  struct sb_err *err)
{
	autoplace struct place p = { .at = -1 };
	bool first = t->entries == 0;

	if (claim(t, path, &p, err) < 0 ||
	    made(mkdirat(p.at, p.name, 0700), path, err) < 0)
		return -1;
	if (first)
		t->is_dir = true;
	/* Its owner must be able to fill it, and to remove it. */
	mode = (mode & MODE_MASK) | 0700;
	return made(fchmodat(p.at, p.name, mode, 0), path, err);
}

int tree_make_file(struct tree *t, const char *path, mode_t mode, int *ret_fd,
		   struct sb_err *err)
{
	autoplace struct place p = { .at = -1 };
	autoclose int fd = -1;

	if (claim(t, path, &p, err) < 0)
		return -1;
	fd = openat(p.at, p.name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (made(fd, path, err) < 0 ||
	    made(fchmod(fd, mode & MODE_MASK), path, err) < 0)
		return -1;
	*ret_fd = steal_fd(&fd);
	return 0;
}

/*
 * Whether a symlink at that depth stays inside the tree.  It may climb only at
 * the start of its target: "a/../.." could pass through a second symlink and
 * come out above the root.
 */
static bool stays_inside(const char *target, int depth)
{
	bool climbing = true;
	int up = 0;

	if (*target == '/' || *target == '\0' || depth == 0)
		return false;
	for (const char *p = target; *p; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (n == 2 && memcmp(p, "..", 2) == 0) {
			if (!climbing || ++up >= depth)
				return false;
		} else if (n != 1 || *p != '.') {
			climbing = false;
		}
		p += n;
	}
	return true;
}

int tree_make_symlink(struct tree *t, const char *path, const char *target,
		      struct sb_err *err)
{
	autoplace struct place p = { .at = -1 };

	if (claim(t, path, &p, err) < 0)
		return -1;
	if (!stays_inside(target, p.depth)) {
		sb_fail(err, SB_DENIED,
			"the symlink '%s' points out of the folder", path);
		return sb_hint(
			err,
			"remove it in the guest, or copy the parts you need");
	}
	return made(symlinkat(target, p.at, p.name), path, err);
}

int tree_make_hardlink(struct tree *t, const char *path, const char *target,
		       struct sb_err *err)
{
	autoplace struct place p = { .at = -1 }, old = { .at = -1 };
	struct stat st;

	if (claim(t, path, &p, err) < 0 || locate(t, target, &old, err) < 0)
		return -1;
	/* Not of a symlink, which would come to lie at another depth. */
	if (fstatat(old.at, old.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return bad(err, "a hard link leads to no file");
	return made(linkat(old.at, old.name, p.at, p.name, 0), path, err);
}
