/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of kernels on WebSockets. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/log.h"
#include "common/ws.h"
#include "guest/gateway-large.h"
#include "guest/gateway-ws.h"
#include "guest/guestd.h"

#define MAX_MESSAGE (64 * 1024 * 1024)
#define MAX_SESSIONS 16
#define MAX_SESSION 256
/* A frame of more than 10 MiB ends the connection of Jupyter's own server. */
#define MAX_LEGACY (10 * 1024 * 1024 - 4096)
/*
 * After this long, or so many bytes, it is asked whether it has read what was
 * sent: on a line that is cut again and again, there is progress all the same.
 */
#define ACK_MS 200
#define ACK_BYTES (64 * 1024)

struct client {
	struct http_ws *ws;
	struct kernel *k; /* NULL once it is gone */
	struct kernel_listener listener;
	struct kernel_client seat;
	bool v1;
	bool full;     /* the client has yet to read */
	char *session; /* the one of the URL, may be NULL */
	/* Those that its messages named: replies to them are for it. */
	char *sessions[MAX_SESSIONS];
	size_t nsessions, next_session;
	uint64_t next;	  /* message to be sent */
	uint64_t read;	  /* it has read all before this one */
	uint64_t orphans; /* before this one, it gets all that others left */
	bool heir;	  /* and from there on, what is nobody's */
	size_t unasked;	  /* bytes since it was asked */
	bool asked;	  /* a ping is under way */
	bool waiting;	  /* for the timer */
	struct loop_timer *timer;
};

static bool has_session(const void *arg, struct part session)
{
	const struct client *c = arg;

	if (c->session && part_is(session, c->session))
		return true;
	for (size_t i = 0; i < c->nsessions; i++)
		if (part_is(session, c->sessions[i]))
			return true;
	return false;
}

static void learn_session(struct client *c, const struct frame *f)
{
	struct part session;
	char **slot;

	if (!jscan_str(f->part[FRAME_HEADER], "session", &session) ||
	    session.len > MAX_SESSION || has_session(c, session))
		return;
	slot = &c->sessions[c->next_session];
	free(*slot);
	*slot = xstrndup(session.p, session.len);
	c->next_session = (c->next_session + 1) % MAX_SESSIONS;
	c->nsessions = MIN(c->nsessions + 1, MAX_SESSIONS);
}

/*
 * What is published is for all, an answer for who asked, or for who came when
 * he had left: it may be the same one, under another name.
 */
static bool is_for(const struct client *c, const struct frame *f, uint64_t seq)
{
	struct part session = { "", 0 };

	if (f->channel == FRAME_IOPUB || seq < c->orphans)
		return true;
	jscan_str(f->part[FRAME_PARENT], "session", &session);
	return has_session(c, session) ||
	       (c->heir && !kernel_seat_claimed(c->k, session));
}

static size_t send_legacy(struct client *c, const struct frame *f, uint64_t seq,
			  size_t size)
{
	autobuf struct buf small = { 0 }, b = { 0 };
	struct frame placeholder;
	struct sb_err err;
	bool text;

	if (size > MAX_LEGACY) {
		gateway_large(c->k, f, seq, size, &small);
		if (frame_read(small.p, small.len, &placeholder, &err) < 0)
			return 0;
		f = &placeholder;
	}
	if (frame_to_legacy(f, &b, &text, &err) < 0) {
		log_debug("%s", err.msg);
		return 0;
	}
	return http_ws_send(c->ws, text, b.p, b.len);
}

static size_t send_bytes(struct client *c, uint64_t seq, const char *data,
			 size_t len)
{
	struct frame f;
	struct sb_err err;

	if (frame_read(data, len, &f, &err) < 0) {
		log_debug("%s", err.msg);
		return 0;
	}
	if (!is_for(c, &f, seq))
		return 0;
	return c->v1 ? http_ws_send(c->ws, false, data, len)
		     : send_legacy(c, &f, seq, len);
}

static size_t send_one(struct client *c, uint64_t seq)
{
	struct sb_err err;
	const char *data;
	size_t len;

	if (kernel_journal_get(kernel_journal(c->k), seq, &data, &len, &err) <
	    0) {
		log_debug("%s", err.msg);
		return 0;
	}
	c->unasked += len;
	return send_bytes(c, seq, data, len);
}

/* Answers, and that a cell is over: a client would wait for them for ever. */
static void send_marked(struct client *c, uint64_t from, uint64_t to)
{
	const char *data;
	size_t len;

	while ((from = kernel_journal_marked(kernel_journal(c->k), from, to,
					     &data, &len)))
		send_bytes(c, from++, data, len);
}

/*
 * What is not kept any more because the client read too slowly: it is told so,
 * in the cell that goes on.
 */
static void tell_loss(struct client *c, uint64_t first)
{
	uint64_t from = c->next;
	unsigned long long lost = first - from;
	autofree char *url = xasprintf("/v1/kernels/%s/messages?after=%llu",
				       kernel_id(c->k),
				       (unsigned long long)first - 1);
	autofree char *text = xasprintf(
		"[%llu messages were skipped, as this client read too slowly; "
		"what is kept: GET %s]\n",
		lost, url);
	autofree char *meta = xasprintf(
		"{\"sandbox\":{\"skipped\":%llu,\"url\":\"%s\"}}", lost, url);
	autobuf struct buf b = { 0 };
	struct part parent = part_of("{}");
	struct frame f;
	const char *data;
	size_t len;

	log_warn("a client of kernel '%s' reads too slowly: it lost %llu "
		 "messages",
		 kernel_id(c->k), lost);
	c->next = first;
	if (kernel_journal_get(kernel_journal(c->k), first, &data, &len,
			       NULL) == 0 &&
	    frame_read(data, len, &f, NULL) == 0)
		parent = f.part[FRAME_PARENT];
	kernel_make_notice(c->k, parent, part_of(meta), text, &b);
	send_bytes(c, first, b.p, b.len);
	send_marked(c, from, first);
}

static void ask(struct client *c)
{
	c->asked = true;
	c->unasked = 0;
	http_ws_ping(c->ws, c->next);
}

/* Send on from the journal, as long as the client reads. */
static void pump(struct client *c)
{
	struct kernel_journal *j;

	if (!c->k || c->full)
		return;
	j = kernel_journal(c->k);
	if (c->next < kernel_journal_first(j))
		tell_loss(c, kernel_journal_first(j));
	while (!c->full && c->next < kernel_journal_next(j)) {
		c->full = send_one(c, c->next++) >= HTTP_STREAM_HIGH;
		if (c->unasked >= ACK_BYTES)
			ask(c);
	}
	if (c->read < c->next && !c->asked && !c->waiting) {
		c->waiting = true;
		loop_timer_set(c->timer, ACK_MS);
	}
}

static void on_message(void *arg, uint64_t seq, const struct frame *f)
{
	pump(arg);
}

static void on_timer(void *arg)
{
	struct client *c = arg;

	c->waiting = false;
	ask(c);
}

static void on_pong(struct http_ws *ws, uint64_t mark, void *arg)
{
	struct client *c = arg;

	if (mark > c->next) /* not one of ours */
		return;
	c->asked = false;
	c->read = MAX(c->read, mark);
	pump(c);
}

static void on_drain(struct http_ws *ws, void *arg)
{
	struct client *c = arg;

	c->full = false;
	pump(c);
}

static void on_change(void *arg)
{
	struct client *c = arg;

	if (kernel_state(c->k) != KERNEL_GONE) {
		http_ws_resume(c->ws);
		return;
	}
	kernel_unlisten(c->k, &c->listener);
	c->k = NULL;
	http_ws_close(c->ws, WS_GOING_AWAY, "the kernel was shut down");
}

/* What it has not confirmed is for the one who comes in its place. */
static void on_replaced(void *arg)
{
	struct client *c = arg;

	kernel_unlisten(c->k, &c->listener);
	kernel_seat_leave(c->k, &c->seat, c->read);
	c->k = NULL;
	http_ws_close(c->ws, WS_GOING_AWAY,
		      "another connection has come with this session");
}

static void on_ws_message(struct http_ws *ws, bool text, const char *data,
			  size_t len, void *arg)
{
	struct client *c = arg;
	autobuf struct buf b = { 0 };
	struct part all = { data, len };
	struct frame f;
	struct sb_err err;

	if (!c->k)
		return;
	if (!c->v1 || text) {
		if (frame_from_legacy(text, data, len, &b, &err) < 0) {
			http_ws_close(ws, WS_UNSUPPORTED, err.msg);
			return;
		}
		all = (struct part){ b.p, b.len };
	}
	if (frame_read(all.p, all.len, &f, &err) < 0) {
		http_ws_close(ws, WS_UNSUPPORTED, err.msg);
		return;
	}
	if (f.channel == FRAME_IOPUB)
		return; /* nobody can publish but the kernel */
	learn_session(c, &f);
	if (kernel_send(c->k, &f, all) > KERNEL_QUEUE_HIGH)
		http_ws_pause(ws);
}

static void on_close(struct http_ws *ws, void *arg)
{
	struct client *c = arg;

	/* One that said goodbye has read what it wanted to. */
	if (c->k) {
		kernel_unlisten(c->k, &c->listener);
		kernel_seat_leave(c->k, &c->seat,
				  http_ws_parted(ws) ? c->next : c->read);
	}
	loop_timer_free(c->timer);
	free(c->session);
	for (size_t i = 0; i < MAX_SESSIONS; i++)
		free(c->sessions[i]);
	free(c);
}

static const struct http_ws_ops ops = {
	.max_message = MAX_MESSAGE,
	.on_message = on_ws_message,
	.on_drain = on_drain,
	.on_pong = on_pong,
	.on_close = on_close,
};

void gateway_ws_accept(struct http_req *req /* takes */, struct kernel *k)
{
	const char *session = http_query(req, "session_id");
	long long after = -1;
	struct client *c;
	struct sb_err err;

	if (http_ws_check(req, &err) < 0 ||
	    http_query_int(req, "after", 0, INT64_MAX, &after, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->k = k;
	c->v1 = http_ws_offers(req, FRAME_PROTOCOL);
	if (session && *session && strlen(session) <= MAX_SESSION)
		c->session = xstrdup(session);
	c->timer = loop_timer_new(gateway_config(kernel_gateway(k))->loop,
				  on_timer, c);
	c->seat = (struct kernel_client){ .session = c->session,
					  .has_session = has_session,
					  .on_replaced = on_replaced,
					  .arg = c };
	kernel_seat_take(k, &c->seat, &c->next, &c->heir);
	if (after >= 0)
		c->next = MIN((uint64_t)after + 1,
			      kernel_journal_next(kernel_journal(k)));
	c->read = c->next;
	if (c->heir || after >= 0)
		c->orphans = kernel_journal_next(kernel_journal(k));
	c->listener = (struct kernel_listener){ .on_message = on_message,
						.on_change = on_change,
						.arg = c };
	kernel_listen(k, &c->listener);
	c->ws = http_ws_accept(req, c->v1 ? FRAME_PROTOCOL : NULL, &ops, c);
	pump(c);
}
