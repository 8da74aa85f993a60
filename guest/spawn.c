/* SPDX-License-Identifier: Apache-2.0 */
/* Start a program with an identity, in a folder, with pipes or a terminal. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "common/fs.h"
#include "guest/guestd.h"
#include "guest/spawn-private.h"

#define CHILD_NOFILE 1024
#define CHILD_NPROC 4096
#define OUR_NOFILE 16384

static bool is_protected; /* from the kernel when memory is short */

/* What went wrong in the child before the program ran. */
struct failure {
	enum { NOWHERE, IN_SETUP, IN_IDENTITY, IN_CWD, IN_EXEC } where;
	int errnum;
};

/* What the child needs; it must not allocate. */
struct child {
	const struct spawn_as *as;
	const char *const *argv;
	const char *base, *cwd;
	int fd[3];
	bool tty; /* fd[0] is to control it */
	const struct cgroup *group;
	struct failure failure;
};

/*
 * The C library's functions would change all threads of the process whose
 * memory we share: the kernel's change only us.
 */
static int become(const struct spawn_as *as)
{
	if (!as->change)
		return 0;
	if (syscall(SYS_setgroups, as->ngroups, as->groups) < 0 ||
	    syscall(SYS_setresgid, as->gid, as->gid, as->gid) < 0)
		return -1;
	return (int)syscall(SYS_setresuid, as->uid, as->uid, as->uid);
}

/* guestd is the last that the kernel kills; what it runs is not. */
static void be_killable(void)
{
	int fd;

	if (!is_protected)
		return;
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "0", 1) < 0)
		errno = 0; /* not allowed to: then it was not lowered */
	if (fd >= 0)
		close(fd);
}

/* The account's processes are counted only where the command's cannot be. */
static void set_limits(bool count_processes)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = MIN(lim.rlim_max, CHILD_NOFILE);
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	if (count_processes && getrlimit(RLIMIT_NPROC, &lim) == 0) {
		lim.rlim_cur = MIN(lim.rlim_cur, CHILD_NPROC);
		lim.rlim_max = MIN(lim.rlim_max, CHILD_NPROC);
		setrlimit(RLIMIT_NPROC, &lim);
	}
	umask(022);
}

/* Whether we are in the group, and it bounds us. */
static bool join(const struct cgroup *g)
{
	return g && write(cgroup_join_fd(g), "0", 1) == 1 &&
	       cgroup_is_bounded(g);
}

/* Before one may come in, no handler of ours may be left. */
static void reset_signals(void)
{
	const struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static __attribute__((noreturn)) void child_fail(struct child *c, int where)
{
	c->failure.where = where;
	c->failure.errnum = errno;
	_exit(127);
}

/*
 * Look for the program as the user and in the PATH of its environment, not of
 * ours, and become it.  execvp() would need environ changed, which is our
 * parent's.
 */
static void exec_program(const struct child *c)
{
	char *const *argv = (char *const *)c->argv;
	char *const *env = (char *const *)c->as->env;
	const char *name = argv[0], *dir = spawn_as_getenv(c->as, "PATH");
	char path[PATH_MAX];
	int errnum = ENOENT;

	if (strchr(name, '/')) {
		execve(name, argv, env);
		return;
	}
	while (*name && dir) {
		const char *end = strchrnul(dir, ':');

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)(end - dir),
			     end > dir ? dir : ".", name) < PATH_MAX)
			execve(path, argv, env);
		if (errno != ENOENT && errno != ENOTDIR)
			errnum = errno;
		dir = *end ? end + 1 : NULL;
	}
	errno = errnum;
}

/* After vfork(): the memory is our parent's, which waits. */
static __attribute__((noreturn)) void run_child(struct child *c)
{
	setsid();
	for (int i = 0; i < 3; i++)
		if (dup2(c->fd[i], i) < 0)
			child_fail(c, IN_SETUP);
	if (c->tty && ioctl(0, TIOCSCTTY, 0) < 0)
		child_fail(c, IN_SETUP);
	be_killable();
	set_limits(!join(c->group));
	if (become(c->as) < 0)
		child_fail(c, IN_IDENTITY);
	/* The base may be missing; a folder that was asked for may not. */
	if (chdir(c->base) < 0 && chdir(c->as->home) < 0 && chdir("/") < 0)
		child_fail(c, IN_CWD);
	if (c->cwd && chdir(c->cwd) < 0)
		child_fail(c, IN_CWD);
	reset_signals();
	exec_program(c);
	child_fail(c, IN_EXEC);
}

static int explain(const struct child *c, struct sb_err *err)
{
	errno = c->failure.errnum;
	switch (c->failure.where) {
	case IN_CWD:
		return sb_fail(err, SB_INVALID, "cannot go to 'cwd' '%s': %m",
			       c->cwd ? c->cwd : "/");
	case IN_IDENTITY:
		return sb_fail(err, SB_SYSTEM, "cannot become '%s': %m",
			       c->as->user);
	case IN_EXEC:
		if (errno == E2BIG)
			return sb_fail(err, SB_LIMIT,
				       "command and environment are larger "
				       "than the kernel allows");
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot run '%s': %m", c->argv[0]);
	default:
		return sb_fail(err, SB_SYSTEM, "cannot set up a process: %m");
	}
}

/*
 * vfork() copies no page tables, returns when the program runs or could not be
 * run, and lets the child tell why.  All signals wait while the child still
 * has our handlers.
 */
static int start(struct child *c, pid_t *ret_pid, struct sb_err *err)
{
	sigset_t all, old;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = vfork(); /* NOLINT */
	if (pid == 0)
		run_child(c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		return sb_fail(err, SB_BUSY, "cannot start a process now: %m");
	if (c->failure.where != NOWHERE) {
		waitpid(pid, NULL, 0);
		return explain(c, err);
	}
	*ret_pid = pid;
	return 0;
}

/* The child's end blocks, ours does not. */
static int make_pipe(int *ours, int *theirs, bool we_read)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -1;
	*ours = fd[we_read ? 0 : 1];
	*theirs = fd[we_read ? 1 : 0];
	return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static int open_stdin(bool with_stdin, int *ours, int *theirs)
{
	if (with_stdin)
		return make_pipe(ours, theirs, false);
	*theirs = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return *theirs < 0 ? -1 : 0;
}

int spawn_init(struct sb_err *err)
{
	autofree char *score = NULL;
	struct rlimit lim;
	int fd;

	is_protected = fs_read("/proc/self/oom_score_adj", 16, &score, NULL,
			       NULL) < 0 ||
		       atoi(score) < 0;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3);
	if (fd < 0)
		return sb_fail(err, SB_SYSTEM, "cannot open /dev/null: %m");
	close(fd);
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = MAX(lim.rlim_cur, MIN(lim.rlim_max, OUR_NOFILE));
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	return 0;
}

int spawn_fds(const struct spawn_as *as, const char *const argv[],
	      const char *workspace, const char *cwd, const int fd[3],
	      pid_t *ret_pid, struct sb_err *err)
{
	struct child c = {
		.as = as, .argv = argv, .cwd = cwd, .base = workspace
	};

	struct cgroup *group = cgroup_new();
	int r;

	memcpy(c.fd, fd, sizeof(c.fd));
	c.group = group;
	r = start(&c, ret_pid, err);
	cgroup_joined(group);
	cgroup_free(group); /* it vanishes with what is in it */
	return r;
}

int spawn(const struct spawn_as *as, const char *const argv[],
	  const char *workspace, const char *cwd, bool with_stdin,
	  pid_t *ret_pid, struct spawn_pipes *ret_pipes, struct sb_err *err)
{
	autoclose int in = -1, out = -1, errs = -1;
	autoclose int cin = -1, cout = -1, cerr = -1;
	struct child c = {
		.as = as, .argv = argv, .cwd = cwd, .base = workspace
	};
	int r;

	if (open_stdin(with_stdin, &in, &cin) < 0 ||
	    make_pipe(&out, &cout, true) < 0 ||
	    make_pipe(&errs, &cerr, true) < 0)
		return sb_fail(err, SB_BUSY, "cannot make a pipe: %m");
	c.fd[0] = cin;
	c.fd[1] = cout;
	c.fd[2] = cerr;
	c.group = ret_pipes->group = cgroup_new();
	r = start(&c, ret_pid, err);
	cgroup_joined(ret_pipes->group);
	if (r < 0) {
		cgroup_free(ret_pipes->group);
		return -1;
	}
	ret_pipes->in = steal_fd(&in);
	ret_pipes->out = steal_fd(&out);
	ret_pipes->err = steal_fd(&errs);
	return 0;
}

static void set_modes(int slave, int cols, int rows)
{
	struct winsize size = { .ws_col = cols, .ws_row = rows };
	struct termios t;

	ioctl(slave, TIOCSWINSZ, &size);
	if (tcgetattr(slave, &t) == 0) {
		t.c_iflag |= IUTF8; /* to erase characters, not bytes */
		tcsetattr(slave, TCSANOW, &t);
	}
}

int spawn_pty(const struct spawn_as *as, const char *const argv[],
	      const char *workspace, const char *cwd, int cols, int rows,
	      pid_t *ret_pid, int *ret_master, struct sb_err *err)
{
	autoclose int master = -1, slave = -1;
	struct child c = { .as = as,
			   .argv = argv,
			   .cwd = cwd,
			   .base = workspace,
			   .tty = true };
	struct cgroup *group;
	int r;

	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (master >= 0 && unlockpt(master) == 0)
		slave = ioctl(master, TIOCGPTPEER,
			      O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 ||
	    (as->change && (fchown(slave, as->uid, (gid_t)-1) < 0 ||
			    fchmod(slave, 0620) < 0)))
		return sb_fail(err, SB_BUSY, "cannot make a terminal: %m");
	set_modes(slave, cols, rows);
	for (int i = 0; i < 3; i++)
		c.fd[i] = slave;
	c.group = group = cgroup_new();
	r = start(&c, ret_pid, err);
	cgroup_joined(group);
	cgroup_free(group); /* vanishes when all in it has ended */
	if (r < 0)
		return -1;
	*ret_master = steal_fd(&master);
	return 0;
}
