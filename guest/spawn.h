/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Start a program: as whom, where, with which environment, as the leader of a
 * session (and so of a process group) of its own.
 */

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/util.h"
#include "guest/cgroup.h"

/*
 * Once, before all else: allow ourselves enough descriptors, and see to it
 * that 0, 1 and 2 are not among those that pipes get.
 */
int spawn_init(struct sb_err *err);

/* The environment and the identity that a program is given. */
struct spawn_as;

/*
 * user NULL: the sandbox's user if there is one, else who we are.  SB_INVALID
 * if there is no such account, SB_DENIED if we are not root and it is not ours.
 */
int spawn_as_new(const char *user, struct spawn_as **ret, struct sb_err *err);
void spawn_as_free(struct spawn_as *as);
DEFINE_AUTO(struct spawn_as *, spawn_as_free, spawn_as_auto_free)
#define autospawnas __attribute__((cleanup(spawn_as_auto_free)))

/* Replace or add a variable. */
void spawn_as_setenv(struct spawn_as *as, const char *name, const char *value);
/* Add the lines KEY=VALUE of a file, if it is there. */
void spawn_as_read_env(struct spawn_as *as, const char *path);
/* Its absolute path if the program is in the PATH that it would have. */
char *spawn_as_find(const struct spawn_as *as, const char *program);
/* Give a file or folder to the account. */
int spawn_as_own(const struct spawn_as *as, const char *path,
		 struct sb_err *err);
const char *spawn_as_user(const struct spawn_as *as);
uid_t spawn_as_uid(const struct spawn_as *as);
/* NULL if it is not set. */
const char *spawn_as_getenv(const struct spawn_as *as, const char *name);

/* Our ends of the child's pipes, non-blocking, and the group that it is in. */
struct spawn_pipes {
	int in; /* -1: it reads /dev/null */
	int out, err;
	struct cgroup *group; /* may be NULL; the caller's to cgroup_free() */
};

/*
 * Start argv[0], a path or a name in PATH, in cwd: NULL is the workspace, or the home if there
 * is none, and a relative one begins there.  Returns when the program runs, or with SB_INVALID
 * naming the folder, SB_NOTFOUND or
 * SB_DENIED naming the program, SB_BUSY when there are too many processes, SB_SYSTEM.
 */
int spawn(const struct spawn_as *as, const char *const argv[],
	  const char *workspace, const char *cwd, bool with_stdin,
	  pid_t *ret_pid, struct spawn_pipes *ret_pipes, struct sb_err *err);

/*
 * The same with descriptors of the caller's as the child's 0, 1 and 2; they
 * stay his.
 */
int spawn_fds(const struct spawn_as *as, const char *const argv[],
	      const char *workspace, const char *cwd, const int fd[3],
	      pid_t *ret_pid, struct sb_err *err);

/*
 * The same on a terminal of its own; *ret_master is our end of it,
 * non-blocking.
 */
int spawn_pty(const struct spawn_as *as, const char *const argv[],
	      const char *workspace, const char *cwd, int cols, int rows,
	      pid_t *ret_pid, int *ret_master, struct sb_err *err);
