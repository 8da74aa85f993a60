/* SPDX-License-Identifier: Apache-2.0 */
/* A thread with a connection to the X server, and a queue of jobs. */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "guest/screen.h"

#define IDLE_S 60 /* then the connection is closed, and its memory free */
#define WATCH_MS 500

TAILQ_HEAD(call_list, screen_call);

struct screen {
	struct loop *loop;
	char *path;
	int limit_ms;
	void *library;
	const struct screen_module *module;
	struct loop_timer *watch;
	bool watching;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* for all below */
	pthread_cond_t more;
	struct call_list queue, finished;
	size_t nqueue;
	bool stop, stale, posted;
	char *display;
	unsigned char cookie[X11_COOKIE_LEN];
	bool has_cookie;
	int fd;		  /* of the connection while a job runs, else -1 */
	int64_t began_ms; /* that job, else 0 */
	bool cut;	  /* it took too long, and was disconnected */
};

struct screen *screen_new(const struct screen_config *cfg)
{
	struct screen *s = xcalloc(1, sizeof(*s));

	s->loop = cfg->loop;
	s->path = xstrdup(cfg->module);
	s->limit_ms = cfg->limit_ms;
	s->fd = -1;
	TAILQ_INIT(&s->queue);
	TAILQ_INIT(&s->finished);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	return s;
}

void screen_set_display(struct screen *s, const char *display,
			const unsigned char *cookie)
{
	pthread_mutex_lock(&s->lock);
	free(s->display);
	s->display = str_empty(display) ? NULL : xstrdup(display);
	s->has_cookie = cookie != NULL;
	if (cookie)
		memcpy(s->cookie, cookie, X11_COOKIE_LEN);
	s->stale = true;
	pthread_mutex_unlock(&s->lock);
}

int screen_module(struct screen *s, const struct screen_module **ret,
		  struct sb_err *err)
{
	if (!s->library)
		s->library =
			dlopen(s->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (s->library && !s->module)
		s->module = dlsym(s->library, "screen_module");
	if (!s->module) {
		sb_fail(err, SB_MISSING, "the screen cannot be used: %s",
			dlerror());
		return sb_hint(err, "install the library in the sandbox");
	}
	*ret = s->module;
	return 0;
}

/* Called when all that has finished is to be told. */
static void tell(void *arg)
{
	struct screen *s = arg;
	struct screen_call *c;

	pthread_mutex_lock(&s->lock);
	s->posted = false;
	while ((c = TAILQ_FIRST(&s->finished))) {
		TAILQ_REMOVE(&s->finished, c, next);
		pthread_mutex_unlock(&s->lock);
		c->done(c, c->failed ? &c->err : NULL);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
}

/* The next job; NULL when it has been quiet for long, or is to end. */
static struct screen_call *next_call(struct screen *s)
{
	struct screen_call *c = NULL;
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += IDLE_S;
	pthread_mutex_lock(&s->lock);
	while (!s->stop && TAILQ_EMPTY(&s->queue) && r == 0)
		r = pthread_cond_timedwait(&s->more, &s->lock, &until);
	if (!s->stop)
		c = TAILQ_FIRST(&s->queue);
	if (c) {
		TAILQ_REMOVE(&s->queue, c, next);
		s->nqueue--;
		c->waits = false;
	}
	pthread_mutex_unlock(&s->lock);
	return c;
}

static bool is_stopped(struct screen *s)
{
	bool stop;

	pthread_mutex_lock(&s->lock);
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return stop;
}

/* What a connection is made with: a copy, for the thread. */
struct place {
	char *display;
	unsigned char cookie[X11_COOKIE_LEN];
	bool has_cookie, stale;
};

static void get_place(struct screen *s, struct place *ret)
{
	pthread_mutex_lock(&s->lock);
	ret->display = xstrdup0(s->display);
	memcpy(ret->cookie, s->cookie, sizeof(ret->cookie));
	ret->has_cookie = s->has_cookie;
	ret->stale = s->stale;
	s->stale = false;
	s->began_ms = clock_ms();
	pthread_mutex_unlock(&s->lock);
}

/* A connection that is good, as far as can be told. */
static int connect_to(struct screen *s, struct x11 **x, struct sb_err *err)
{
	struct place p;
	int r = 0;

	get_place(s, &p);
	if (*x && (p.stale || s->module->dead(*x))) {
		s->module->close(*x);
		*x = NULL;
	}
	if (!p.display)
		r = sb_fail(err, SB_BUSY, "there is no display");
	else if (!*x)
		r = s->module->open(p.display, p.has_cookie ? p.cookie : NULL,
				    x, err);
	free(p.display);
	return r;
}

static void set_fd(struct screen *s, int fd)
{
	pthread_mutex_lock(&s->lock);
	s->fd = fd;
	pthread_mutex_unlock(&s->lock);
}

/* With the lock: those that wait fail for the same reason. */
static void fail_all(struct screen *s, const struct sb_err *err)
{
	struct screen_call *c;

	while ((c = TAILQ_FIRST(&s->queue))) {
		TAILQ_REMOVE(&s->queue, c, next);
		c->waits = false;
		c->failed = true;
		c->err = *err;
		TAILQ_INSERT_TAIL(&s->finished, c, next);
	}
	s->nqueue = 0;
}

static void run_call(struct screen *s, struct screen_call *c, struct x11 **x)
{
	bool connected = connect_to(s, x, &c->err) == 0;

	c->failed = !connected;
	if (connected) {
		set_fd(s, s->module->fd(*x));
		c->failed = c->job(*x, c->arg, &c->err) < 0;
		set_fd(s, -1);
	}
	pthread_mutex_lock(&s->lock);
	if (s->cut && c->failed) {
		sb_fail(&c->err, SB_BUSY, "the X server does not answer");
		sb_hint(&c->err, "ask again in a moment");
	}
	s->cut = false;
	s->began_ms = 0;
	TAILQ_INSERT_TAIL(&s->finished, c, next);
	if (!connected) /* each would wait as long for a server that hangs */
		fail_all(s, &c->err);
	if (!s->posted)
		loop_post(s->loop, tell, s);
	s->posted = true;
	pthread_mutex_unlock(&s->lock);
}

static void *run(void *arg)
{
	struct screen *s = arg;
	struct screen_call *c;
	struct x11 *x = NULL;

	while ((c = next_call(s)) || !is_stopped(s)) {
		if (c) {
			run_call(s, c, &x);
		} else if (x) {
			s->module->close(x);
			x = NULL;
		}
	}
	if (x)
		s->module->close(x);
	return NULL;
}

/* A server that does not answer must not hold everybody for ever. */
static void watch(void *arg)
{
	struct screen *s = arg;
	bool busy;

	pthread_mutex_lock(&s->lock);
	if (s->began_ms && clock_ms() - s->began_ms > s->limit_ms &&
	    s->fd >= 0) {
		log_warn("the X server does not answer: disconnected");
		shutdown(s->fd, SHUT_RDWR);
		s->cut = true;
	}
	busy = s->began_ms || !TAILQ_EMPTY(&s->queue);
	pthread_mutex_unlock(&s->lock);
	s->watching = busy;
	if (busy)
		loop_timer_set(s->watch, WATCH_MS);
}

static int start(struct screen *s, struct sb_err *err)
{
	const struct screen_module *module;

	if (s->started)
		return 0;
	if (screen_module(s, &module, err) < 0)
		return -1;
	if (pthread_create(&s->thread, NULL, run, s) != 0)
		return sb_fail(err, SB_BUSY, "there are too many threads");
	s->watch = loop_timer_new(s->loop, watch, s);
	s->started = true;
	return 0;
}

int screen_ask(struct screen *s, struct screen_call *c, struct sb_err *err)
{
	int r = 0;

	if (start(s, err) < 0)
		return -1;
	c->failed = false;
	pthread_mutex_lock(&s->lock);
	if (s->nqueue == SCREEN_MAX_QUEUE) {
		sb_fail(err, SB_BUSY, "%d requests wait for the screen already",
			SCREEN_MAX_QUEUE);
		r = sb_hint(err, "ask again in a moment");
	} else {
		TAILQ_INSERT_TAIL(&s->queue, c, next);
		s->nqueue++;
		c->waits = true;
		pthread_cond_signal(&s->more);
	}
	pthread_mutex_unlock(&s->lock);
	if (!s->watching)
		loop_timer_set(s->watch, WATCH_MS);
	s->watching = true;
	return r;
}

bool screen_waits(struct screen *s, const struct screen_call *c)
{
	bool waits;

	pthread_mutex_lock(&s->lock);
	waits = c->waits;
	pthread_mutex_unlock(&s->lock);
	return waits;
}

void screen_free(struct screen *s)
{
	struct sb_err err;

	if (!s)
		return;
	if (s->started) {
		pthread_mutex_lock(&s->lock);
		s->stop = true;
		if (s->fd >= 0)
			shutdown(s->fd, SHUT_RDWR);
		pthread_cond_signal(&s->more);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
		loop_timer_free(s->watch);
	}
	sb_fail(&err, SB_CANCELLED, "guestd ends");
	fail_all(s, &err);
	tell(s);
	if (s->library)
		dlclose(s->library);
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	free(s->display);
	free(s->path);
	free(s);
}
