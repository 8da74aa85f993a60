/* SPDX-License-Identifier: Apache-2.0 */
/* The five ZeroMQ sockets. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/util.h"
#include "guest/kernel/channels.h"

#define MAX_FDS 8
#define MAX_TOTAL (512U << 20) /* bytes of one message */
/* Messages that wait for a subscriber; text comes in 64 KiB each. */
#define IOPUB_HWM 64
/* From this size on, a frame is handed over in place of copied. */
#define HAND_OVER 4096

static const struct {
	int type;
	int64_t max_frame;
} kinds[CHANNELS] = {
	[CHANNEL_SHELL] = { ZMQ_ROUTER, 256 << 20 },
	[CHANNEL_CONTROL] = { ZMQ_ROUTER, 16 << 20 },
	[CHANNEL_STDIN] = { ZMQ_ROUTER, 64 << 20 },
	[CHANNEL_IOPUB] = { ZMQ_XPUB, 4096 },
	[CHANNEL_HB] = { ZMQ_ROUTER, 4096 },
};

static void set_int(void *sock, int option, int value)
{
	zmq_setsockopt(sock, option, &value, sizeof(value));
}

static int bind_one(struct channels *ch, struct connection *c,
		    enum channel which, struct sb_err *err)
{
	char url[300], bound[300] = "";
	size_t len = sizeof(bound);
	void *s = zmq_socket(ch->ctx, kinds[which].type);
	int64_t max = kinds[which].max_frame;

	if (!s)
		return sb_fail(err, SB_SYSTEM, "zmq_socket: %s",
			       zmq_strerror(zmq_errno()));
	ch->sock[which] = s;
	set_int(s, ZMQ_LINGER, 0);
	set_int(s, ZMQ_IPV6, strchr(c->ip, ':') != NULL);
	set_int(s, ZMQ_TCP_KEEPALIVE, 1);
	zmq_setsockopt(s, ZMQ_MAXMSGSIZE, &max, sizeof(max));
	/* A client may come back under its identity while the old is dying. */
	if (kinds[which].type == ZMQ_ROUTER)
		set_int(s, ZMQ_ROUTER_HANDOVER, 1);
	set_int(s, ZMQ_SNDHWM, which == CHANNEL_IOPUB ? IOPUB_HWM : 0);
	if (which == CHANNEL_IOPUB) {
		set_int(s, ZMQ_XPUB_VERBOSE, 1);
		set_int(s, ZMQ_XPUB_NODROP, 1);
	}
	connection_url(c, which, url, sizeof(url));
	if (zmq_bind(s, url) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot listen on %s (%s): %s",
			       url, channel_name(which),
			       zmq_strerror(zmq_errno()));
	if (c->ports[which])
		return 0;
	zmq_getsockopt(s, ZMQ_LAST_ENDPOINT, bound, &len);
	c->ports[which] =
		atoi(strrchr(bound, ':') ? strrchr(bound, ':') + 1 : "0");
	return 0;
}

int channels_open(struct channels *ch, struct connection *c, struct sb_err *err)
{
	*ch = (struct channels){ .ctx = zmq_ctx_new() };
	if (!ch->ctx)
		return sb_fail(err, SB_SYSTEM, "zmq_ctx_new: %s",
			       zmq_strerror(zmq_errno()));
	for (int i = 0; i < CHANNELS; i++) {
		if (bind_one(ch, c, i, err) == 0)
			continue;
		channels_close(ch, 0);
		return -1;
	}
	return 0;
}

void channels_close(struct channels *ch, int linger_ms)
{
	for (int i = 0; i < CHANNELS; i++) {
		if (!ch->sock[i])
			continue;
		set_int(ch->sock[i], ZMQ_LINGER, linger_ms);
		zmq_close(ch->sock[i]);
	}
	if (ch->ctx)
		zmq_ctx_term(ch->ctx);
	*ch = (struct channels){ 0 };
}

int channels_recv(struct channels *ch, enum channel which,
		  const struct slice **ret_frames, size_t *ret_n)
{
	/* One thread receives, and nobody keeps frames. */
	static zmq_msg_t parts[WIRE_MAX_FRAMES];
	static struct slice frames[WIRE_MAX_FRAMES];
	static size_t n;
	void *s = ch->sock[which];
	size_t total = 0;
	bool over = false, more;

	while (n)
		zmq_msg_close(&parts[--n]);
	do {
		zmq_msg_t *m = &parts[n];

		zmq_msg_init(m);
		if (zmq_msg_recv(m, s, ZMQ_DONTWAIT) < 0) {
			zmq_msg_close(m);
			return 0;
		}
		frames[n] = (struct slice){ zmq_msg_data(m), zmq_msg_size(m) };
		total += frames[n].len;
		more = zmq_msg_more(m);
		/* The rest of a message that is too large passes one slot. */
		over |= n + 1 == WIRE_MAX_FRAMES || total > MAX_TOTAL;
		if (over)
			zmq_msg_close(m);
		else
			n++;
	} while (more);
	*ret_frames = frames;
	*ret_n = n;
	return over ? -1 : 1;
}

static int send_frame(void *s, const struct slice *f, int flags)
{
	return zmq_send(s, f->p, f->len, flags | ZMQ_DONTWAIT);
}

int channels_send(struct channels *ch, enum channel which,
		  const struct slice *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int flags = i + 1 < n ? ZMQ_SNDMORE : 0;

		/* Only the first frame can find no room. */
		if (send_frame(ch->sock[which], &frames[i], flags) < 0)
			return -1;
	}
	return 0;
}

void channels_set_lossy(struct channels *ch, bool lossy)
{
	set_int(ch->sock[CHANNEL_IOPUB], ZMQ_XPUB_NODROP, !lossy);
}

unsigned int channels_wait(struct channels *ch, unsigned int mask,
			   const int *fds, bool *ready, size_t nfds,
			   int timeout_ms)
{
	zmq_pollitem_t items[CHANNELS + MAX_FDS];
	enum channel which[CHANNELS];
	size_t n = 0, k = 0;
	unsigned int got = 0;

	for (int i = 0; i < CHANNELS; i++) {
		if (!(mask & 1U << i))
			continue;
		which[k++] = i;
		items[n++] = (zmq_pollitem_t){ .socket = ch->sock[i],
					       .events = ZMQ_POLLIN };
	}
	for (size_t i = 0; i < nfds; i++)
		items[n++] =
			(zmq_pollitem_t){ .fd = fds[i], .events = ZMQ_POLLIN };
	if (zmq_poll(items, (int)n, timeout_ms) < 0)
		for (size_t i = 0; i < n; i++)
			items[i].revents = 0;
	for (size_t i = 0; i < k; i++)
		if (items[i].revents)
			got |= 1U << which[i];
	for (size_t i = 0; i < nfds; i++)
		ready[i] = items[k + i].revents != 0;
	return got;
}
