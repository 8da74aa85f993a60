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
#include "guest/files-names.h"
#include "guest/guestd.h"

#define EVENTS                                                            \
	(IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE | \
	 IN_DELETE_SELF | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF)

#define MAX_DEPTH 64
#define MAX_FOLDERS 8192

struct watch {
	struct http_req *req; /* until the stream begins */
	const struct guestd *g;
	struct file_call call;
	bool recursive;
	int fd;
	char **folder; /* by the number that inotify gave it; may be NULL */
	size_t nfolders;
	int root; /* the number of what was asked for */
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
	for (size_t i = 0; i < w->nfolders; i++)
		free(w->folder[i]);
	free(w->folder);
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

static void send_event(struct watch *w, const char *event, const char *path)
{
	autojson json_t *j = json_object();
	autofree char *text = NULL;

	if (w->behind) {
		w->missed = true;
		return;
	}
	json_put(j, "event", json_str(event));
	files_put_name(j, "path", path);
	text = json_print(j);
	w->behind = http_stream_event(w->stream, NULL, event, text) >
		    HTTP_STREAM_HIGH;
}

/* Watch one more; one that has moved keeps its number. */
static int add_folder(struct watch *w, const char *path, uint32_t flags)
{
	int wd = inotify_add_watch(w->fd, path, EVENTS | flags);

	if (wd < 0)
		return -1;
	if ((size_t)wd >= w->nfolders) {
		w->folder = xrealloc(w->folder, wd + 1, sizeof(*w->folder));
		while (w->nfolders <= (size_t)wd)
			w->folder[w->nfolders++] = NULL;
	}
	free(w->folder[wd]);
	w->folder[wd] = xstrdup(path);
	return wd;
}

/*
 * The folders below one.  What is in one that is new may have been there before
 * we looked: tell says it.  -1 when there are too many.
 */
static int add_below(struct watch *w, const char *dir, int depth, bool tell)
{
	struct names names = { 0 };
	struct sb_err err;
	struct stat st;
	int r = 0;

	if (depth == MAX_DEPTH || names_read(&names, dir, &err) < 0)
		return 0;
	for (size_t i = 0; i < names.n && r == 0; i++) {
		autofree char *path = xasprintf("%s/%s", dir, names.name[i]);

		if (lstat(path, &st) < 0)
			continue;
		if (tell)
			send_event(w, "create", path);
		if (!S_ISDIR(st.st_mode))
			continue;
		if (w->nfolders > MAX_FOLDERS)
			r = -1;
		else if (add_folder(w, path, IN_ONLYDIR | IN_DONT_FOLLOW) >= 0)
			r = add_below(w, path, depth + 1, tell);
	}
	names_done(&names);
	return r;
}

static void add_new(struct watch *w, const char *path)
{
	int r = 0;

	files_enter(w->call.as_root);
	if (add_folder(w, path, IN_ONLYDIR | IN_DONT_FOLLOW) >= 0)
		r = w->nfolders > MAX_FOLDERS ? -1
					      : add_below(w, path, 0, true);
	files_leave();
	if (r < 0)
		send_event(w, "overflow", path);
}

/* Returns whether what was asked for is no more. */
static bool take_event(struct watch *w, const struct inotify_event *e)
{
	const char *event = event_name(e->mask), *dir = w->call.path;
	autofree char *path = NULL;

	if (e->wd >= 0 && (size_t)e->wd < w->nfolders && w->folder[e->wd])
		dir = w->folder[e->wd];
	if (e->mask & IN_IGNORED && e->wd != w->root)
		free(steal(&w->folder[e->wd]));
	/* What is below tells its own end by its parent. */
	if (!event || (e->wd >= 0 && e->wd != w->root && !e->len))
		return e->mask & IN_IGNORED && e->wd == w->root;
	path = e->len ? xasprintf("%s/%s", dir, e->name) : xstrdup(dir);
	send_event(w, event, path);
	if (w->recursive && e->mask & IN_ISDIR &&
	    e->mask & (IN_CREATE | IN_MOVED_TO))
		add_new(w, path);
	return false;
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

		gone |= take_event(w, e);
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
	send_event(w, "overflow", w->call.path);
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
	send_event(w, "ready", w->call.path);
	uv_poll_start(&w->poll, UV_READABLE, on_readable);
}

static void add_watch(void *arg)
{
	struct watch *w = arg;

	files_enter(w->call.as_root);
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	w->root = w->fd < 0 ? -1 : add_folder(w, w->call.path, 0);
	if (w->root < 0) {
		w->rc = files_fail(&w->err, "watch", w->call.path);
		if (errno == ENOSPC || errno == EMFILE)
			w->rc = sb_fail(&w->err, SB_BUSY,
					"too many files are watched");
	} else if (w->recursive && add_below(w, w->call.path, 0, false) < 0) {
		w->rc = sb_fail(&w->err, SB_LIMIT,
				"there are more than %d folders in '%s'",
				MAX_FOLDERS, w->call.path);
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
	if (w->rc == 0)
		w->rc = files_arg_bool(w->call.args, "recursive", &w->recursive,
				       &w->err);
	if (w->rc < 0)
		start(w);
	else
		loop_work(w->g->loop, add_watch, start, w);
}
