/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to a kernel and comes from it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/token.h"
#include "guest/gateway-wire.h"
#include "guest/kernel-private.h"

#define PROTOCOL "5.3"
#define MAX_PENDING 4096
#define MAX_SESSION 256
#define PROBE_MS 20 /* until the next question, when iopub is not there */
#define IDLE_MS 500 /* for one that was busy to look at its sockets */

char *kernel_iso(int64_t wall_us)
{
	char ms[CLOCK_ISO_LEN];

	clock_iso(wall_us / 1000, ms);
	return xasprintf("%.*s%03dZ", CLOCK_ISO_LEN - 2, ms,
			 (int)(wall_us % 1000));
}

static int64_t wall_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

void kernel_touch(struct kernel *k)
{
	k->active_ms = clock_ms();
	k->active_wall_us = wall_us();
}

static struct kernel_item *item_new(struct part data)
{
	struct kernel_item *it = xcalloc(1, sizeof(*it));

	buf_add(&it->data, data.p, data.len);
	frame_read(it->data.p, it->data.len, &it->f, NULL);
	jscan_str(it->f.part[FRAME_HEADER], "msg_id", &it->msg_id);
	return it;
}

static void item_free(struct kernel_item *it)
{
	buf_done(&it->data);
	free(it);
}

static void clear(struct kernel_items *list)
{
	struct kernel_item *it;

	while ((it = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, it, next);
		item_free(it);
	}
}

void kernel_forget_messages(struct kernel *k)
{
	clear(&k->queue);
	clear(&k->pending);
	k->queued = 0;
	k->npending = k->ncells = 0;
}

/* What a client waits for, however much it misses of the rest. */
static bool is_awaited(const struct frame *f)
{
	struct part type = { "", 0 };

	jscan_str(f->part[FRAME_HEADER], "msg_type", &type);
	return f->channel != FRAME_IOPUB || part_is(type, "status");
}

/* Keep it, and tell whoever listens. */
static void record(struct kernel *k, const struct frame *f, struct part data)
{
	uint64_t seq = kernel_journal_add(k->journal, data.p, data.len);
	struct kernel_listener *l, *next;

	if (is_awaited(f))
		kernel_journal_mark(k->journal, data.p, data.len);
	for (l = TAILQ_FIRST(&k->listeners); l; l = next) {
		next = TAILQ_NEXT(l, next);
		if (l->on_message)
			l->on_message(l->arg, seq, f);
	}
}

/* The bytes of a message whose header is ours. */
static void make(const char *session, enum frame_channel c, const char *type,
		 struct part parent, struct part metadata,
		 json_t *content /* takes */, struct buf *out)
{
	autofree char *date = kernel_iso(wall_us()),
		      *text = json_print(content);
	autobuf struct buf header = { 0 };
	char id[KERNEL_ID_LEN + 1];
	struct part part[FRAME_NPARTS];

	kernel_new_id(id);
	buf_addf(&header,
		 "{\"msg_id\":\"%s\",\"session\":\"%s\",\"username\":"
		 "\"gateway\",\"date\":\"%s\",\"msg_type\":\"%s\","
		 "\"version\":\"" PROTOCOL "\"}",
		 id, session, date, type);
	part[FRAME_HEADER] = (struct part){ header.p, header.len };
	part[FRAME_PARENT] = parent;
	part[FRAME_METADATA] = metadata;
	part[FRAME_CONTENT] = part_of(text);
	frame_write(out, c, part, NULL, 0);
	json_decref(content);
}

/* JupyterLab only believes messages of the kernel's own session. */
void kernel_say(struct kernel *k, enum frame_channel c, const char *type,
		struct part parent, json_t *content /* takes */)
{
	autobuf struct buf b = { 0 };
	struct frame f;

	make(k->session ? k->session : k->probe, c, type, parent, part_of("{}"),
	     content, &b);
	if (frame_read(b.p, b.len, &f, NULL) == 0)
		record(k, &f, (struct part){ b.p, b.len });
}

void kernel_make_notice(struct kernel *k, struct part parent,
			struct part metadata, const char *text, struct buf *out)
{
	make(k->session ? k->session : k->probe, FRAME_IOPUB, "stream", parent,
	     metadata, json_pack("{s:s, s:s}", "name", "stderr", "text", text),
	     out);
}

void kernel_say_state(struct kernel *k, const char *state)
{
	kernel_say(k, FRAME_IOPUB, "status", part_of("{}"),
		   json_pack("{s:s}", "execution_state", state));
}

static int transmit(struct kernel *k, const struct frame *f)
{
	char signature[WIRE_SIGNATURE_LEN + 1];
	autofree struct part *parts = NULL;
	size_t n;

	if (!k->link)
		return -1;
	wire_sign(k->key, f, signature);
	parts = wire_parts(f, part_of(signature), &n);
	return zlink_send(k->link, f->channel, parts, n);
}

/* "execute_request" to "execute_reply"; the caller's, or NULL. */
static char *reply_type(struct part type)
{
	static const char tail[] = "_request";
	size_t n = sizeof(tail) - 1;

	if (type.len <= n || memcmp(type.p + type.len - n, tail, n) != 0)
		return NULL;
	return xasprintf("%.*s_reply", (int)(type.len - n), type.p);
}

static json_t *failure(const char *why)
{
	return json_pack("{s:s, s:s, s:s, s:[s]}", "status", "error", "ename",
			 "KernelDied", "evalue", why, "traceback", why);
}

static void answer_failed(struct kernel *k, const struct frame *f, bool running,
			  const char *why)
{
	struct part header = f->part[FRAME_HEADER], type = { "", 0 };
	autofree char *reply = NULL;
	json_t *content = failure(why);

	jscan_str(header, "msg_type", &type);
	reply = reply_type(type);
	if (running && part_is(type, "execute_request")) {
		autojson json_t *error = json_copy(content);

		json_object_del(error, "status");
		kernel_say(k, FRAME_IOPUB, "error", header, steal(&error));
	}
	if (part_is(type, "execute_request"))
		json_put(content, "execution_count", json_integer(0));
	if (reply)
		kernel_say(k, f->channel, reply, header, content);
	else
		json_decref(content);
	kernel_say(k, FRAME_IOPUB, "status", header,
		   json_pack("{s:s}", "execution_state", "idle"));
}

void kernel_abort(struct kernel *k, const char *why)
{
	struct kernel_items all = TAILQ_HEAD_INITIALIZER(all);
	struct kernel_item *it;
	bool running = true;

	/* Who is told may send anew: these lists must not be in use. */
	TAILQ_CONCAT(&all, &k->pending, next);
	TAILQ_CONCAT(&all, &k->queue, next);
	k->npending = k->ncells = 0;
	k->queued = 0;
	while ((it = TAILQ_FIRST(&all))) {
		TAILQ_REMOVE(&all, it, next);
		answer_failed(k, &it->f, running, why);
		running = false;
		item_free(it);
	}
}

/* Remember a request until its reply, for the day that none comes. */
static void expect_reply(struct kernel *k, const struct frame *f)
{
	struct part part[] = { f->part[FRAME_HEADER], part_of("{}"),
			       part_of("{}"), part_of("{}") };
	autobuf struct buf b = { 0 };
	struct part type = { "", 0 };
	autofree char *reply = NULL;
	struct kernel_item *it;

	jscan_str(f->part[FRAME_HEADER], "msg_type", &type);
	reply = reply_type(type);
	if (!reply || f->channel == FRAME_STDIN || k->npending == MAX_PENDING)
		return;
	/* Only the header is needed to answer it. */
	frame_write(&b, f->channel, part, NULL, 0);
	it = item_new((struct part){ b.p, b.len });
	it->runs = part_is(type, "execute_request");
	TAILQ_INSERT_TAIL(&k->pending, it, next);
	k->npending++;
	k->ncells += it->runs;
}

static void take_reply(struct kernel *k, struct part parent_id)
{
	struct kernel_item *it;

	TAILQ_FOREACH(it, &k->pending, next)
		if (part_equal(it->msg_id, parent_id)) {
			TAILQ_REMOVE(&k->pending, it, next);
			k->npending--;
			k->ncells -= it->runs;
			item_free(it);
			return;
		}
}

size_t kernel_send(struct kernel *k, const struct frame *f, struct part data)
{
	struct kernel_item *it;

	kernel_touch(k);
	if (k->state == KERNEL_DEAD) {
		answer_failed(k, f, true, k->message);
		return 0;
	}
	if (k->state == KERNEL_READY && TAILQ_EMPTY(&k->queue) &&
	    transmit(k, f) == 0) {
		expect_reply(k, f);
		return 0;
	}
	it = item_new(data);
	TAILQ_INSERT_TAIL(&k->queue, it, next);
	k->queued += it->data.len;
	return k->queued;
}

void kernel_flush(struct kernel *k)
{
	struct kernel_item *it;
	bool any = false;

	while (k->state == KERNEL_READY && (it = TAILQ_FIRST(&k->queue)) &&
	       transmit(k, &it->f) == 0) {
		TAILQ_REMOVE(&k->queue, it, next);
		k->queued -= it->data.len;
		expect_reply(k, &it->f);
		item_free(it);
		any = true;
	}
	if (any)
		kernel_changed(k);
}

void kernel_command(struct kernel *k, const char *type,
		    json_t *content /* takes */)
{
	autobuf struct buf b = { 0 };
	struct frame f;

	make(k->probe, FRAME_CONTROL, type, part_of("{}"), part_of("{}"),
	     content, &b);
	if (frame_read(b.p, b.len, &f, NULL) == 0)
		transmit(k, &f);
}

/*
 * A kernel is up when it answers and when what it publishes reaches us; one
 * that is busy answers on control only.
 */
void kernel_probe(struct kernel *k)
{
	static const enum frame_channel on[] = { FRAME_SHELL, FRAME_CONTROL };

	for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
		autobuf struct buf b = { 0 };
		struct frame f;

		make(k->probe, on[i], "kernel_info_request", part_of("{}"),
		     part_of("{}"), json_object(), &b);
		if (frame_read(b.p, b.len, &f, NULL) == 0)
			transmit(k, &f);
	}
}

static void check_ready(struct kernel *k)
{
	if (k->state != KERNEL_STARTING || !k->answered)
		return;
	if (k->heard)
		kernel_set_ready(k);
	else
		loop_timer_set(k->timer, PROBE_MS);
}

static bool is_probe(const struct kernel *k, const struct frame *f)
{
	struct part session;

	return jscan_str(f->part[FRAME_PARENT], "session", &session) &&
	       part_is(session, k->probe);
}

static void learn_session(struct kernel *k, const struct frame *f)
{
	struct part session;

	if (!jscan_str(f->part[FRAME_HEADER], "session", &session) ||
	    session.len > MAX_SESSION ||
	    (k->session && part_is(session, k->session)))
		return;
	free(k->session);
	k->session = xstrndup(session.p, session.len);
}

/* Returns whether the clients should see it. */
static bool heard(struct kernel *k, const struct frame *f)
{
	struct part type = { "", 0 }, state;

	jscan_str(f->part[FRAME_HEADER], "msg_type", &type);
	learn_session(k, f);
	k->heard = true;
	if (part_is(type, "iopub_welcome") || is_probe(k, f)) {
		check_ready(k);
		return false;
	}
	if (part_is(type, "status") &&
	    jscan_str(f->part[FRAME_CONTENT], "execution_state", &state)) {
		k->busy = part_is(state, "busy");
		if (k->adopted && k->state == KERNEL_STARTING && !k->busy)
			k->deadline_ms =
				MIN(k->deadline_ms, clock_ms() + IDLE_MS);
	}
	return true;
}

/* The same for a reply or a question. */
static bool replied(struct kernel *k, const struct frame *f)
{
	struct part id;

	if (is_probe(k, f)) {
		k->answered = true;
		check_ready(k);
		return false;
	}
	if (f->channel != FRAME_STDIN &&
	    jscan_str(f->part[FRAME_PARENT], "msg_id", &id))
		take_reply(k, id);
	return true;
}

static void on_message(void *arg, enum frame_channel c,
		       const struct part *parts, size_t n)
{
	struct kernel *k = arg;
	autobuf struct buf b = { 0 };
	struct frame f;
	struct sb_err err;

	if (wire_read(k->key, c, parts, n, &b, &f, &err) < 0) {
		log_debug("kernel '%s', %s: %s", k->id, frame_channel_name(c),
			  err.msg);
		return;
	}
	kernel_ref(k);
	k->heard_ms = clock_ms();
	if (c == FRAME_IOPUB ? heard(k, &f) : replied(k, &f)) {
		kernel_touch(k);
		record(k, &f, (struct part){ b.p, b.len });
	}
	kernel_unref(k);
}

static void on_writable(void *arg)
{
	kernel_flush(arg);
}

const struct zlink_ops kernel_zlink_ops = {
	.on_message = on_message,
	.on_writable = on_writable,
};
