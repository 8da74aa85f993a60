/* SPDX-License-Identifier: Apache-2.0 */
/* Input and signals on their way to a command in a guest. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/util.h"
#include "host/ctl-run.h"

#define SEND_MS 30000
#define SIGNAL_MS 10000
#define BLOCK (128 * 1024)
/* The guest's queue for the command's stdin is full: it is asked again. */
#define RETRY_MS 20
/* A server may close a connection that was idle for long. */
#define IDLE_MS 2000

struct feeder {
	pthread_t thread;
	const struct guestd_at *at;
	const struct guest_run *r;
	const char *id;
	int stop_fd, lost_fd;
	struct hclient *client;
	int64_t used_ms;
	bool in_end; /* there is no input, or no more */
	bool busy;   /* block waits for room */
	size_t len;
	int rc;
	struct sb_err err;
	char block[BLOCK];
};

int guest_signal(const struct guestd_at *at, const char *id, int signum,
		 int cancel_fd, struct sb_err *err)
{
	autofree char *path = xasprintf("/v1/processes/%s/signal", id);
	autojson json_t *body = json_pack("{s:i}", "signal", signum);
	autohclient struct hclient *c = NULL;

	if (guestd_open(at, SIGNAL_MS, cancel_fd, &c, err) < 0)
		return -1;
	return hclient_json(c, "POST", path, body, NULL, err);
}

/* One that has ended needs no signal. */
static int pass_signals(struct feeder *f, struct sb_err *err)
{
	struct signalfd_siginfo si;

	if (!f->r->forward)
		return sb_fail(err, SB_CANCELLED, "cancelled");
	while (read(f->r->signal_fd, &si, sizeof(si)) == sizeof(si))
		if (guest_signal(f->at, f->id, (int)si.ssi_signo, f->stop_fd,
				 err) < 0 &&
		    err->code != SB_CONFLICT && err->code != SB_NOTFOUND)
			return -1;
	return 0;
}

static int connect_again(struct feeder *f, struct sb_err *err)
{
	if (f->client && clock_ms() - f->used_ms < IDLE_MS)
		return 0;
	hclient_free(steal(&f->client));
	return guestd_open(f->at, SEND_MS, f->stop_fd, &f->client, err);
}

/* Send what is in the block; nothing is the end of the input. */
static int send_block(struct feeder *f, struct sb_err *err)
{
	autofree char *path = xasprintf("/v1/processes/%s/stdin%s", f->id,
					f->len ? "" : "?close=true");
	int rc;

	if (connect_again(f, err) < 0)
		return -1;
	rc = hclient_send_bytes(f->client, "POST", path, f->block, f->len, err);
	f->used_ms = clock_ms();
	f->busy = rc < 0 && err->code == SB_BUSY;
	if (f->busy)
		return 0;
	f->in_end = f->in_end || !f->len;
	/* It reads no more, or has ended: so be it. */
	if (rc < 0 && (err->code == SB_CONFLICT || err->code == SB_NOTFOUND))
		f->in_end = true;
	else if (rc < 0)
		return sb_wrap(err, "cannot send the command its input");
	return 0;
}

static int take_input(struct feeder *f, struct sb_err *err)
{
	const struct guest_run *r = f->r;
	ssize_t n;

	if (!f->busy) {
		n = r->pull ? r->pull(r->arg, f->block, BLOCK, err)
			    : read(r->in_fd, f->block, BLOCK);
		if (n < 0 && r->pull)
			return -1;
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return 0;
		f->len = MAX(n, 0);
	}
	return send_block(f, err);
}

enum { FD_STOP, FD_SIGNAL, FD_IN, NFDS };

/* One turn; 1 when it is time to stop. */
static int turn(struct feeder *f, struct sb_err *err)
{
	const struct guest_run *r = f->r;
	bool listen = !f->in_end && !f->busy && !r->pull;
	struct pollfd fds[NFDS] = {
		[FD_STOP] = { .fd = f->stop_fd, .events = POLLIN },
		[FD_SIGNAL] = { .fd = r->signal_fd, .events = POLLIN },
		[FD_IN] = { .fd = listen ? r->in_fd : -1, .events = POLLIN },
	};
	int wait = f->in_end || listen ? -1 : f->busy ? RETRY_MS : 0;

	if (poll(fds, NFDS, wait) < 0 && errno != EINTR)
		return sb_fail(err, SB_SYSTEM, "poll: %m");
	if (fds[FD_STOP].revents)
		return 1;
	if (fds[FD_SIGNAL].revents && pass_signals(f, err) < 0)
		return -1;
	if (!f->in_end && (!listen || fds[FD_IN].revents))
		return take_input(f, err);
	return 0;
}

static void *feed(void *arg)
{
	struct feeder *f = arg;
	uint64_t one = 1;

	do
		f->rc = turn(f, &f->err);
	while (f->rc == 0);
	if (f->rc < 0 && write(f->lost_fd, &one, sizeof(one)) < 0)
		f->rc = -1; /* the other thread then waits for the command */
	return NULL;
}

struct feeder *feeder_start(const struct guestd_at *at,
			    const struct guest_run *r, const char *id,
			    int lost_fd)
{
	struct feeder *f = xcalloc(1, sizeof(*f));

	f->at = at;
	f->r = r;
	f->id = id;
	f->lost_fd = lost_fd;
	f->in_end = r->in_fd < 0 && !r->pull;
	f->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (f->stop_fd < 0 || pthread_create(&f->thread, NULL, feed, f) != 0)
		abort(); /* out of descriptors or threads at the very start */
	return f;
}

int feeder_end(struct feeder *f, struct sb_err *err)
{
	uint64_t one = 1;
	int rc;

	if (!f)
		return 0;
	if (write(f->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(f->thread, NULL);
	rc = f->rc < 0 && f->err.code != SB_CANCELLED ? -1 : 0;
	if (rc < 0)
		*err = f->err;
	hclient_free(f->client);
	close(f->stop_fd);
	free(f);
	return rc;
}
