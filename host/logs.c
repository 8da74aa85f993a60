/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, following and bounding the logs of a sandbox. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "common/util.h"
#include "host/logs.h"

/* A guest can print for ever; the serial log then starts again. */
#define SERIAL_MAX (8 << 20)

struct logs {
	char *dir, *file;
	bool rotates; /* to FILE.1 */
	struct log_reader *reader;
};

void logs_close(struct logs *l)
{
	if (!l)
		return;
	log_reader_free(l->reader);
	free(l->dir);
	free(l->file);
	free(l);
}

static int open_file(void *arg, bool older)
{
	const struct logs *l = arg;
	autofree char *file = xasprintf("%s%s", l->file, older ? ".1" : "");
	int fd;

	if (older && !l->rotates)
		return -1;
	return fs_open_beneath(l->dir, file, &fd, NULL) == 0 ? fd : -1;
}

/* Of a log that the guest keeps in its share; NULL if it is none. */
static const char *guest_file(const struct sandbox *sb, const char *source)
{
	if (strcmp(source, "guestd") == 0)
		return sb->spec.server_log;
	if (strcmp(source, "kernel") == 0)
		return sb->spec.jupyter_log;
	return strcmp(source, "desktop") == 0 ? SPEC_DESKTOP_LOG : NULL;
}

static int locate(struct daemon *d, const struct sandbox *sb,
		  const char *source, struct logs *l, struct sb_err *err)
{
	autofree char *domain = sandbox_domain(sb);
	struct vm_host *vm;
	char *slash;

	if (strcmp(source, "serial") == 0) {
		l->dir = sandbox_path(sb, "vm");
		l->file = xstrdup("serial.log");
	} else if (guest_file(sb, source)) {
		l->dir = sandbox_path(sb, "share");
		l->file = xasprintf("logs/%s", guest_file(sb, source));
		l->rotates = true;
	} else if (strcmp(source, "qemu") == 0) {
		if (daemon_vm(d, &vm, err) < 0)
			return -1;
		l->dir = vm_log_path(vm, domain);
		slash = strrchr(l->dir, '/');
		l->file = xstrdup(slash + 1);
		*slash = '\0';
	} else {
		return sb_fail(err, SB_INVALID,
			       "source '%s' is not serial, guestd, kernel, "
			       "desktop or qemu",
			       source);
	}
	return 0;
}

int logs_open(struct daemon *d, const struct sandbox *sb, const char *source,
	      struct logs **ret, struct sb_err *err)
{
	struct logs *l = xcalloc(1, sizeof(*l));
	autoclose int fd = -1;

	if (locate(d, sb, source, l, err) < 0 ||
	    fs_open_beneath(l->dir, l->file, &fd, err) < 0) {
		if (err->code == SB_NOTFOUND)
			sb_fail(err, SB_NOTFOUND,
				"sandbox '%s' has no %s log yet", sb->name,
				source);
		logs_close(l);
		return -1;
	}
	l->reader = log_reader_new(open_file, l);
	*ret = l;
	return 0;
}

struct log_reader *logs_reader(const struct logs *l)
{
	return l->reader;
}

struct follower {
	LIST_ENTRY(follower) entry;
	struct http_stream *stream;
	uv_fs_event_t watch;
	char id[SANDBOX_ID_LEN + 1];
	struct logs *log;
	bool ending;
};

/* Send what is new, as much as the client takes. */
static void pump(struct follower *f)
{
	size_t waiting = 0, n;
	const char *data;

	while (waiting < HTTP_STREAM_HIGH &&
	       (n = log_reader_bytes(f->log->reader, &data)) > 0)
		waiting = http_stream_write(f->stream, data, n);
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
	logs_close(f->log);
	uv_close((uv_handle_t *)&f->watch, on_watch_closed);
}

static void on_change(uv_fs_event_t *w, const char *name, int events,
		      int status)
{
	pump(w->data);
}

void logs_follow(struct daemon *d, const struct sandbox *sb,
		 struct http_req *req, struct logs *l)
{
	static const struct http_stream_ops ops = { on_drain, on_close };
	struct follower *f = xcalloc(1, sizeof(*f));
	autofree char *path = xasprintf("%s/%s", l->dir, l->file);

	f->log = l;
	memcpy(f->id, sb->id, sizeof(f->id));
	uv_fs_event_init(loop_uv(d->loop), &f->watch);
	f->watch.data = f;
	/* The folder: a file that is renamed takes its watch with it. */
	if (uv_fs_event_start(&f->watch, on_change, dirname(path), 0) < 0)
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
