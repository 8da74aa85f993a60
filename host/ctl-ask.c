/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that the user's terminal answers itself. */
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/tty.h"
#include "common/util.h"
#include "host/ctl-ask.h"

#define QUESTION "\033[c"
#define ANSWER "\033[?"
#define WAIT_MS 500    /* for a terminal far away, too */
#define ANSWER_MAX 256 /* with what was typed before it */
#define SIXEL 4	       /* among what it can */

/* "62;4;22c": first what it is, then what it can. */
static bool has_sixel(const char *p)
{
	while ((p = strchr(p, ';')))
		if (strtoul(++p, NULL, 10) == SIXEL)
			return true;
	return false;
}

int ask_answer(const char *text)
{
	const char *p = text;

	while ((p = strstr(p, ANSWER))) {
		p += strlen(ANSWER);
		if (p[strspn(p, "0123456789;")] == 'c')
			return has_sixel(p);
	}
	return -1;
}

static int wait_answer(int fd)
{
	int64_t deadline = clock_ms() + WAIT_MS;
	char text[ANSWER_MAX] = "";
	size_t len = 0;
	int answer = -1;

	while (answer < 0 && len < sizeof(text) - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int left = clock_left(deadline);

		/* No byte more: those after the answer are the shell's. */
		if (left <= 0 || poll(&p, 1, left) <= 0 ||
		    read(fd, &text[len], 1) != 1)
			break;
		len++;
		answer = ask_answer(text);
	}
	return answer;
}

/*
 * In raw mode ^C is typed text, and signals wait: whatever happens, the modes
 * are restored.  An answer that is not whole is not left for the shell.
 */
static bool ask(int fd)
{
	sigset_t all, before;
	struct tty tty;
	int answer = -1;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	tty_init(&tty, fd, fd);
	if (tty.raw && fs_write_all(fd, QUESTION, strlen(QUESTION)) == 0)
		answer = wait_answer(fd);
	if (answer < 0)
		tcflush(fd, TCIFLUSH);
	tty_done(&tty);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return answer > 0;
}

/* In the background the answer would be another program's. */
bool ask_sixel(int fd)
{
	autoclose int tty = -1;

	if (tcgetpgrp(fd) != getpgrp())
		return false;
	tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	return tty >= 0 && ask(tty);
}
