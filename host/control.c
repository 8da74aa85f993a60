/* SPDX-License-Identifier: Apache-2.0 */
/* The host's end of the control channel. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "host/control.h"

#define MAX_LINE (64 * 1024)
/* What a guest may say beside the answer: echoes, and a console's noise. */
#define MAX_SKIPPED (1 << 20)

struct control {
	int fd;
	const struct cancel *cancel;
	struct buf in;
};

int control_open(const char *path, const struct cancel *cancel,
		 struct control **ret, struct sb_err *err)
{
	autoclose int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct control *c;

	if (strlen(path) >= sizeof(sa.sun_path))
		return sb_fail(err, SB_SYSTEM, "socket path '%s' is too long",
			       path);
	strcpy(sa.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return sb_fail(err, SB_SYSTEM,
			       "cannot connect to control channel '%s': %m",
			       path);
	c = xcalloc(1, sizeof(*c));
	c->fd = steal_fd(&fd);
	c->cancel = cancel;
	*ret = c;
	return 0;
}

void control_close(struct control *c)
{
	if (!c)
		return;
	close(c->fd);
	buf_done(&c->in);
	free(c);
}

/*
 * Wait for events on the channel, until the deadline or the cancel.  These come
 * first: a guest that never falls silent must not gain time by that.
 */
static int wait_for(struct control *c, short events, int64_t deadline,
		    struct sb_err *err)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = c->fd, .events = events },
			{ .fd = cancel_fd(c->cancel), .events = POLLIN },
		};
		int left = clock_left(deadline);
		int n = poll(fds, ARRAY_SIZE(fds), left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sb_fail(err, SB_SYSTEM, "poll: %m");
		if (fds[1].revents)
			return sb_fail(err, SB_CANCELLED, "cancelled");
		if (n == 0 || !left)
			return sb_fail(err, SB_TIMEOUT,
				       "the guest did not answer in time");
		return 0;
	}
}

static int send_line(struct control *c, const json_t *msg, int64_t deadline,
		     struct sb_err *err)
{
	autofree char *text = json_print(msg);
	autobuf struct buf b = { 0 };
	size_t done = 0;

	/* Whoever spoke before us may have left half a line. */
	buf_adds(&b, "\n");
	buf_adds(&b, text);
	buf_adds(&b, "\n");
	while (done < b.len) {
		ssize_t n = send(c->fd, b.p + done, b.len - done, MSG_NOSIGNAL);

		if (n >= 0)
			done += n;
		else if (errno != EAGAIN && errno != EINTR)
			return sb_fail(err, SB_SYSTEM,
				       "control channel broke: %m");
		else if (wait_for(c, POLLOUT, deadline, err) < 0)
			return -1;
	}
	return 0;
}

/* The next whole line, parsed; lines that are no JSON object are skipped. */
static int next_message(struct control *c, int64_t deadline, size_t *budget,
			json_t **ret, struct sb_err *err)
{
	for (;;) {
		char *nl = c->in.len ? memchr(c->in.p, '\n', c->in.len) : NULL;
		char block[4096];
		ssize_t n;

		if (nl) {
			json_t *j = NULL;
			size_t len = nl - c->in.p;

			json_parse(c->in.p, len, &j, NULL);
			buf_drop(&c->in, len + 1);
			if (json_is_object(j)) {
				*ret = j;
				return 0;
			}
			json_decref(j);
			continue;
		}
		if (c->in.len > MAX_LINE)
			return sb_fail(err, SB_GUEST,
				       "the guest sent an endless line");
		if (wait_for(c, POLLIN, deadline, err) < 0)
			return -1;
		if (!*budget)
			return sb_fail(err, SB_GUEST,
				       "the guest floods the control channel");
		n = recv(c->fd, block, MIN(sizeof(block), *budget), 0);
		*budget -= MAX(n, 0);
		if (n > 0)
			buf_add(&c->in, block, n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return sb_fail(
				err, SB_GUEST,
				"the machine closed the control channel");
	}
}

int control_ask(struct control *c, const json_t *msg, const char *type,
		int64_t deadline_ms, json_t **ret, struct sb_err *err)
{
	size_t budget = MAX_SKIPPED;

	if (send_line(c, msg, deadline_ms, err) < 0)
		return -1;
	for (;;) {
		autojson json_t *j = NULL;
		const char *got;

		if (next_message(c, deadline_ms, &budget, &j, err) < 0)
			return -1;
		got = json_str_or(j, "type", "");
		if (strcmp(got, type) == 0) {
			*ret = steal(&j);
			return 0;
		}
		if (strcmp(got, "error") == 0)
			return sb_fail(err, SB_GUEST, "the guest refused: %s",
				       json_str_or(j, "message", "no reason"));
	}
}
