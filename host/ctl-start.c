/* SPDX-License-Identifier: Apache-2.0 */
/* Starting sandboxd in the background. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/util.h"
#include "host/ctl-start.h"
#include "host/paths.h"

#define EXPLAIN_BYTES 400 /* of the log; an error is one short text */
#define EXIT_EXEC 127

/* In the child: only async-signal-safe calls. */
static void become_daemon(const char *program, int log_fd)
{
	char *const argv[] = { (char *)program, NULL };
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null_fd, STDIN_FILENO);
	dup2(log_fd, STDOUT_FILENO);
	dup2(log_fd, STDERR_FILENO);
	if (chdir("/") == 0)
		execv(program, argv);
	dprintf(STDERR_FILENO, "%s: %s\n", program, strerror(errno));
	_exit(EXIT_EXEC);
}

static int open_log(struct start *s, int *ret_fd, struct sb_err *err)
{
	autofree char *state = paths_state();
	autoclose int fd = -1;
	struct stat st;

	if (fs_mkdirs(state, 0711, err))
		return -1;
	s->log = paths_log();
	fd = open(s->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st))
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open '%s': %m", s->log);
	s->log_from = st.st_size;
	*ret_fd = steal_fd(&fd);
	return 0;
}

int start_daemon(struct start *ret, struct sb_err *err)
{
	autofree char *program = paths_sandboxd();
	autoclose int log_fd = -1;
	struct start s = { 0 };

	if (access(program, X_OK)) {
		sb_fail(err, SB_MISSING, "cannot start '%s': %m", program);
		return sb_hint(err, "install sandboxd, or set SANDBOXD to it");
	}
	if (open_log(&s, &log_fd, err)) {
		start_done(&s);
		return -1;
	}
	s.pid = fork();
	if (s.pid < 0) {
		start_done(&s);
		return sb_fail(err, SB_SYSTEM, "fork: %m");
	}
	if (s.pid == 0)
		become_daemon(program, log_fd);
	*ret = s;
	return 0;
}

bool start_failed(struct start *s, struct sb_err *err)
{
	int status;

	if (!s->pid || waitpid(s->pid, &status, WNOHANG) != s->pid)
		return false;
	s->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	if (WIFSIGNALED(status))
		sb_fail(err, SB_SYSTEM, "sandboxd was ended by signal %d",
			WTERMSIG(status));
	else
		sb_fail(err, SB_SYSTEM, "sandboxd ended with status %d",
			WEXITSTATUS(status));
	start_explain(s, err);
	return true;
}

int start_explain(const struct start *s, struct sb_err *err)
{
	char text[EXPLAIN_BYTES + 1], why[sizeof(err->msg)];
	autoclose int fd = open(s->log, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const char *p = text;
	ssize_t n = 0;
	off_t from;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		from = MAX(s->log_from, st.st_size - EXPLAIN_BYTES);
		n = pread(fd, text, EXPLAIN_BYTES, from);
		/* A first line that is cut says nothing. */
		text[MAX(n, 0)] = '\0';
		if (from > s->log_from && strchr(text, '\n'))
			p = strchr(text, '\n') + 1;
	}
	if (n > 0) {
		snprintf(why, sizeof(why), "%s", err->msg);
		sb_fail(err, err->code, "%.100s: %s", why, p);
	}
	return sb_hint(err, "see its log: %s", s->log);
}

/* The daemon itself goes on; it is init's child once we are gone. */
void start_done(struct start *s)
{
	free(s->log);
	s->log = NULL;
}
