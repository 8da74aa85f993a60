/* SPDX-License-Identifier: Apache-2.0 */
/* Running another program to its end. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/util.h"
#include "host/proc.h"

#define LINE_MAX_LEN 1024
#define GRACE_MS 5000

extern char **environ;

/* One pipe of the child: keeps the line that is not yet complete. */
struct reader {
	int fd;
	char line[LINE_MAX_LEN];
	size_t len;
	char last[LINE_MAX_LEN]; /* last line that was not empty */
};

struct run {
	const struct proc *p;
	pid_t pid;
	int pidfd;
	int log;
	struct reader err, progress;
};

static void reader_line(struct run *r, struct reader *rd)
{
	rd->line[rd->len] = '\0';
	rd->len = 0;
	if (!rd->line[0])
		return;
	memcpy(rd->last, rd->line, sizeof(rd->last));
	if (rd == &r->progress && r->p->on_line)
		r->p->on_line(r->p->arg, rd->line);
}

/* Read what is there; closes the reader at end of file. */
static void reader_read(struct run *r, struct reader *rd)
{
	char block[4096];
	ssize_t n = read(rd->fd, block, sizeof(block));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		reader_line(r, rd);
		close(rd->fd);
		rd->fd = -1;
		return;
	}
	if (rd == &r->err && r->log >= 0)
		(void)fs_write_all(r->log, block, n);
	for (ssize_t i = 0; i < n; i++) {
		if (block[i] == '\n' || rd->len == sizeof(rd->line) - 1)
			reader_line(r, rd);
		if (block[i] != '\n')
			rd->line[rd->len++] = block[i];
	}
}

static int spawn(struct run *r, struct sb_err *err)
{
	int ep[2] = { -1, -1 }, pp[2] = { -1, -1 };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none;
	int rc;

	if (pipe2(ep, O_CLOEXEC) < 0 || pipe2(pp, O_CLOEXEC) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot make a pipe: %m");
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, ep[1], 1);
	posix_spawn_file_actions_adddup2(&fa, ep[1], 2);
	posix_spawn_file_actions_adddup2(&fa, pp[1], 3);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
						POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(&attr, 0);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	rc = posix_spawnp(&r->pid, r->p->argv[0], &fa, &attr,
			  (char *const *)r->p->argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	close(ep[1]);
	close(pp[1]);
	r->err.fd = ep[0];
	r->progress.fd = pp[0];
	if (rc)
		return sb_fail(err, rc == ENOENT ? SB_MISSING : SB_SYSTEM,
			       "cannot start '%s': %s", r->p->argv[0],
			       strerror(rc));
	return 0;
}

/* Wait until it has ended, reading its output; -1 with a reason if not. */
static int watch(struct run *r, int64_t deadline, bool heed_cancel,
		 struct sb_err *err)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = r->pidfd, .events = POLLIN },
			{ .fd = r->err.fd, .events = POLLIN },
			{ .fd = r->progress.fd, .events = POLLIN },
			{ .fd = heed_cancel ? cancel_fd(r->p->cancel) : -1,
			  .events = POLLIN },
		};
		int wait = deadline < 0 ? -1 : clock_left(deadline);
		int n = poll(fds, ARRAY_SIZE(fds), wait);

		if (n < 0 && errno != EINTR)
			return sb_fail(err, SB_SYSTEM, "poll: %m");
		if (n == 0)
			return sb_fail(err, SB_TIMEOUT,
				       "'%s' took longer than %d s",
				       r->p->argv[0], r->p->timeout_ms / 1000);
		if (fds[3].revents)
			return sb_fail(err, SB_CANCELLED, "cancelled");
		if (fds[1].revents)
			reader_read(r, &r->err);
		if (fds[2].revents)
			reader_read(r, &r->progress);
		/* Its last words come before the end is believed. */
		if (fds[0].revents && !fds[1].revents && !fds[2].revents)
			return 0;
	}
}

static int verdict(struct run *r, struct sb_err *err)
{
	const char *why = r->err.last[0] ? r->err.last : "no message";
	int status;

	while (waitpid(r->pid, &status, 0) < 0)
		if (errno != EINTR)
			return sb_fail(err, SB_SYSTEM, "waitpid: %m");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return sb_fail(err, SB_SYSTEM, "'%s' was ended by signal %d",
			       r->p->argv[0], WTERMSIG(status));
	return sb_fail(err,
		       strstr(why, "No space left") ? SB_NOSPACE : SB_SYSTEM,
		       "%s: %s", r->p->argv[0], why);
}

int proc_run(const struct proc *p, struct sb_err *err)
{
	struct run r = {
		.p = p, .pidfd = -1, .log = -1, .err.fd = -1, .progress.fd = -1
	};
	int64_t deadline = p->timeout_ms < 0 ? -1 : clock_ms() + p->timeout_ms;
	int rc = -1;

	if (p->log)
		r.log = open(p->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			     0644);
	if (spawn(&r, err) < 0)
		goto out;
	r.pidfd = (int)syscall(SYS_pidfd_open, r.pid, 0);
	rc = watch(&r, deadline, p->cancel != NULL, err);
	if (rc < 0) {
		int status;

		kill(-r.pid, SIGTERM);
		if (watch(&r, clock_ms() + GRACE_MS, false, NULL) < 0)
			kill(-r.pid, SIGKILL);
		waitpid(r.pid, &status, 0);
	} else {
		rc = verdict(&r, err);
	}
out:
	util_close(&r.pidfd);
	util_close(&r.log);
	util_close(&r.err.fd);
	util_close(&r.progress.fd);
	return rc;
}
