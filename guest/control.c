/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's end of the control channel. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "common/util.h"
#include "guest/control.h"
#include "guest/message.h"

#define RETRY_MS 200
#define MAX_OUT (256 * 1024) /* a host that does not read is dropped */
#define PORTS "/sys/class/virtio-ports"

/*
 * While no host is connected the port reports a hangup without end, which would
 * make a level-triggered poll spin.  So the descriptors are in an epoll set of
 * their own, edge-triggered, and the loop polls that set: it wakes once for
 * each change, and never when idle.
 */
struct control {
	struct loop *loop;
	control_handler handler;
	void *arg;
	char *path;
	int in_fd, out_fd, epoll_fd;
	uv_poll_t poll;
	struct loop_timer *retry;
	struct buf in, out;
	bool skipping; /* the rest of a line that was too long */
};

json_t *control_answer(const char *line, size_t len, control_handler handler,
		       void *arg)
{
	autojson json_t *msg = NULL;
	struct sb_err err;

	if (json_parse(line, len, &msg, &err) < 0)
		return message_error(&err);
	if (!json_is_object(msg)) {
		sb_fail(&err, SB_INVALID, "a message must be a JSON object");
		return message_error(&err);
	}
	return handler(arg, msg);
}

static void forget_host(struct control *c)
{
	c->in.len = c->out.len = 0;
	c->skipping = false;
}

static void flush_out(struct control *c)
{
	while (c->out.len) {
		ssize_t n = write(c->out_fd, c->out.p, c->out.len);

		if (n > 0)
			buf_drop(&c->out, n);
		else if (n < 0 && errno == EINTR)
			continue;
		else
			break;
	}
	if (c->out.len > MAX_OUT) {
		log_warn("the host does not read the control channel");
		c->out.len = 0;
	}
}

static void answer(struct control *c, json_t *reply /* takes */)
{
	autofree char *text = json_print(reply);

	json_decref(reply);
	buf_adds(&c->out, text);
	buf_adds(&c->out, "\n");
	flush_out(c);
}

static void take_lines(struct control *c)
{
	struct sb_err err;
	char *nl;

	while (c->in.len && (nl = memchr(c->in.p, '\n', c->in.len))) {
		size_t len = nl - c->in.p;

		if (!c->skipping && len > 0)
			answer(c, control_answer(c->in.p, len, c->handler,
						 c->arg));
		c->skipping = false;
		/* The handler may take long; the host may be gone by now. */
		buf_drop(&c->in, len + 1);
	}
	if (c->in.len <= CONTROL_MAX_LINE)
		return;
	if (!c->skipping) {
		sb_fail(&err, SB_LIMIT, "a line is longer than %d bytes",
			CONTROL_MAX_LINE);
		answer(c, message_error(&err));
	}
	c->skipping = true;
	c->in.len = 0;
}

static void close_port(struct control *c)
{
	if (c->out_fd >= 0 && c->out_fd != c->in_fd)
		close(c->out_fd);
	if (c->in_fd >= 0)
		close(c->in_fd);
	c->in_fd = c->out_fd = -1;
	forget_host(c);
}

/* Read until there is no more, as an edge-triggered set wants it. */
static void read_port(struct control *c)
{
	char block[4096];

	for (;;) {
		ssize_t n = read(c->in_fd, block, sizeof(block));

		if (n > 0) {
			buf_add(&c->in, block, n);
			take_lines(c);
		} else if (n == 0) {
			forget_host(c);
			return;
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != EINTR) {
			log_warn("control channel: %m");
			close_port(c);
			if (c->path)
				loop_timer_set(c->retry, RETRY_MS);
			return;
		}
	}
}

static void on_port(uv_poll_t *poll, int status, int events)
{
	struct control *c = poll->data;
	struct epoll_event ev[2];

	epoll_wait(c->epoll_fd, ev, ARRAY_SIZE(ev), 0);
	if (c->in_fd < 0)
		return;
	flush_out(c);
	read_port(c);
}

/*
 * The port by its name.  The links in /dev/virtio-ports are made by udev, which
 * may run later than we do.
 */
static int open_named_port(void)
{
	int flags = O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = open("/dev/virtio-ports/" CONTROL_PORT, flags);
	struct dirent *d;
	DIR *dir;

	dir = fd < 0 ? opendir(PORTS) : NULL;
	while (fd < 0 && dir && (d = readdir(dir))) {
		autofree char *file = xasprintf(PORTS "/%s/name", d->d_name);
		autofree char *dev = xasprintf("/dev/%s", d->d_name);
		autofree char *name = NULL;

		if (d->d_name[0] != '.' &&
		    fs_read(file, 256, &name, NULL, NULL) == 0 &&
		    strcmp(name, CONTROL_PORT "\n") == 0)
			fd = open(dev, flags);
	}
	if (dir)
		closedir(dir);
	return fd;
}

static void watch(struct control *c, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET };

	if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		log_err("cannot watch the control channel: %m");
}

static void open_port(void *arg)
{
	struct control *c = arg;

	c->in_fd = *c->path ? open(c->path,
				   O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
			    : open_named_port();
	if (c->in_fd < 0) {
		loop_timer_set(c->retry, RETRY_MS);
		return;
	}
	c->out_fd = c->in_fd;
	watch(c, c->in_fd);
	log_info("control channel is open");
}

static struct control *new_control(struct loop *l, control_handler handler,
				   void *arg)
{
	struct control *c = xcalloc(1, sizeof(*c));

	c->loop = l;
	c->handler = handler;
	c->arg = arg;
	c->in_fd = c->out_fd = -1;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll_fd < 0 ||
	    uv_poll_init(loop_uv(l), &c->poll, c->epoll_fd) < 0)
		abort();
	c->poll.data = c;
	uv_poll_start(&c->poll, UV_READABLE, on_port);
	c->retry = loop_timer_new(l, open_port, c);
	return c;
}

struct control *control_new(struct loop *l, const char *path,
			    control_handler handler, void *arg)
{
	struct control *c = new_control(l, handler, arg);

	c->path = xstrdup(path ? path : "");
	open_port(c);
	return c;
}

struct control *control_new_fds(struct loop *l, int in_fd, int out_fd,
				control_handler handler, void *arg)
{
	struct control *c = new_control(l, handler, arg);

	c->in_fd = in_fd;
	c->out_fd = out_fd;
	watch(c, in_fd);
	if (out_fd != in_fd)
		watch(c, out_fd);
	return c;
}

static void poll_closed(uv_handle_t *h)
{
	struct control *c = h->data;

	close(c->epoll_fd);
	free(c);
}

void control_free(struct control *c)
{
	if (!c)
		return;
	close_port(c);
	buf_done(&c->in);
	buf_done(&c->out);
	free(c->path);
	loop_timer_free(c->retry);
	uv_close((uv_handle_t *)&c->poll, poll_closed);
}
