/* SPDX-License-Identifier: Apache-2.0 */
/* ZeroMQ on the daemon's loop. */
#include "config.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/log.h"
#include "guest/gateway-zmq.h"

#define LIBRARY "libzmq.so.5"
#define RECONNECT_MS 5
#define MAX_ROUND 128 /* messages, then others have their turn */
#define MAX_PARTS (FRAME_MAX_BUFFERS + 16)

static struct {
	void *library, *ctx;
	/* clang-format off */
#define ZMQ_FUNCTIONS(X) \
	X(ctx_new) X(ctx_term) X(socket) X(close) X(connect) X(disconnect) \
	X(setsockopt) X(getsockopt) X(send) X(msg_init) X(msg_recv) X(msg_close) \
	X(msg_data) X(msg_size) X(msg_more)
	/* clang-format on */
#define ZMQ_POINTER(name) __typeof__(zmq_##name) *(name);
	ZMQ_FUNCTIONS(ZMQ_POINTER)
} zq;

struct zsock {
	struct zlink *link;
	enum frame_channel channel;
	void *zmq;
	uv_poll_t poll;
	bool blocked; /* waits to be writable */
	bool again;   /* was used: it must be asked what it can do now */
};

struct zlink {
	struct loop *loop;
	char *prefix;
	const struct zlink_ops *ops;
	void *arg;
	struct zsock sock[FRAME_NCHANNELS];
	int open;    /* polls that are not closed */
	bool closed; /* by its owner */
	bool again;  /* a look at such sockets is under way */
	zmq_msg_t msg[MAX_PARTS];
	struct part part[MAX_PARTS];
};

static int load(struct sb_err *err)
{
	if (zq.ctx)
		return 0;
	if (!zq.library)
		zq.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!zq.library) {
		sb_fail(err, SB_MISSING, "kernels need '%s': %s", LIBRARY,
			dlerror());
		return sb_hint(err, "apt-get install libzmq5 in the sandbox");
	}
#define ZMQ_LOOKUP(name)                                                     \
	zq.name = (__typeof__(zmq_##name) *)dlsym(zq.library, "zmq_" #name); \
	if (!zq.name)                                                        \
		return sb_fail(err, SB_MISSING, "'%s' lacks zmq_" #name,     \
			       LIBRARY);
	ZMQ_FUNCTIONS(ZMQ_LOOKUP)
	zq.ctx = zq.ctx_new();
	assert(zq.ctx);
	return 0;
}

void zlink_unload(void)
{
	if (zq.ctx)
		zq.ctx_term(zq.ctx);
	zq.ctx = NULL;
	if (zq.library)
		dlclose(zq.library);
	zq.library = NULL;
}

static int events_of(const struct zsock *s)
{
	int events = 0;
	size_t len = sizeof(events);

	if (zq.getsockopt(s->zmq, ZMQ_EVENTS, &events, &len) < 0)
		return 0;
	return events;
}

/* All parts of one message; how many were kept. */
static size_t receive(struct zsock *s)
{
	struct zlink *z = s->link;
	size_t n = 0;
	bool more = true;

	while (more) {
		zmq_msg_t *m = &z->msg[n];

		zq.msg_init(m);
		if (zq.msg_recv(m, s->zmq, ZMQ_DONTWAIT) < 0) {
			zq.msg_close(m);
			break;
		}
		more = zq.msg_more(m);
		z->part[n] = (struct part){ zq.msg_data(m), zq.msg_size(m) };
		if (n < MAX_PARTS - 1)
			n++;
		else
			zq.msg_close(m); /* more than any message has */
	}
	return n;
}

static void deliver(struct zsock *s, size_t n)
{
	struct zlink *z = s->link;
	size_t i = 0;

	while (i < n && !part_is(z->part[i], ZLINK_DELIMITER))
		i++;
	if (i < n && !z->closed)
		z->ops->on_message(z->arg, s->channel, z->part + i + 1,
				   n - i - 1);
	for (i = 0; i < n; i++)
		zq.msg_close(&z->msg[i]);
}

static void look_again(struct zsock *s);

/*
 * The descriptor only tells that something has changed, so whoever has used
 * the socket must ask it what it can do now.
 */
static void look(struct zsock *s)
{
	struct zlink *z = s->link;
	int events = 0, round = 0;

	while (!z->closed && (events = events_of(s)) & ZMQ_POLLIN) {
		deliver(s, receive(s));
		if (++round == MAX_ROUND) {
			look_again(s);
			return;
		}
	}
	if (!z->closed && s->blocked && events & ZMQ_POLLOUT) {
		s->blocked = false;
		z->ops->on_writable(z->arg);
	}
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	look(poll->data);
}

static void free_link(struct zlink *z)
{
	if (!z->closed || z->open || z->again)
		return;
	free(z->prefix);
	free(z);
}

static void look_at_used(void *arg)
{
	struct zlink *z = arg;

	z->again = false;
	for (int i = 0; i < FRAME_NCHANNELS && !z->closed; i++)
		if (z->sock[i].again) {
			z->sock[i].again = false;
			look(&z->sock[i]);
		}
	free_link(z);
}

static void look_again(struct zsock *s)
{
	struct zlink *z = s->link;

	s->again = true;
	if (z->again)
		return;
	z->again = true;
	loop_post(z->loop, look_at_used, z);
}

static void on_closed(uv_handle_t *h)
{
	struct zsock *s = h->data;

	zq.close(s->zmq);
	s->link->open--;
	free_link(s->link);
}

void zlink_close(struct zlink *z)
{
	if (!z)
		return;
	z->closed = true;
	for (int i = 0; i < FRAME_NCHANNELS; i++)
		if (z->sock[i].zmq)
			uv_close((uv_handle_t *)&z->sock[i].poll, on_closed);
	free_link(z);
}

static void set_int(void *zmq, int option, int value)
{
	zq.setsockopt(zmq, option, &value, sizeof(value));
}

static char *address_of(const struct zsock *s)
{
	return xasprintf("ipc://%s-%d", s->link->prefix, s->channel + 1);
}

static int connect_socket(const struct zsock *s, struct sb_err *err)
{
	autofree char *address = address_of(s);

	if (zq.connect(s->zmq, address) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot connect to '%s': %m",
			       address);
	return 0;
}

void zlink_connect_again(struct zlink *z)
{
	for (int i = 0; i < FRAME_NCHANNELS; i++) {
		struct zsock *s = &z->sock[i];
		autofree char *address = address_of(s);

		if (i == FRAME_IOPUB)
			continue;
		zq.disconnect(s->zmq, address);
		connect_socket(s, NULL);
		look_again(s);
	}
}

static int open_socket(struct zlink *z, enum frame_channel c,
		       const char *identity, struct sb_err *err)
{
	struct zsock *s = &z->sock[c];
	int64_t max = ZLINK_MAX_PART;
	int fd = -1;
	size_t len = sizeof(fd);

	s->link = z;
	s->channel = c;
	s->zmq = zq.socket(zq.ctx, c == FRAME_IOPUB ? ZMQ_SUB : ZMQ_DEALER);
	if (!s->zmq)
		return sb_fail(err, SB_BUSY, "cannot make a ZeroMQ socket: %m");
	set_int(s->zmq, ZMQ_LINGER, 0);
	set_int(s->zmq, ZMQ_RECONNECT_IVL, RECONNECT_MS);
	/* What the kernel says is always taken: the journal has the bound. */
	set_int(s->zmq, ZMQ_RCVHWM, 0);
	zq.setsockopt(s->zmq, ZMQ_MAXMSGSIZE, &max, sizeof(max));
	if (c == FRAME_IOPUB)
		zq.setsockopt(s->zmq, ZMQ_SUBSCRIBE, "", 0);
	else /* the kernel asks on stdin whom it knows from shell */
		zq.setsockopt(s->zmq, ZMQ_ROUTING_ID, identity,
			      strlen(identity));
	zq.getsockopt(s->zmq, ZMQ_FD, &fd, &len);
	if (uv_poll_init(loop_uv(z->loop), &s->poll, fd) < 0) {
		zq.close(steal(&s->zmq));
		return sb_fail(err, SB_BUSY, "cannot watch a ZeroMQ socket");
	}
	s->poll.data = s;
	z->open++;
	uv_poll_start(&s->poll, UV_READABLE, on_poll);
	return connect_socket(s, err);
}

int zlink_open(struct loop *l, const char *prefix, const char *identity,
	       const struct zlink_ops *ops, void *arg, struct zlink **ret,
	       struct sb_err *err)
{
	struct zlink *z;

	if (load(err) < 0)
		return -1;
	z = xcalloc(1, sizeof(*z));
	z->loop = l;
	z->prefix = xstrdup(prefix);
	z->ops = ops;
	z->arg = arg;
	for (int i = 0; i < FRAME_NCHANNELS; i++)
		if (open_socket(z, i, identity, err) < 0) {
			zlink_close(z);
			return -1;
		}
	for (int i = 0; i < FRAME_NCHANNELS; i++)
		look_again(&z->sock[i]);
	*ret = z;
	return 0;
}

int zlink_send(struct zlink *z, enum frame_channel c, const struct part *parts,
	       size_t n)
{
	struct zsock *s = &z->sock[c];

	if (zq.send(s->zmq, ZLINK_DELIMITER, strlen(ZLINK_DELIMITER),
		    ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
		s->blocked = true;
		look_again(s);
		return -1;
	}
	/* Once the first is taken, all are. */
	for (size_t i = 0; i < n; i++)
		zq.send(s->zmq, parts[i].p, parts[i].len,
			i + 1 < n ? ZMQ_SNDMORE : 0);
	look_again(s);
	return 0;
}
