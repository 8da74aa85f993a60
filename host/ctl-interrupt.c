/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C as something to wait for. */
#include "config.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "host/ctl-interrupt.h"

static const int usual[] = { SIGINT, SIGTERM, SIGHUP, 0 };

static void set_of(const int *signals, sigset_t *ret)
{
	sigemptyset(ret);
	while (*signals)
		sigaddset(ret, *signals++);
}

int interrupt_open(const int *signals, struct sb_err *err)
{
	sigset_t set;
	int fd;

	set_of(signals, &set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return sb_fail(err, SB_SYSTEM, "signalfd: %m");
	sigprocmask(SIG_BLOCK, &set, NULL);
	return fd;
}

int interrupt_begin(struct sb_err *err)
{
	return interrupt_open(usual, err);
}

int interrupt_end(int fd)
{
	struct signalfd_siginfo si;
	sigset_t set;
	ssize_t n;

	n = read(fd, &si, sizeof(si));
	close(fd);
	set_of(usual, &set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return n == sizeof(si) ? (int)si.ssi_signo : 0;
}
