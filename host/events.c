/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of state changes. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/events.h"

/* One who reads slower than this much is cut off, and may come again. */
#define MAX_WAITING (1 << 20)

struct subscriber {
	LIST_ENTRY(subscriber) entry;
	struct http_stream *stream;
	char id[SANDBOX_ID_LEN + 1]; /* empty: all */
};

static void on_close(struct http_stream *s, void *arg)
{
	struct subscriber *sub = arg;

	LIST_REMOVE(sub, entry);
	free(sub);
}

static void tell(struct subscriber *sub, const struct sandbox *sb)
{
	autojson json_t *j = NULL;
	autofree char *text = NULL;

	if (sub->id[0] && strcmp(sub->id, sb->id) != 0)
		return;
	j = sandbox_event_json(sb);
	text = json_print(j);
	if (http_stream_event(sub->stream, NULL, "state", text) > MAX_WAITING)
		http_stream_end(sub->stream);
}

void events_subscribe(struct daemon *d, struct http_req *req, const char *id)
{
	static const struct http_stream_ops ops = { .on_close = on_close };
	struct subscriber *sub = xcalloc(1, sizeof(*sub));
	struct sandbox *sb;

	if (id)
		strncpy(sub->id, id, sizeof(sub->id) - 1);
	LIST_INSERT_HEAD(&d->subscribers, sub, entry);
	sub->stream =
		http_stream_begin(req, 200, "text/event-stream", &ops, sub);
	TAILQ_FOREACH(sb, &d->sandboxes, entry)
		tell(sub, sb);
}

static void remember(struct daemon *d, const struct sandbox *sb)
{
	struct failure *f = &d->failures[d->nfailures++ % DAEMON_FAILURES];
	autojson json_t *j = sandbox_event_json(sb);

	free(f->event);
	f->event = json_print(j);
	snprintf(f->id, sizeof(f->id), "%s", sb->id);
}

void events_emit(struct daemon *d, const struct sandbox *sb)
{
	struct subscriber *sub, *next;

	if (sb->state == SANDBOX_FAILED)
		remember(d, sb);
	for (sub = LIST_FIRST(&d->subscribers); sub; sub = next) {
		next = LIST_NEXT(sub, entry);
		tell(sub, sb);
	}
}

bool events_replay(struct daemon *d, struct http_req *req, const char *id)
{
	static const struct http_stream_ops ops = { 0 };
	struct http_stream *s;

	for (size_t i = 0; i < DAEMON_FAILURES; i++) {
		const struct failure *f = &d->failures[i];

		if (!f->event || strcmp(f->id, id) != 0)
			continue;
		s = http_stream_begin(req, 200, "text/event-stream", &ops,
				      NULL);
		http_stream_event(s, NULL, "state", f->event);
		http_stream_end(s);
		return true;
	}
	return false;
}

void events_done(struct daemon *d)
{
	for (size_t i = 0; i < DAEMON_FAILURES; i++)
		free(d->failures[i].event);
}
