/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be sent, in order, bounded, with text made into few messages. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "guest/kernel/outbox.h"
#include "guest/kernel/utf8-text.h"

/* What a message costs besides its bytes. */
#define OVERHEAD 512

static void set_event(int fd)
{
	uint64_t one = 1;

	/* It can only fail when the counter is full, and so is set. */
	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void clear_event(int fd)
{
	uint64_t n;

	while (read(fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

int outbox_init(struct outbox *box, struct sb_err *err)
{
	memset(box, 0, sizeof(*box));
	pthread_mutex_init(&box->lock, NULL);
	TAILQ_INIT(&box->list);
	box->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	box->room_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (box->wake_fd < 0 || box->room_fd < 0)
		return sb_fail(err, SB_SYSTEM, "eventfd: %m");
	return 0;
}

void outbox_done(struct outbox *box)
{
	struct outgoing *o;

	while ((o = TAILQ_FIRST(&box->list))) {
		TAILQ_REMOVE(&box->list, o, link);
		outgoing_free(o);
	}
	request_unref(box->current);
	util_close(&box->wake_fd);
	util_close(&box->room_fd);
	pthread_mutex_destroy(&box->lock);
}

struct outgoing *outgoing_new(enum channel channel, const char *type,
			      struct request *parent)
{
	struct outgoing *o = xcalloc(1, sizeof(*o));

	o->channel = channel;
	snprintf(o->type, sizeof(o->type), "%s", type);
	o->parent = request_ref(parent);
	return o;
}

void outgoing_free(struct outgoing *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->nbuffers; i++)
		buf_done(&o->buffers[i]);
	free(o->buffers);
	free(o->metadata);
	free(o->topic);
	buf_done(&o->content);
	request_unref(o->parent);
	free(o);
}

void outbox_lock(struct outbox *box)
{
	pthread_mutex_lock(&box->lock);
}

void outbox_unlock(struct outbox *box)
{
	bool wake = box->wake;

	box->wake = false;
	pthread_mutex_unlock(&box->lock);
	if (wake)
		set_event(box->wake_fd);
}

/* The I/O thread must look at this time, if it would not do so anyway. */
static void wake_by(struct outbox *box, int64_t when)
{
	if (when >= box->armed)
		return;
	box->armed = when;
	box->wake = true;
}

static void charge(struct outbox *box, struct outgoing *o, size_t n)
{
	o->cost += n;
	box->bytes += n;
	if (box->bytes < OUTBOX_LIMIT || box->full)
		return;
	box->full = true;
	clear_event(box->room_fd);
}

bool outbox_full(const struct outbox *box)
{
	return box->full;
}

void outbox_add(struct outbox *box, struct outgoing *o)
{
	size_t n = OVERHEAD + o->content.len;

	for (size_t i = 0; i < o->nbuffers; i++)
		n += o->buffers[i].len;
	TAILQ_INSERT_TAIL(&box->list, o, link);
	charge(box, o, n);
	wake_by(box, 0);
}

/* The message at the end, if text of this stream may still join it. */
static struct outgoing *open_text(struct outbox *box, enum stream stream)
{
	struct outgoing *o = TAILQ_LAST(&box->list, outgoing_list);

	if (o && o->stream == stream && o->parent == box->current &&
	    o->content.len < OUTBOX_CHUNK)
		return o;
	o = outgoing_new(CHANNEL_IOPUB, "stream", box->current);
	o->stream = stream;
	o->due = MAX(clock_ms() + OUTBOX_FIRST_MS,
		     box->last_text + OUTBOX_NEXT_MS);
	/* What it follows need not wait for more. */
	if (!TAILQ_EMPTY(&box->list))
		wake_by(box, 0);
	TAILQ_INSERT_TAIL(&box->list, o, link);
	charge(box, o, OVERHEAD);
	return o;
}

void outbox_text(struct outbox *box, enum stream stream, const char *text,
		 size_t len)
{
	while (len) {
		struct outgoing *o = open_text(box, stream);
		size_t n =
			utf8_cut(text, len, OUTBOX_MAX_CHUNK - o->content.len);

		buf_add(&o->content, text, n);
		charge(box, o, n);
		wake_by(box, o->content.len >= OUTBOX_CHUNK ? 0 : o->due);
		text += n;
		len -= n;
	}
}

struct outgoing *outbox_take(struct outbox *box, int64_t now, int *ret_wait)
{
	struct outgoing *o;

	pthread_mutex_lock(&box->lock);
	o = TAILQ_FIRST(&box->list);
	if (!o) {
		*ret_wait = -1;
		box->armed = INT64_MAX;
	} else if (o->stream && o->due > now && !TAILQ_NEXT(o, link) &&
		   o->content.len < OUTBOX_CHUNK) {
		*ret_wait = (int)(o->due - now);
		box->armed = o->due;
		o = NULL;
	} else {
		TAILQ_REMOVE(&box->list, o, link);
		box->armed = 0;
		if (o->stream)
			box->last_text = now;
	}
	pthread_mutex_unlock(&box->lock);
	return o;
}

void outbox_sent(struct outbox *box, struct outgoing *o)
{
	pthread_mutex_lock(&box->lock);
	box->bytes -= o->cost;
	/* Half, so that a writer and the I/O thread do not take turns. */
	if (box->full && box->bytes < OUTBOX_LIMIT / 2) {
		box->full = false;
		set_event(box->room_fd);
	}
	pthread_mutex_unlock(&box->lock);
	outgoing_free(o);
}
