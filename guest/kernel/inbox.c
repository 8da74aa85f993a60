/* SPDX-License-Identifier: Apache-2.0 */
/* From the I/O thread to the main thread. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "guest/kernel/inbox.h"

int inbox_init(struct inbox *in, struct sb_err *err)
{
	memset(in, 0, sizeof(*in));
	pthread_mutex_init(&in->lock, NULL);
	TAILQ_INIT(&in->list);
	in->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (in->fd < 0)
		return sb_fail(err, SB_SYSTEM, "eventfd: %m");
	return 0;
}

void inbox_done(struct inbox *in)
{
	struct request *r;

	while ((r = TAILQ_FIRST(&in->list))) {
		TAILQ_REMOVE(&in->list, r, link);
		request_unref(r);
	}
	request_unref(in->input);
	util_close(&in->fd);
	pthread_mutex_destroy(&in->lock);
}

void inbox_wake(struct inbox *in)
{
	uint64_t one = 1;

	while (write(in->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void inbox_clear(struct inbox *in)
{
	uint64_t n;

	while (read(in->fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

void inbox_put(struct inbox *in, struct request *r)
{
	pthread_mutex_lock(&in->lock);
	TAILQ_INSERT_TAIL(&in->list, r, link);
	in->n++;
	in->bytes += r->bytes;
	pthread_mutex_unlock(&in->lock);
	inbox_wake(in);
}

void inbox_input(struct inbox *in, struct request *r)
{
	pthread_mutex_lock(&in->lock);
	/* One that nobody asked for, or the second one, is dropped. */
	if (in->want_input && !in->input) {
		in->input = r;
		r = NULL;
	}
	pthread_mutex_unlock(&in->lock);
	request_unref(r);
	inbox_wake(in);
}

void inbox_stop(struct inbox *in)
{
	pthread_mutex_lock(&in->lock);
	in->stop = true;
	pthread_mutex_unlock(&in->lock);
	inbox_wake(in);
}

bool inbox_full(struct inbox *in)
{
	bool full;

	pthread_mutex_lock(&in->lock);
	full = in->n >= INBOX_MAX || in->bytes >= INBOX_MAX_BYTES;
	pthread_mutex_unlock(&in->lock);
	return full;
}

void inbox_abort(struct inbox *in)
{
	struct request *r;

	pthread_mutex_lock(&in->lock);
	TAILQ_FOREACH(r, &in->list, link)
		if (strcmp(r->type, "execute_request") == 0)
			r->aborted = true;
	pthread_mutex_unlock(&in->lock);
}

struct request *inbox_take(struct inbox *in, bool *ret_stop)
{
	struct request *r;

	pthread_mutex_lock(&in->lock);
	*ret_stop = in->stop;
	r = in->stop ? NULL : TAILQ_FIRST(&in->list);
	if (r) {
		TAILQ_REMOVE(&in->list, r, link);
		in->n--;
		in->bytes -= r->bytes;
	}
	pthread_mutex_unlock(&in->lock);
	return r;
}

void inbox_want_input(struct inbox *in, bool want)
{
	struct request *old;

	pthread_mutex_lock(&in->lock);
	in->want_input = want;
	old = steal(&in->input);
	pthread_mutex_unlock(&in->lock);
	request_unref(old);
}

struct request *inbox_take_input(struct inbox *in, bool *ret_stop)
{
	struct request *r;

	pthread_mutex_lock(&in->lock);
	*ret_stop = in->stop;
	r = steal(&in->input);
	pthread_mutex_unlock(&in->lock);
	return r;
}
