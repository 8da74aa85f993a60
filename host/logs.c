/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, following and bounding the logs of a sandbox. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "common/util.h"
#include "host/logs.h"

#define BLOCK 65536
/* A guest can print for ever; the serial log then starts again. */
#define SERIAL_MAX (8 << 20)

int logs_open(struct daemon *d, const struct sandbox *sb, const char *source,
	      int *ret_fd, char **ret_path, struct sb_err *err)
{
	autofree char *dir = NULL, *file = NULL, *domain = sandbox_domain(sb);
	struct vm_host *vm;

	if (strcmp(source, "serial") == 0) {
		dir = sandbox_path(sb, "vm");
		file = xstrdup("serial.log");
	} else if (strcmp(source, "guestd") == 0) {
		dir = sandbox_path(sb, "share");
		file = xasprintf("logs/%s", sb->spec.server_log);
	} else if (strcmp(source, "qemu") == 0) {
		char *slash;

		if (daemon_vm(d, &vm, err) < 0)
			return -1;
		dir = vm_log_path(vm, domain);
		slash = strrchr(dir, '/');
		file = xstrdup(slash + 1);
		*slash = '\0';
	} else {
		return sb_fail(err, SB_INVALID,
			       "source '%s' is not serial, guestd or qemu",
			       source);
	}
	if (fs_open_beneath(dir, file, ret_fd, err) < 0) {
		if (err->code != SB_NOTFOUND)
			return -1;
		return sb_fail(err, SB_NOTFOUND,
			       "sandbox '%s' has no %s log yet", sb->name,
			       source);
	}
	*ret_path = xasprintf("%s/%s", dir, file);
	return 0;
}

off_t logs_tail(int fd, long long n)
{
	char block[BLOCK];
	struct stat st;
	off_t at;

	if (fstat(fd, &st) < 0)
		return 0;
	/* A last line without its end counts as a line. */
	for (at = st.st_size; at > 0 && n >= 0;) {
		off_t from = MAX(0, at - (off_t)sizeof(block));
		ssize_t len = pread(fd, block, at - from, from);

		for (ssize_t i = len - 1; i >= 0; i--)
			if (block[i] == '\n' && from + i + 1 < st.st_size &&
			    --n == 0)
				return from + i + 1;
		if (len <= 0)
			return 0;
		at = from;
	}
	return 0;
}

struct follower {
	LIST_ENTRY(follower) entry;
	struct http_stream *stream;
	uv_fs_event_t watch;
	char id[SANDBOX_ID_LEN + 1];
	int fd;
	off_t offset;
	bool ending;
};

/* Send what is new, as much as the client takes. */
static void pump(struct follower *f)
{
	char block[BLOCK];
	size_t waiting = 0;
	struct stat st;
	ssize_t n;

	if (fstat(f->fd, &st) == 0 && st.st_size < f->offset)
		f->offset = 0; /* it was started again */
	while (waiting < HTTP_STREAM_HIGH &&
	       (n = pread(f->fd, block, sizeof(block), f->offset)) > 0) {
		f->offset += n;
		waiting = http_stream_write(f->stream, block, n);
	}
	if (f->ending && waiting < HTTP_STREAM_HIGH)
		http_stream_end(f->stream);
}

static void on_drain(struct http_stream *s, void *arg)
{
	pump(arg);
}

static void on_watch_closed(uv_handle_t *h)
{
	free(h->data);
}

static void on_close(struct http_stream *s, void *arg)
{
	struct follower *f = arg;

	LIST_REMOVE(f, entry);
	close(f->fd);
	uv_close((uv_handle_t *)&f->watch, on_watch_closed);
}

static void on_change(uv_fs_event_t *w, const char *name, int events,
		      int status)
{
	pump(w->data);
}

void logs_follow(struct daemon *d, const struct sandbox *sb,
		 struct http_req *req, int fd, const char *path, off_t offset)
{
	static const struct http_stream_ops ops = { on_drain, on_close };
	struct follower *f = xcalloc(1, sizeof(*f));

	f->fd = fd;
	f->offset = offset;
	memcpy(f->id, sb->id, sizeof(f->id));
	uv_fs_event_init(loop_uv(d->loop), &f->watch);
	f->watch.data = f;
	if (uv_fs_event_start(&f->watch, on_change, path, 0) < 0)
		log_warn("%s: cannot watch '%s'", sb->id, path);
	f->ending = sb->state == SANDBOX_FAILED || sb->state == SANDBOX_STOPPED;
	LIST_INSERT_HEAD(&d->followers, f, entry);
	f->stream = http_stream_begin(req, 200, "text/plain; charset=utf-8",
				      &ops, f);
	pump(f);
}

void logs_end(struct daemon *d, const char *id)
{
	struct follower *f, *next;

	for (f = LIST_FIRST(&d->followers); f; f = next) {
		next = LIST_NEXT(f, entry);
		if (strcmp(f->id, id) != 0)
			continue;
		f->ending = true;
		pump(f);
	}
}

static void on_serial(uv_fs_event_t *w, const char *name, int events,
		      int status)
{
	struct sandbox *sb = w->data;
	autofree char *path = sandbox_path(sb, "vm/serial.log");
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	/* QEMU appends, so that the next byte goes to the new end. */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > SERIAL_MAX && ftruncate(fd, 0) == 0)
		log_warn("%s: serial log was full and starts again", sb->id);
}

void logs_guard(struct daemon *d, struct sandbox *sb)
{
	autofree char *path = sandbox_path(sb, "vm/serial.log");
	uv_fs_event_t *w;

	if (sb->serial_guard)
		return;
	w = xcalloc(1, sizeof(*w));
	uv_fs_event_init(loop_uv(d->loop), w);
	w->data = sb;
	if (uv_fs_event_start(w, on_serial, path, 0) < 0) {
		w->data = w;
		uv_close((uv_handle_t *)w, on_watch_closed);
		return;
	}
	sb->serial_guard = w;
}

void logs_unguard(struct sandbox *sb)
{
	uv_fs_event_t *w = steal(&sb->serial_guard);

	if (!w)
		return;
	w->data = w;
	uv_close((uv_handle_t *)w, on_watch_closed);
}
