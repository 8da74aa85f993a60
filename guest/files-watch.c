/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of a file or folder as Server-Sent Events.  A client that does not
 * read gets one "overflow" in place of what it missed: memory stays bounded.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "common/json.h"
#include "guest/files-call.h"
#include "guest/guestd.h"

#define EVENTS                                                            \
	(IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE | \
	 IN_DELETE_SELF | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF)

struct watch {
	struct http_req *req; /* until the stream begins */
	const struct guestd *g;
	struct file_call call;
	int fd;
	uv_poll_t poll;
	struct http_stream *stream;
	bool behind; /* the client, since the last drain */
	bool missed; /* events were dropped for it */
	int rc;
	struct sb_err err;
};

static void watch_free(struct watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	file_call_done(&w->call);
	free(w);
}

static const char *event_name(uint32_t mask)
{
	static const struct {
		uint32_t mask;
		const char *name;
	} names[] = {
		/* clang-format off */
		{ IN_Q_OVERFLOW,                   "overflow" },
		{ IN_CREATE | IN_MOVED_TO,         "create" },
		{ IN_DELETE | IN_DELETE_SELF |
		  IN_MOVED_FROM | IN_MOVE_SELF |
		  IN_UNMOUNT,                      "delete" },
		{ IN_CLOSE_WRITE,                  "write" },
		{ IN_MODIFY,                       "modify" },
		{ IN_ATTRIB,                       "attrib" },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (mask & names[i].mask)
			return names[i].name;
	return NULL; /* IN_IGNORED */
}

static void send_event(struct watch *w, const char *event, const char *name)
{
	autojson json_t *j = json_object();
	autofree char *path = NULL, *text = NULL;

	if (w->behind) {
		w->missed = true;
		return;
	}
	path = *name ? xasprintf("%s/%s", w->call.path, name)
		     : xstrdup(w->call.path);
	json_put(j, "event", json_str(event));
	files_put_name(j, "path", path);
	text = json_print(j);
	w->behind = http_stream_event(w->stream, NULL, event, text) >
		    HTTP_STREAM_HIGH;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct watch *w = poll->data;
	char block[16 * 1024]
		__attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(w->fd, block, sizeof(block));
	bool gone = false;

	for (char *p = block; n > 0 && p < block + n;) {
		const struct inotify_event *e = (struct inotify_event *)p;
		const char *event = event_name(e->mask);

		if (event)
			send_event(w, event, e->len ? e->name : "");
		gone |= e->mask & IN_IGNORED;
		p += sizeof(*e) + e->len;
	}
	/* What was watched is no more. */
	if (gone) {
		uv_poll_stop(poll);
		http_stream_end(w->stream);
	}
}

static void on_drain(struct http_stream *s, void *arg)
{
	struct watch *w = arg;

	w->behind = false;
	if (!w->missed)
		return;
	w->missed = false;
	send_event(w, "overflow", "");
}

static void poll_closed(uv_handle_t *handle)
{
	watch_free(handle->data);
}

static void on_close(struct http_stream *s, void *arg)
{
	struct watch *w = arg;

	uv_close((uv_handle_t *)&w->poll, poll_closed);
}

static void start(void *arg)
{
	static const struct http_stream_ops ops = {
		.on_drain = on_drain,
		.on_close = on_close,
	};
	struct watch *w = arg;

	if (w->rc < 0) {
		http_fail(w->req, &w->err);
		watch_free(w);
		return;
	}
	if (uv_poll_init(loop_uv(w->g->loop), &w->poll, w->fd) < 0)
		abort(); /* an inotify descriptor can be polled */
	w->poll.data = w;
	w->stream =
		http_stream_begin(w->req, 200, "text/event-stream", &ops, w);
	send_event(w, "ready", "");
	uv_poll_start(&w->poll, UV_READABLE, on_readable);
}

static void add_watch(void *arg)
{
	struct watch *w = arg;

	files_enter(w->call.as_root);
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0 || inotify_add_watch(w->fd, w->call.path, EVENTS) < 0) {
		w->rc = files_fail(&w->err, "watch", w->call.path);
		if (errno == ENOSPC || errno == EMFILE)
			w->rc = sb_fail(&w->err, SB_BUSY,
					"too many files are watched");
	}
	files_leave();
}

void file_watch(struct http_req *req)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	w->req = req;
	w->g = http_ctx(req);
	w->fd = -1;
	w->rc = file_call_parse(&w->call, req, &w->err);
	if (w->rc == 0 && !w->call.path)
		w->rc = sb_fail(&w->err, SB_INVALID, "'path' is missing");
	if (w->rc < 0)
		start(w);
	else
		loop_work(w->g->loop, add_watch, start, w);
}
