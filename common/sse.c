/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of a Server-Sent Events stream. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/sse.h"
#include "common/util.h"

struct sse {
	sse_handler on_event;
	void *arg;
	struct buf line, event, data;
};

struct sse *sse_new(sse_handler on_event, void *arg)
{
	struct sse *s = xcalloc(1, sizeof(*s));

	s->on_event = on_event;
	s->arg = arg;
	return s;
}

void sse_free(struct sse *s)
{
	if (!s)
		return;
	buf_done(&s->line);
	buf_done(&s->event);
	buf_done(&s->data);
	free(s);
}

static int dispatch(struct sse *s)
{
	int r = 0;

	if (s->data.len)
		r = s->on_event(s->arg, s->event.len ? s->event.p : "message",
				s->data.p);
	s->event.len = s->data.len = 0;
	return r ? 1 : 0;
}

/* One line; an empty one ends the event. */
static int take_line(struct sse *s, char *line)
{
	char *value;

	if (!*line)
		return dispatch(s);
	value = strchrnul(line, ':');
	if (*value)
		*value++ = '\0';
	if (*value == ' ')
		value++;
	if (strcmp(line, "event") == 0) {
		s->event.len = 0;
		buf_adds(&s->event, value);
	} else if (strcmp(line, "data") == 0) {
		if (s->data.len)
			buf_adds(&s->data, "\n");
		buf_adds(&s->data, value);
	}
	return 0;
}

int sse_feed(struct sse *s, const char *data, size_t len, struct sb_err *err)
{
	while (len) {
		const char *nl = memchr(data, '\n', len);
		size_t n = nl ? (size_t)(nl - data) : len;

		if (s->line.len + s->data.len + n > SSE_MAX_EVENT)
			return sb_fail(err, SB_GUEST,
				       "an event is longer than %d bytes",
				       SSE_MAX_EVENT);
		buf_add(&s->line, data, n);
		if (!nl)
			break;
		if (s->line.len && s->line.p[s->line.len - 1] == '\r')
			s->line.p[--s->line.len] = '\0';
		s->line.len = 0;
		if (take_line(s, s->line.p))
			return 1;
		data += n + 1;
		len -= n + 1;
	}
	return 0;
}
