/* SPDX-License-Identifier: Apache-2.0 */
/* What a cell prints, on its way to our stdout and stderr. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "host/ctl-cell-out.h"
#include "host/ctl-term.h"

void cell_out_init(struct cell_out *o, bool capture)
{
	*o = (struct cell_out){ .fd = STDOUT_FILENO };
	sink_init(&o->sink, capture);
}

void cell_out_done(struct cell_out *o)
{
	cell_out_flush(o);
	sink_done(&o->sink);
	buf_done(&o->queue);
}

static int slot(int fd)
{
	return fd == STDERR_FILENO;
}

/* One queue for both keeps their order. */
static void turn_to(struct cell_out *o, int fd)
{
	if (fd != o->fd)
		cell_out_flush(o);
	o->fd = fd;
}

void cell_out_push(struct cell_out *o, int fd, const char *data, size_t len)
{
	if (!len || o->failed)
		return;
	if (o->sink.capture) {
		sink_push(&o->sink, fd, data, len, NULL);
		return;
	}
	if (o->skip) {
		o->skipped += len;
		return;
	}
	turn_to(o, fd);
	if (o->sink.s[slot(fd)].terminal)
		sanitize_feed(&o->sink.s[slot(fd)].filter, data, len,
			      &o->queue);
	else
		buf_add(&o->queue, data, len);
	if (fd == STDOUT_FILENO || o->sink.s[1].terminal)
		o->mid_line = data[len - 1] != '\n';
}

void cell_out_plain(struct cell_out *o, int fd, const char *data, size_t len)
{
	autobuf struct buf out = { 0 };
	struct sanitize s;

	sanitize_init(&s, term_has_colours(fd));
	sanitize_feed(&s, data, len, &out);
	sanitize_end(&s, &out);
	cell_out_push(o, fd, out.p, out.len);
}

void cell_out_fresh_line(struct cell_out *o)
{
	if (o->mid_line)
		cell_out_push(o, STDOUT_FILENO, "\n", 1);
}

void cell_out_step(struct cell_out *o)
{
	size_t left = o->queue.len - o->written;
	ssize_t n = write(o->fd, o->queue.p + o->written,
			  MIN(left, (size_t)PIPE_BUF));

	if (n < 0 && errno != EINTR && errno != EAGAIN) {
		o->failed = true;
		o->sink.unread = errno == EPIPE;
	}
	if (n > 0)
		o->written += n;
	if (o->failed || o->written == o->queue.len)
		cell_out_drop(o);
}

void cell_out_drop(struct cell_out *o)
{
	buf_done(&o->queue);
	o->written = 0;
}

void cell_out_flush(struct cell_out *o)
{
	while (cell_out_waits(o))
		cell_out_step(o);
}
