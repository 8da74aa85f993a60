/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors 1 and 2 as pipes into the outbox. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "guest/kernel/capture.h"

#define PIPE_SIZE (256 << 10)
#define READ_SIZE (64 << 10)

static int capture_one(int fd, int *ret_in, int *ret_real, struct sb_err *err)
{
	int p[2];

	*ret_real = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (*ret_real < 0) /* it was closed */
		*ret_real = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (pipe2(p, O_CLOEXEC) < 0)
		return sb_fail(err, SB_SYSTEM, "pipe: %m");
	fcntl(p[1], F_SETPIPE_SZ, PIPE_SIZE); /* a wish */
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	if (dup2(p[1], fd) < 0)
		return sb_fail(err, SB_SYSTEM, "dup2: %m");
	close(p[1]);
	*ret_in = p[0];
	return 0;
}

int capture_start(struct capture *c, struct sb_err *err)
{
	*c = (struct capture){ .in = { -1, -1 }, .real = { -1, -1 } };
	/* C code must not keep its lines because 1 is no terminal. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 2; i++)
		if (capture_one(i + 1, &c->in[i], &c->real[i], err) < 0)
			return -1;
	return 0;
}

/* At most what the pipe held when we began: a child may never stop writing. */
static void drain_one(struct capture *c, int i, struct outbox *box, bool finish)
{
	static char block[READ_SIZE]; /* the outbox's lock guards it */
	int left = 0;

	c->text.len = 0;
	if (ioctl(c->in[i], FIONREAD, &left) < 0)
		left = 0;
	do {
		ssize_t n = read(c->in[i], block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0) { /* all who could write have closed it */
			close(c->in[i]);
			c->in[i] = -1;
		}
		if (n <= 0)
			break;
		utf8_clean(&c->rest[i], block, (size_t)n, &c->text);
		left -= (int)n;
	} while (left > 0);
	if (finish)
		utf8_finish(&c->rest[i], &c->text);
	outbox_text(box, i ? STREAM_ERR : STREAM_OUT, c->text.p, c->text.len);
	if (c->text.cap > 4 * READ_SIZE)
		buf_done(&c->text);
}

void capture_drain(struct capture *c, struct outbox *box, bool finish)
{
	struct pollfd p[2] = { { .fd = c->in[0], .events = POLLIN },
			       { .fd = c->in[1], .events = POLLIN } };

	if (poll(p, 2, 0) <= 0 &&
	    !(finish && (c->rest[0].len || c->rest[1].len)))
		return;
	for (int i = 0; i < 2; i++)
		if (c->in[i] >= 0 && (p[i].revents || finish))
			drain_one(c, i, box, finish);
}

void capture_stop(struct capture *c)
{
	for (int i = 0; i < 2; i++) {
		if (c->real[i] >= 0)
			dup2(c->real[i], i + 1);
		util_close(&c->real[i]);
		util_close(&c->in[i]);
	}
	buf_done(&c->text);
}
