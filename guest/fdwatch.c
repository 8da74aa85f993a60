/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors and processes on the loop. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/util.h"
#include "guest/fdwatch.h"

struct fdwatch {
	uv_poll_t poll;
	int fd;
	void (*fn)(void *arg);
	void *arg;
};

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct fdwatch *w = poll->data;

	w->fn(w->arg);
}

struct fdwatch *fdwatch_new(struct loop *l, int fd /* takes */,
			    void (*fn)(void *arg), void *arg,
			    struct sb_err *err)
{
	struct fdwatch *w = xcalloc(1, sizeof(*w));

	w->fd = fd;
	w->fn = fn;
	w->arg = arg;
	if (uv_poll_init(loop_uv(l), &w->poll, fd) < 0) {
		close(fd);
		free(w);
		sb_fail(err, SB_BUSY, "cannot watch a descriptor");
		return NULL;
	}
	w->poll.data = w;
	uv_poll_start(&w->poll, UV_READABLE, on_poll);
	return w;
}

struct fdwatch *fdwatch_new_pid(struct loop *l, pid_t pid,
				void (*fn)(void *arg), void *arg,
				struct sb_err *err)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0) {
		sb_fail(err, SB_BUSY, "cannot watch process %d: %m", (int)pid);
		return NULL;
	}
	return fdwatch_new(l, fd, fn, arg, err);
}

int fdwatch_fd(const struct fdwatch *w)
{
	return w->fd;
}

static void on_closed(uv_handle_t *h)
{
	struct fdwatch *w = h->data;

	close(w->fd);
	free(w);
}

void fdwatch_free(struct fdwatch *w)
{
	if (w)
		uv_close((uv_handle_t *)&w->poll, on_closed);
}

uint64_t fdwatch_birth(pid_t pid)
{
	autofree char *path = xasprintf("/proc/%d/stat", (int)pid);
	autofree char *text = NULL;
	const char *p;

	if (fs_read(path, 4096, &text, NULL, NULL) < 0)
		return 0;
	/* The name may have any bytes; after it come state and numbers. */
	p = strrchr(text, ')');
	if (!p || strlen(p) < 4 || p[2] == 'Z')
		return 0;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}
