/* SPDX-License-Identifier: Apache-2.0 */
/* Threads for blocking work. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/util.h"
#include "host/task.h"

struct cancel {
	int fd;
};

struct cancel *cancel_new(void)
{
	struct cancel *c = xcalloc(1, sizeof(*c));

	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->fd < 0)
		abort();
	return c;
}

void cancel_free(struct cancel *c)
{
	if (!c)
		return;
	close(c->fd);
	free(c);
}

void cancel_set(struct cancel *c)
{
	uint64_t one = 1;

	while (write(c->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

bool cancel_is_set(const struct cancel *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

int cancel_fd(const struct cancel *c)
{
	return c->fd;
}

int cancel_wait(const struct cancel *c, int ms, struct sb_err *err)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	int64_t deadline = clock_ms() + ms;
	int rc;

	do
		rc = poll(&p, 1, clock_left(deadline));
	while (rc < 0 && errno == EINTR);
	return rc > 0 ? sb_fail(err, SB_CANCELLED, "cancelled") : 0;
}

struct task {
	struct loop *loop;
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void *task_main(void *p)
{
	struct task *t = p;

	t->work(t->arg);
	loop_post(t->loop, t->done, t->arg);
	free(t);
	return NULL;
}

void task_start(struct loop *l, void (*work)(void *arg),
		void (*done)(void *arg), void *arg)
{
	struct task *t = xcalloc(1, sizeof(*t));
	pthread_attr_t attr;
	pthread_t thread;

	*t = (struct task){ l, work, done, arg };
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, task_main, t) != 0)
		abort(); /* the same as being out of memory */
	pthread_attr_destroy(&attr);
}

struct call {
	void (*fn)(void *arg);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

static void call_run(void *p)
{
	struct call *c = p;

	c->fn(c->arg);
	pthread_mutex_lock(&c->lock);
	c->done = true;
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

void task_call(struct loop *l, void (*fn)(void *arg), void *arg)
{
	struct call c = { .fn = fn,
			  .arg = arg,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .cond = PTHREAD_COND_INITIALIZER };

	loop_post(l, call_run, &c);
	pthread_mutex_lock(&c.lock);
	while (!c.done)
		pthread_cond_wait(&c.cond, &c.lock);
	pthread_mutex_unlock(&c.lock);
	pthread_cond_destroy(&c.cond);
	pthread_mutex_destroy(&c.lock);
}
