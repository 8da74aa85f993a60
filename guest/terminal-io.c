/* SPDX-License-Identifier: Apache-2.0 */
/* The pty of a terminal. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "guest/terminal-private.h"

#define MAX_READS 4 /* at once, in fairness to others */
/* How far behind a viewer that is waited for may be; the scrollback has room
 * for this, a read and the last ones. */
#define MAX_BEHIND (64 * 1024)

static_assert(MAX_BEHIND + TERMINAL_READ_SIZE + TERMINAL_MAX_LAST <
		      SCROLLBACK_SIZE,
	      "viewers that are waited for would lose output");

enum news { NEWS, RESIZED, ROOM };

static void tell(struct terminal *t, enum news what)
{
	struct terminal_watch *w, *next;

	terminal_ref(t);
	for (w = LIST_FIRST(&t->watches); w; w = next) {
		next = LIST_NEXT(w, next);
		(what == NEWS	   ? w->on_news
		 : what == RESIZED ? w->on_resize
				   : w->on_room)(w->arg);
	}
	terminal_unref(t);
}

void terminal_tell_news(struct terminal *t)
{
	tell(t, NEWS);
}

static void on_poll_closed(uv_handle_t *h)
{
	int fd = (int)(intptr_t)h->data;

	close(fd);
	free(h);
}

void terminal_close_io(struct terminal *t)
{
	if (t->master < 0)
		return;
	t->poll->data = (void *)(intptr_t)t->master;
	uv_close((uv_handle_t *)t->poll, on_poll_closed);
	t->poll = NULL;
	t->master = -1;
	buf_done(&t->in);
}

static bool may_read(const struct terminal *t)
{
	const struct terminal_watch *w;

	if (t->hung_up)
		return false;
	LIST_FOREACH(w, &t->watches, next)
		if (w->holds && t->out.end - w->at >= MAX_BEHIND)
			return false;
	return true;
}

static void on_poll(uv_poll_t *poll, int status, int events);

static void update_poll(struct terminal *t)
{
	int events = (may_read(t) ? UV_READABLE : 0) |
		     (t->in.len && !t->hung_up ? UV_WRITABLE : 0);

	if (t->master < 0 || events == t->polled)
		return;
	t->polled = events;
	if (events)
		uv_poll_start(t->poll, events, on_poll);
	else
		uv_poll_stop(t->poll);
}

/* Read once; whether there may be more. */
static bool read_some(struct terminal *t)
{
	char *buf = t->table->buf;
	ssize_t n = read(t->master, buf, TERMINAL_READ_SIZE);

	if (n > 0)
		scrollback_add(&t->out, buf, n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		t->hung_up = true; /* EIO */
	return n > 0;
}

static void write_some(struct terminal *t)
{
	bool was_high = t->in.len >= TERMINAL_INPUT_HIGH;
	ssize_t n = write(t->master, t->in.p, t->in.len);

	if (n < 0)
		return;
	buf_drop(&t->in, n);
	if (!t->in.len)
		buf_done(&t->in);
	if (was_high && t->in.len < TERMINAL_INPUT_HIGH)
		tell(t, ROOM);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct terminal *t = poll->data;
	uint64_t before = t->out.end;

	terminal_ref(t);
	if (events & UV_WRITABLE && t->in.len)
		write_some(t);
	if (status < 0)
		t->hung_up = true;
	for (int i = 0; i < MAX_READS && t->master >= 0 && may_read(t); i++)
		if (!read_some(t))
			break;
	if (t->hung_up && t->state == ENDING)
		terminal_end(t);
	else if (t->out.end != before)
		tell(t, NEWS);
	update_poll(t);
	terminal_unref(t);
}

void terminal_open_io(struct terminal *t, int master /* takes */)
{
	int r;

	t->master = master;
	t->poll = xcalloc(1, sizeof(*t->poll));
	r = uv_poll_init(loop_uv(t->table->loop), t->poll, master);
	assert(r == 0);
	(void)r;
	t->poll->data = t;
	update_poll(t);
}

void terminal_read_last(struct terminal *t)
{
	for (int n = 0; n < TERMINAL_MAX_LAST && !t->hung_up;
	     n += TERMINAL_READ_SIZE)
		if (!read_some(t))
			break;
}

static int check_open(const struct terminal *t, struct sb_err *err)
{
	if (t->master < 0)
		return sb_fail(err, SB_CONFLICT, "terminal '%s' has ended",
			       t->id);
	return 0;
}

int terminal_resize(struct terminal *t, int cols, int rows, struct sb_err *err)
{
	struct winsize size = { .ws_col = cols, .ws_row = rows };

	if (check_open(t, err) < 0)
		return -1;
	if (cols == t->cols && rows == t->rows)
		return 0;
	if (ioctl(t->master, TIOCSWINSZ, &size) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot resize: %m");
	t->cols = cols;
	t->rows = rows;
	tell(t, RESIZED);
	return 0;
}

int terminal_write(struct terminal *t, const char *data, size_t len,
		   size_t *ret_waiting, struct sb_err *err)
{
	if (check_open(t, err) < 0)
		return -1;
	buf_add(&t->in, data, len);
	if (t->in.len == len && len)
		write_some(t);
	update_poll(t);
	*ret_waiting = t->in.len;
	return 0;
}

int terminal_signal(struct terminal *t, int signum, struct sb_err *err)
{
	pid_t group;

	if (check_open(t, err) < 0)
		return -1;
	group = tcgetpgrp(t->master);
	if (group <= 0 || kill(-group, signum) < 0)
		return sb_fail(err, SB_CONFLICT,
			       "nothing runs in the foreground of '%s'", t->id);
	return 0;
}

void terminal_watch(struct terminal *t, struct terminal_watch *w)
{
	LIST_INSERT_HEAD(&t->watches, w, next);
	update_poll(t);
}

void terminal_unwatch(struct terminal *t, struct terminal_watch *w)
{
	LIST_REMOVE(w, next);
	update_poll(t);
}

void terminal_went_on(struct terminal *t)
{
	update_poll(t);
}
