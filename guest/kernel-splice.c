/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of clients to the sockets of a kernel. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "guest/kernel-splice.h"
#include "guest/spool.h"

#define MAX_CONNECTIONS 64 /* to one kernel; a client has five */
#define MAX_ALL 1024	   /* to all of them */
#define CHUNK 65536
#define SPOOL_MEMORY (1024 * 1024)
#define FIRST_MS 30000 /* for a client to say its first byte */
#define END_MS 10000   /* for one side to take the rest when the other ended */
#define KEEPALIVE_S 60

/* One of the two sockets of a connection. */
struct end {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} h;
	struct splice *s;
	struct end *other;
	uv_write_t write;
	uv_shutdown_t shutdown;
	char *rest; /* of what it said: the other takes it now */
	bool ended; /* it says no more, or none of it is taken */
};

/*
 * The client waits for the kernel: nothing is read from it until all it said is
 * taken.  The kernel waits for no client, as then all others would wait, too:
 * what one has not taken is spooled, and when that is too much it is cut off.
 */
struct splice {
	LIST_ENTRY(splice) next;
	struct kernel_splices *of;
	struct end client, kernel;
	struct spool *spool; /* what comes after the kernel's rest, or NULL */
	uv_connect_t connect;
	struct loop_timer *deadline;
	bool heard, closing;
	int open; /* ends */
};

struct kernel_splices {
	struct loop *loop;
	char *dir; /* the kernel's */
	const char *spools;
	uint64_t max; /* bytes of one spool */
	LIST_HEAD(, splice) all;
	int n;
	int refs; /* the owner, and connections that are not closed */
};

/* A limit of the process, as its descriptors are. */
static int nall;

static void unref(struct kernel_splices *all)
{
	if (--all->refs)
		return;
	free(all->dir);
	free(all);
}

static void on_end_closed(uv_handle_t *h)
{
	struct end *e = h->data;
	struct splice *s = e->s;

	/* What one said may still be written, until the other is closed. */
	if (--s->open)
		return;
	unref(s->of);
	free(s->client.rest);
	free(s->kernel.rest);
	free(s);
}

static void cut(struct splice *s)
{
	if (s->closing)
		return;
	s->closing = true;
	LIST_REMOVE(s, next);
	s->of->n--;
	nall--;
	loop_timer_free(steal(&s->deadline));
	spool_free(steal(&s->spool));
	uv_close(&s->client.h.handle, on_end_closed);
	uv_close(&s->kernel.h.handle, on_end_closed);
}

static void on_deadline(void *arg)
{
	cut(arg);
}

/* Reads are handed on before the next one is made. */
static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *ret)
{
	static char chunk[CHUNK];

	*ret = uv_buf_init(chunk, sizeof(chunk));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);
static void on_written(uv_write_t *w, int status);

static void write_rest(struct end *e, size_t len)
{
	uv_buf_t b = uv_buf_init(e->rest, len);

	e->write.data = e;
	if (uv_write(&e->write, &e->other->h.stream, &b, 1, on_written) < 0)
		cut(e->s);
}

/*
 * All that one side said is taken, and it says no more: the other hears of it,
 * and may say its last words.
 */
static void finish(struct end *e)
{
	struct end *other = e->other;
	bool over = other->ended ||
		    uv_shutdown(&other->shutdown, &other->h.stream, NULL) < 0;

	if (over && !other->rest)
		cut(e->s);
}

static void end(struct end *e)
{
	if (e->ended)
		return;
	e->ended = true;
	loop_timer_set(e->s->deadline, END_MS);
	if (!e->rest)
		finish(e);
}

/* A kernel that is gone takes no more, but what it said is the client's. */
static void lose_other(struct end *e)
{
	if (e == &e->s->client)
		end(e);
	else
		cut(e->s);
}

static void give_up(struct splice *s, const struct sb_err *err)
{
	log_warn("a slow client of the kernel in '%s' is cut off: %s",
		 s->of->dir, err->msg);
	cut(s);
}

/* The client has taken the kernel's rest: here is the next. */
static void go_on(struct splice *s)
{
	struct end *e = &s->kernel;
	struct sb_err err;
	size_t len;

	if (!s->spool) {
		if (e->ended)
			finish(e);
		return;
	}
	e->rest = xmalloc(CHUNK);
	if (spool_take(s->spool, e->rest, CHUNK, &len, &err) < 0) {
		give_up(s, &err);
		return;
	}
	if (!spool_len(s->spool))
		spool_free(steal(&s->spool));
	write_rest(e, len);
}

static void on_written(uv_write_t *w, int status)
{
	struct end *e = w->data;
	struct splice *s = e->s;

	free(steal(&e->rest));
	if (s->closing)
		return;
	if (s->client.ended || s->kernel.ended)
		loop_timer_set(s->deadline, END_MS);
	if (e == &s->client &&
	    uv_read_start(&e->h.stream, on_alloc, on_read) < 0)
		cut(s);
	else if (status < 0)
		lose_other(e);
	else if (e == &s->kernel)
		go_on(s);
}

static void spool(struct splice *s, const char *data, size_t len)
{
	struct sb_err err;

	if (!s->spool)
		s->spool = spool_new(s->of->spools, SPOOL_MEMORY, s->of->max);
	if (spool_put(s->spool, data, len, &err) < 0)
		give_up(s, &err);
}

/* Hand on what one side said. */
static void pass(struct end *e, const char *data, size_t len)
{
	uv_buf_t b = uv_buf_init((char *)data, len);
	int n;

	if (e->rest) {
		spool(e->s, data, len);
		return;
	}
	n = uv_try_write(&e->other->h.stream, &b, 1);
	if (n == UV_EAGAIN)
		n = 0;
	if (n < 0) {
		lose_other(e);
		return;
	}
	if ((size_t)n == len)
		return;
	e->rest = xmalloc(len - n);
	memcpy(e->rest, data + n, len - n);
	if (e == &e->s->client)
		uv_read_stop(&e->h.stream);
	write_rest(e, len - n);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct end *e = stream->data;
	struct splice *s = e->s;

	if (n < 0 && n != UV_EOF && e == &s->client) {
		cut(s);
	} else if (n < 0) {
		/* By an error, too, if a kernel was killed. */
		end(e);
	} else if (n > 0 && !e->ended) {
		if (e == &s->client && !s->heard) {
			s->heard = true;
			loop_timer_clear(s->deadline);
		}
		pass(e, buf->base, n);
	}
}

static void on_connected(uv_connect_t *c, int status)
{
	struct splice *s = c->data;

	if (s->closing)
		return;
	/* A kernel that is not up: the client tries again by itself. */
	if (status < 0 ||
	    uv_read_start(&s->client.h.stream, on_alloc, on_read) < 0 ||
	    uv_read_start(&s->kernel.h.stream, on_alloc, on_read) < 0)
		cut(s);
}

/*
 * The folder is the account's, who could put another's socket in the place of
 * the kernel's, and we may be root when we connect to it.
 */
static int find_socket(const char *dir, int number)
{
	autofree char *path = xasprintf("%s/s-%d", dir, number);
	autoclose int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat folder, st;

	if (fd < 0 || stat(dir, &folder) < 0 || fstat(fd, &st) < 0 ||
	    !S_ISSOCK(st.st_mode) || st.st_uid != folder.st_uid)
		return -1;
	return steal_fd(&fd);
}

static void connect_kernel(struct splice *s, int number)
{
	autoclose int fd = find_socket(s->of->dir, number);
	autofree char *path = xasprintf("/proc/self/fd/%d", fd);

	if (fd < 0) {
		cut(s);
		return;
	}
	s->connect.data = s;
	uv_pipe_connect(&s->connect, &s->kernel.h.pipe, path, on_connected);
}

static struct splice *splice_new(struct kernel_splices *all)
{
	struct splice *s = xcalloc(1, sizeof(*s));
	uv_loop_t *uv = loop_uv(all->loop);

	s->of = all;
	s->open = 2;
	all->refs++;
	uv_tcp_init(uv, &s->client.h.tcp);
	uv_pipe_init(uv, &s->kernel.h.pipe, 0);
	s->client.s = s->kernel.s = s;
	s->client.other = &s->kernel;
	s->kernel.other = &s->client;
	s->client.h.handle.data = &s->client;
	s->kernel.h.handle.data = &s->kernel;
	s->deadline = loop_timer_new(all->loop, on_deadline, s);
	loop_timer_set(s->deadline, FIRST_MS);
	LIST_INSERT_HEAD(&all->all, s, next);
	all->n++;
	nall++;
	return s;
}

void kernel_splice_accept(struct kernel_splices *all, uv_stream_t *server,
			  int number)
{
	bool full = all->n >= MAX_CONNECTIONS || nall >= MAX_ALL;
	struct splice *s = splice_new(all);

	if (uv_accept(server, &s->client.h.stream) < 0 || full) {
		cut(s);
		return;
	}
	uv_tcp_nodelay(&s->client.h.tcp, 1);
	uv_tcp_keepalive(&s->client.h.tcp, 1, KEEPALIVE_S);
	connect_kernel(s, number);
}

struct kernel_splices *kernel_splice_new(struct loop *loop, const char *dir,
					 const char *spools, uint64_t max)
{
	struct kernel_splices *all = xcalloc(1, sizeof(*all));

	all->loop = loop;
	all->dir = xstrdup(dir);
	all->spools = spools;
	all->max = max;
	all->refs = 1;
	LIST_INIT(&all->all);
	return all;
}

void kernel_splice_free(struct kernel_splices *all)
{
	while (!LIST_EMPTY(&all->all))
		cut(LIST_FIRST(&all->all));
	unref(all);
}

int kernel_splice_count(const struct kernel_splices *all)
{
	return all->n;
}
