/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a command: one loop moves bytes between the channel, the local files
 * and the user's signals.  Nothing is read before there is room for it, so
 * memory stays constant however slow either side is.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "ssh/command.h"
#include "ssh/leash.h"
#include "ssh/session.h"
#include "common/tty.h"

/* For the guest to open a channel and start the command. */
#define START_MS 60000
#define CHUNK (32 * 1024)
/* While the mark is sought: what was kept back must fit a chunk. */
#define SEEK_CHUNK 4096
static_assert(LEASH_HEAD_MAX + SEEK_CHUNK <= CHUNK, "mark beyond a chunk");
/*
 * The peer may send 1.25 MiB unasked (libssh's window).  One that sends more
 * into a stalled stream breaks the protocol, and is not listened to any more.
 */
#define UNREAD_MAX (4 * 1024 * 1024)

/* For the last output of a command that has ended by a signal, while others of
 * its group, which ignored the signal, hold its stdout open. */
#define LINGER_MS 500

#define TYPED_INTR "\003"
#define TYPED_EOF "\004"

struct chunk {
	size_t off, len; /* what of data is still to be moved */
	char data[CHUNK];
};

struct job {
	struct ssh *s;
	ssh_channel channel;
	struct ssh_channel_callbacks_struct callbacks;

	/* stdin: from in_fd, or from pull; in is not yet sent. */
	int in_fd;
	ssize_t (*pull)(void *arg, char *data, size_t max, struct sb_err *err);
	bool in_end, in_later;
	struct chunk in;

	/* stdout and stderr: to a file, or to push; out is not yet written. */
	int out_fd[2];
	int (*push)(void *arg, int stream, const char *data, size_t len,
		    struct sb_err *err);
	struct chunk out[2];
	void *arg;

	bool use_tty;
	struct tty tty;
	int signal_fd;
	sigset_t old_mask;
	struct leash *leash;
	bool leash_found;
	struct buf head; /* of stderr, until the leash has its mark */

	int64_t deadline; /* -1: none */
	int idle_ms;	  /* > 0: every byte moves the deadline on */
	int status;	  /* -1: not told */
	uint64_t seen;	  /* bytes of the socket that were looked at */
	bool closed;	  /* the guest has closed the channel */
	bool signalled;	  /* the user wants it to end */
	int64_t linger;	  /* when to stop waiting for its output; -1 */
};

static void on_exit_status(ssh_session session, ssh_channel channel, int status,
			   void *arg)
{
	struct job *j = arg;

	j->status = status & 0xff;
}

static void on_exit_signal(ssh_session session, ssh_channel channel,
			   const char *name, int core, const char *message,
			   const char *lang, void *arg)
{
	struct job *j = arg;

	j->status = command_signal_status(name);
}

static void on_close(ssh_session session, ssh_channel channel, void *arg)
{
	struct job *j = arg;

	j->closed = true;
}

static int start(struct job *j, const char *command, struct sb_err *err)
{
	int64_t deadline = clock_ms() + START_MS;
	autofree char *wrapped = NULL;

	if (j->deadline >= 0)
		deadline = MIN(deadline, j->deadline);
	if (j->leash)
		command = wrapped = leash_wrap(j->leash, command);
	j->callbacks = (struct ssh_channel_callbacks_struct){
		.userdata = j,
		.channel_exit_status_function = on_exit_status,
		.channel_exit_signal_function = on_exit_signal,
		.channel_close_function = on_close,
	};
	ssh_callbacks_init(&j->callbacks);
	return command_start(j->s, command, j->use_tty ? &j->tty : NULL,
			     &j->callbacks, deadline, &j->channel, err);
}

static void moved(struct job *j)
{
	if (j->idle_ms)
		j->deadline = clock_ms() + j->idle_ms;
}

/* Hand the chunk of a stream on, as far as it goes without waiting. */
static int deliver(struct job *j, int i, struct sb_err *err)
{
	struct chunk *c = &j->out[i];
	ssize_t n;

	moved(j);
	if (j->push) {
		j->in_later = false;
		if (j->push(j->arg, STDOUT_FILENO + i, c->data + c->off, c->len,
			    err) < 0)
			return -1;
		c->len = 0;
		return 0;
	}
	if (j->out_fd[i] < 0) {
		c->len = 0;
		return 0;
	}
	while (c->len) {
		struct pollfd p = { .fd = j->out_fd[i], .events = POLLOUT };

		if (poll(&p, 1, 0) <= 0)
			return 0;
		/* The file may be shared, so it is not made non-blocking: a
		 * writable pipe takes PIPE_BUF bytes without waiting. */
		n = write(p.fd, c->data + c->off, MIN(c->len, PIPE_BUF));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return 0;
		if (n < 0)
			return sb_fail(err, sb_code_of_errno(errno),
				       "cannot write the command's output: %m");
		c->off += n;
		c->len -= n;
	}
	return 0;
}

/* Keep the first bytes of stderr back until the leash has found its mark. */
static void seek_mark(struct job *j, struct chunk *c, bool end)
{
	buf_add(&j->head, c->data, c->len);
	c->len = 0;
	if (!end && !leash_find(j->leash, &j->head))
		return;
	j->leash_found = true;
	c->len = MIN(j->head.len, sizeof(c->data));
	memcpy(c->data, j->head.p, c->len);
	buf_done(&j->head);
}

/* Whether a stream that nobody takes has grown past what the peer may send. */
static bool flooded(struct job *j)
{
	for (int i = 0; i < 2; i++)
		if (j->out[i].len &&
		    ssh_channel_poll(j->channel, i) > UNREAD_MAX)
			return true;
	return false;
}

/* Move all that has come from the guest on, as far as it goes. */
static int drain(struct job *j, int i, struct sb_err *err)
{
	struct chunk *c = &j->out[i];

	for (;;) {
		bool seek = i == 1 && j->leash && !j->leash_found;
		int n;

		if (c->len && deliver(j, i, err) < 0)
			return -1;
		if (c->len || flooded(j))
			return 0;
		n = ssh_channel_read_nonblocking(j->channel, c->data,
						 seek ? SEEK_CHUNK : CHUNK, i);
		if (n == SSH_ERROR)
			return session_fail(
				j->s, "the connection to the guest broke", err);
		c->off = 0;
		c->len = n > 0 ? n : 0;
		if (seek && (n > 0 || j->closed))
			seek_mark(j, c, n <= 0);
		if (n <= 0 && !c->len)
			return 0;
	}
}

static int send_end(struct job *j, struct sb_err *err)
{
	j->in_end = true;
	if (j->use_tty && !j->tty.raw)
		ssh_channel_write(j->channel, TYPED_EOF, 1);
	if (ssh_channel_send_eof(j->channel) == SSH_ERROR && !j->closed)
		return session_fail(j->s, "cannot end the command's input",
				    err);
	return 0;
}

/* Whether the guest can take input now. */
static bool wants_input(struct job *j)
{
	return !j->in_end && !j->in_later && !j->in.len && !j->closed &&
	       ssh_channel_window_size(j->channel) > 0 &&
	       !(ssh_get_poll_flags(j->s->session) & SSH_WRITE_PENDING);
}

/* Send what waits, or else read more of the local input and send that. */
static int feed(struct job *j, bool readable, struct sb_err *err)
{
	struct chunk *c = &j->in;
	int n;

	if (readable && wants_input(j)) {
		size_t max = MIN(sizeof(c->data),
				 ssh_channel_window_size(j->channel));
		ssize_t got = j->pull ? j->pull(j->arg, c->data, max, err)
				      : read(j->in_fd, c->data, max);

		if (got == RUN_LATER) {
			j->in_later = true;
			return 0;
		}
		if (got < 0 && j->pull)
			return -1;
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			return 0;
		if (got <= 0)
			return send_end(j, err);
		c->off = 0;
		c->len = got;
	}
	if (!c->len || j->closed)
		return 0;
	n = ssh_channel_write(j->channel, c->data + c->off, c->len);
	if (n > 0) {
		moved(j);
		c->off += n;
		c->len -= n;
	} else if (n < 0 && ssh_is_connected(j->s->session)) {
		c->len = 0; /* the command takes no more */
		j->in_end = true;
	}
	return 0;
}

static int on_signal(struct job *j, struct sb_err *err)
{
	struct signalfd_siginfo si;
	int cols, rows;

	while (read(j->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		j->signalled |= si.ssi_signo != SIGWINCH;
		if (si.ssi_signo == SIGWINCH) {
			tty_size(&j->tty, &cols, &rows);
			ssh_channel_change_pty_size(j->channel, cols, rows);
		} else if (j->leash) {
			if (!leash_signal(j->leash, si.ssi_signo))
				ssh_channel_request_send_signal(
					j->channel, sigabbrev_np(si.ssi_signo));
		} else if (si.ssi_signo == SIGINT) {
			ssh_channel_write(j->channel, TYPED_INTR, 1);
		} else {
			return sb_fail(err, SB_CANCELLED, "ended by SIG%s",
				       sigabbrev_np(si.ssi_signo));
		}
	}
	return 0;
}

enum { FD_SSH, FD_CANCEL, FD_SIGNAL, FD_IN, FD_OUT, FD_ERR, NFDS };

static int poll_all(struct job *j, struct pollfd fds[NFDS], struct sb_err *err)
{
	bool hungry = wants_input(j);
	int timeout;

	memset(fds, 0, NFDS * sizeof(*fds));
	fds[FD_SSH].fd = ssh_get_fd(j->s->session);
	fds[FD_SSH].events = flooded(j) ? 0 : POLLIN;
	if (ssh_get_poll_flags(j->s->session) & SSH_WRITE_PENDING)
		fds[FD_SSH].events |= POLLOUT;
	fds[FD_CANCEL].fd = j->s->cancel_fd;
	fds[FD_SIGNAL].fd = j->signal_fd;
	fds[FD_IN].fd = hungry && !j->pull ? j->in_fd : -1;
	fds[FD_CANCEL].events = fds[FD_SIGNAL].events = POLLIN;
	fds[FD_IN].events = POLLIN;
	for (int i = 0; i < 2; i++) {
		fds[FD_OUT + i].fd = j->out[i].len ? j->out_fd[i] : -1;
		fds[FD_OUT + i].events = POLLOUT;
	}
	timeout = j->deadline < 0 ? -1 : clock_left(j->deadline);
	if (j->linger >= 0)
		timeout = clock_left(j->linger);
	if (j->seen != j->s->counter.in_bytes || (hungry && j->pull))
		timeout = 0;
	if (poll(fds, NFDS, timeout) < 0) {
		if (errno != EINTR)
			return sb_fail(err, SB_SYSTEM, "poll: %m");
		memset(fds, 0, NFDS * sizeof(*fds));
	}
	if (fds[FD_CANCEL].revents)
		return sb_fail(err, SB_CANCELLED, "cancelled");
	if (j->deadline >= 0 && clock_left(j->deadline) == 0)
		return sb_fail(err, SB_TIMEOUT,
			       "the command did not end in time");
	return 0;
}

/* Whether a command that was signalled has had its time for last words. */
static bool lingered(struct job *j)
{
	if (j->linger < 0 && j->signalled && j->status >= 0)
		j->linger = clock_ms() + LINGER_MS;
	return j->linger >= 0 && clock_left(j->linger) == 0;
}

/* Move bytes once in all directions, waiting for one that can. */
static int turn(struct job *j, struct sb_err *err)
{
	struct pollfd fds[NFDS];

	if (!j->closed && !ssh_is_connected(j->s->session))
		return sb_fail(err, SB_GUEST,
			       "the guest closed the SSH connection");
	if (poll_all(j, fds, err) < 0)
		return -1;
	if (fds[FD_SIGNAL].revents && on_signal(j, err) < 0)
		return -1;
	if (feed(j, j->pull || fds[FD_IN].revents, err) < 0)
		return -1;
	if (fds[FD_SSH].revents)
		ssh_event_dopoll(j->s->event, 0);
	return 0;
}

static int run(struct job *j, struct sb_err *err)
{
	for (;;) {
		/*
		 * Almost any call into libssh may take bytes from the socket,
		 * for whatever channel and stream: what comes from here on
		 * counts in the next round, and poll does not wait then.
		 */
		bool closed = j->closed;

		j->seen = j->s->counter.in_bytes;
		if (drain(j, 0, err) < 0 || drain(j, 1, err) < 0)
			return -1;
		if (j->leash)
			leash_step(j->leash);
		if (closed && !j->out[0].len && !j->out[1].len)
			break;
		if (lingered(j))
			break;
		if (turn(j, err) < 0)
			return -1;
	}
	if (j->status < 0)
		return sb_fail(err, SB_GUEST,
			       "the command ended without telling its status");
	return 0;
}

/* Take the signals that a command is to hear of into signal_fd. */
static int catch_signals(struct job *j, struct sb_err *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGQUIT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	if (j->use_tty)
		sigaddset(&mask, SIGWINCH);
	j->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (j->signal_fd < 0)
		return sb_fail(err, SB_SYSTEM, "signalfd: %m");
	pthread_sigmask(SIG_BLOCK, &mask, &j->old_mask);
	return 0;
}

/* Let go of everything; a command that was not awaited is hung up. */
static void job_done(struct job *j)
{
	if (j->channel) {
		if (!j->closed && !j->leash)
			ssh_channel_request_send_signal(j->channel, "HUP");
		command_end(j->channel, &j->callbacks);
	}
	leash_free(j->leash, j->closed);
	buf_done(&j->head);
	tty_done(&j->tty);
	if (j->signal_fd >= 0) {
		close(j->signal_fd);
		pthread_sigmask(SIG_SETMASK, &j->old_mask, NULL);
	}
	free(j);
}
DEFINE_AUTO(struct job *, job_done, auto_job_done)
#define autojob __attribute__((cleanup(auto_job_done)))

static struct job *job_new(struct ssh *s, int timeout_ms)
{
	struct job *j = xcalloc(1, sizeof(*j));

	j->s = s;
	j->in_fd = j->out_fd[0] = j->out_fd[1] = j->signal_fd = -1;
	j->status = -1;
	j->linger = -1;
	j->deadline = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
	return j;
}

static int push_filter(void *arg, int stream, const char *data, size_t len,
		       struct sb_err *err)
{
	const struct ssh_exec *x = arg;

	x->filter(x->filter_arg, stream, data, len);
	return 0;
}

int ssh_exec(struct ssh *s, const struct ssh_exec *x, int *ret_status,
	     struct sb_err *err)
{
	autojob struct job *j = job_new(s, x->timeout_ms);

	j->in_fd = x->in_fd;
	j->out_fd[0] = x->out_fd;
	j->out_fd[1] = x->err_fd;
	if (x->filter) {
		j->push = push_filter;
		j->arg = (void *)x;
	}
	j->use_tty = x->tty;
	if ((x->forward_signals || x->tty) && catch_signals(j, err) < 0)
		return -1;
	if (x->forward_signals && !x->tty)
		j->leash = leash_new(s->session);
	if (x->tty)
		tty_init(&j->tty, x->in_fd, x->out_fd);
	if (start(j, x->command, err) < 0 ||
	    (x->in_fd < 0 && send_end(j, err) < 0) || run(j, err) < 0)
		return -1;
	*ret_status = j->status;
	return 0;
}

int ssh_run(struct ssh *s, const struct ssh_run *r, int *ret_status,
	    struct sb_err *err)
{
	autojob struct job *j = job_new(s, r->idle_ms);

	j->pull = r->pull;
	j->push = r->push;
	j->arg = r->arg;
	j->idle_ms = r->idle_ms;
	if (start(j, r->command, err) < 0 ||
	    (!r->pull && send_end(j, err) < 0) || run(j, err) < 0)
		return -1;
	*ret_status = j->status;
	return 0;
}
