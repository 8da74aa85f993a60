/* SPDX-License-Identifier: Apache-2.0 */
/* A line to a kernel of a sandbox. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/token.h"
#include "host/ctl-kernel.h"
#include "host/ctl-out.h"

#define UUID_LEN 36
#define START_MS 60000
#define MAX_OTHERS 4
#define LOST_MS 10000
#define RETRY_MS 100
#define MAX_FUTILE 20
/* In a message, as each takes 100 bytes of memory though it has but three. */
#define MAX_VALUES 1000000
/* "after" all that there is: what others left does not matter to us. */
#define AFTER_ALL "9223372036854775806"

static bool is_id(const char *s)
{
	return strlen(s) == UUID_LEN &&
	       strspn(s, "0123456789abcdef-") == UUID_LEN;
}

int kline_find(const struct guestd_at *at, const char *which, char **ret_id,
	       struct sb_err *err)
{
	autohclient struct hclient *c = NULL;
	autojson json_t *body = json_object(), *reply = NULL;
	autofree char *path = NULL;
	bool by_id = which && is_id(which);
	const char *id;

	if (which && !by_id &&
	    json_object_set_new(body, "kernel", json_string(which)) < 0)
		return sb_fail(err, SB_INVALID, "'--kernel' is not UTF-8");
	path = by_id ? xasprintf("/api/kernels/%s", which)
		     : xstrdup("/v1/kernels/default");
	if (guestd_open(at, START_MS, -1, &c, err) < 0 ||
	    hclient_json(c, by_id ? "GET" : "POST", path, by_id ? NULL : body,
			 &reply, err) < 0)
		return -1;
	id = json_str_or(reply, "id", "");
	if (!is_id(id))
		return sb_fail(err, SB_GUEST, "guestd names no kernel");
	*ret_id = xstrdup(id);
	return 0;
}

static int connect_line(struct kline *l, struct sb_err *err)
{
	autofree char *path =
		xasprintf("/api/kernels/%s/channels?session_id=%s%s", l->id,
			  l->session, l->lost ? "" : "&after=" AFTER_ALL);
	const struct wsline_kind kind = {
		.path = path,
		.protocol = FRAME_PROTOCOL,
		.max_message = KLINE_MAX_MESSAGE,
	};

	return wsline_open(&l->ws, l->at, &kind, err);
}

int kline_open(struct kline *l, const struct guestd_at *at,
	       char *id /* takes */, struct sb_err *err)
{
	*l = (struct kline){ .at = at, .id = id };
	random_hex(l->session, KLINE_ID_LEN / 2);
	if (connect_line(l, err) == 0)
		return 0;
	free(steal(&l->id));
	return -1;
}

void kline_close(struct kline *l)
{
	if (!l->id)
		return;
	ws_put_close(&l->ws.out, WS_NORMAL, NULL, true);
	wsline_flush(&l->ws, NULL);
	wsline_close(&l->ws);
	free(steal(&l->id));
}

void kline_send(struct kline *l, enum frame_channel c, const char *type,
		json_t *content /* takes */, const json_t *metadata,
		char id[KLINE_ID_LEN + 1])
{
	autofree char *text = json_print(content), *header = NULL;
	autofree char *meta = metadata ? json_print(metadata) : xstrdup("{}");
	char own[KLINE_ID_LEN + 1], date[CLOCK_ISO_LEN];
	struct part part[FRAME_NPARTS];
	autobuf struct buf b = { 0 };

	json_decref(content);
	random_hex(own, KLINE_ID_LEN / 2);
	clock_iso(clock_wall_ms(), date);
	header = xasprintf("{\"msg_id\":\"%s\",\"session\":\"%s\",\"username\":"
			   "\"sandboxctl\",\"date\":\"%s\",\"msg_type\":\"%s\","
			   "\"version\":\"5.3\"}",
			   own, l->session, date, type);
	part[FRAME_HEADER] = part_of(header);
	part[FRAME_PARENT] = part_of("{}");
	part[FRAME_METADATA] = part_of(meta);
	part[FRAME_CONTENT] = part_of(text);
	frame_write(&b, c, part, NULL, 0);
	wsline_send(&l->ws, WS_BINARY, b.p, b.len);
	if (id)
		memcpy(id, own, sizeof(own));
}

static uint64_t hash(struct part p)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < p.len; i++)
		h = (h ^ (unsigned char)p.p[i]) * 1099511628211u;
	return h;
}

/* Whether a message came before the line was lost. */
static bool came_before(struct kline *l, const struct frame *f)
{
	struct part id = { "", 0 };
	uint64_t h;

	jscan_str(f->part[FRAME_HEADER], "msg_id", &id);
	h = hash(id);
	for (size_t i = 0; l->lost && i < KLINE_SEEN; i++)
		if (l->seen[i] == h)
			return true;
	l->seen[l->nseen++ % KLINE_SEEN] = h;
	l->futile = 0;
	return false;
}

static void copy_part(struct part p, char *to, size_t size)
{
	snprintf(to, size, "%.*s", (int)MIN(p.len, size), p.p);
}

static json_t *read_content(struct part text)
{
	json_t *j = NULL;

	if (jscan_values(text) > MAX_VALUES)
		out_note("a message of the kernel is left out: it has more "
			 "than %d values",
			 MAX_VALUES);
	else
		j = json_loadb(text.p, text.len, JSON_ALLOW_NUL, NULL);
	return j ? j : json_object();
}

static int on_event(void *arg, const struct ws_event *e)
{
	struct kline *l = arg;
	struct kline_msg m = { 0 };
	struct part v;
	struct frame f;
	int rc;

	if (e->op != WS_BINARY || frame_read(e->data, e->len, &f, NULL) < 0 ||
	    came_before(l, &f))
		return 0;
	m.frame = &f;
	if (jscan_str(f.part[FRAME_HEADER], "msg_type", &v))
		copy_part(v, m.type, sizeof(m.type));
	if (jscan_str(f.part[FRAME_PARENT], "session", &v) &&
	    part_is(v, l->session) &&
	    jscan_str(f.part[FRAME_PARENT], "msg_id", &v))
		copy_part(v, m.parent, sizeof(m.parent));
	if (!*m.parent && strcmp(m.type, "status") != 0)
		return 0; /* of other clients */
	m.content = read_content(f.part[FRAME_CONTENT]);
	rc = l->on_message ? l->on_message(l->arg, &m) : 0;
	json_decref(m.content);
	ws_reader_rest(&l->ws.reader);
	return rc;
}

static int connect_again(struct kline *l, struct sb_err *err)
{
	int64_t deadline = clock_ms() + LOST_MS;

	/* Nobody knows how much of what we sent has arrived; or it is a line
	 * that never lives long enough. */
	if (l->ws.out.len || ++l->futile > MAX_FUTILE)
		return sb_wrap(err, "the line to the kernel");
	l->lost++;
	wsline_close(&l->ws);
	if (l->futile > 1)
		poll(NULL, 0, RETRY_MS);
	while (connect_line(l, err) < 0) {
		if ((err->code != SB_SYSTEM && err->code != SB_TIMEOUT) ||
		    clock_left(deadline) <= 0)
			return sb_wrap(err, "the line to the kernel is lost");
		poll(NULL, 0, RETRY_MS);
	}
	return 0;
}

int kline_wait(struct kline *l, bool listen, struct pollfd *others, size_t n,
	       int timeout_ms, struct sb_err *err)
{
	struct pollfd fds[1 + MAX_OTHERS] = { 0 };
	struct wsline *w = &l->ws;
	int rc = 0;

	fds[0] = (struct pollfd){ .fd = w->fd,
				  .events = (listen ? POLLIN : 0) |
					    (w->out.len ? POLLOUT : 0) };
	memcpy(fds + 1, others, n * sizeof(*others));
	if (listen && w->in.len)
		timeout_ms = 0;
	if (poll(fds, 1 + n, timeout_ms) < 0 && errno != EINTR)
		return sb_fail(err, SB_SYSTEM, "poll: %m");
	memcpy(others, fds + 1, n * sizeof(*others));
	if (listen && (w->in.len || fds[0].revents & ~POLLOUT))
		rc = wsline_receive(w, on_event, l, err);
	if (rc >= 0)
		rc = wsline_flush(w, err);
	if (rc < 0 && err->code == SB_SYSTEM)
		rc = connect_again(l, err);
	return rc < 0 ? -1 : 0;
}

static int command(const struct kline *l, const char *verb, int timeout_ms,
		   struct sb_err *err)
{
	autohclient struct hclient *c = NULL;
	autofree char *path = xasprintf("/api/kernels/%s/%s", l->id, verb);

	if (guestd_open(l->at, timeout_ms, -1, &c, err) < 0)
		return -1;
	/* Signals are not heard meanwhile. */
	hclient_set_deadline(c, timeout_ms);
	return hclient_json(c, "POST", path, NULL, NULL, err);
}

int kline_interrupt(const struct kline *l, struct sb_err *err)
{
	return command(l, "interrupt", GUESTD_ANSWER_MS, err);
}

int kline_restart(const struct kline *l, struct sb_err *err)
{
	return command(l, "restart", START_MS, err);
}

int kline_revive(const struct kline *l, struct sb_err *err)
{
	autohclient struct hclient *c = NULL;
	autofree char *path = xasprintf("/api/kernels/%s", l->id);
	autojson json_t *model = NULL;

	if (guestd_open(l->at, GUESTD_ANSWER_MS, -1, &c, err) < 0)
		return -1;
	hclient_set_deadline(c, GUESTD_ANSWER_MS);
	if (hclient_json(c, "GET", path, NULL, &model, err) < 0)
		return -1;
	if (strcmp(json_str_or(model, "execution_state", ""), "dead") != 0)
		return 0;
	return kline_restart(l, err);
}
