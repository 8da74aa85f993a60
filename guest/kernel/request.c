/* SPDX-License-Identifier: Apache-2.0 */
/* A request, as it came. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/kernel/request.h"

#define MAX_TYPE 128

static int read_type(const struct slice *header, char **ret, struct sb_err *err)
{
	autojson json_t *j = NULL;
	const char *type = NULL;

	if (json_parse(header->p, header->len, &j, err) < 0)
		return sb_wrap(err, "header");
	if (!json_is_object(j))
		return sb_fail(err, SB_INVALID, "the header is no object");
	if (json_get_str(j, "msg_type", &type, err) < 0)
		return sb_wrap(err, "header");
	if (str_empty(type) || strlen(type) > MAX_TYPE)
		return sb_fail(err, SB_INVALID, "the header has no msg_type");
	*ret = xstrdup(type);
	return 0;
}

/* What the content says is read by whoever needs it; but it is an object. */
static bool is_object(const struct slice *s)
{
	size_t i = 0;

	while (i < s->len && strchr(" \t\r\n", s->p[i]) && s->p[i])
		i++;
	return i < s->len && s->p[i] == '{';
}

static struct slice keep(struct request *r, char **at, const struct slice *s)
{
	struct slice kept = { .p = *at, .len = s->len };

	if (s->len)
		memcpy(*at, s->p, s->len);
	(*at)[s->len] = '\0';
	*at += s->len + 1;
	r->bytes += s->len;
	return kept;
}

static size_t total(const struct wire_msg *m)
{
	size_t n = m->header.len + m->metadata.len + m->content.len + 3;

	for (size_t i = 0; i < m->nids; i++)
		n += m->ids[i].len + 1;
	for (size_t i = 0; i < m->nbuffers; i++)
		n += m->buffers[i].len + 1;
	return n;
}

int request_new(enum channel channel, const struct wire_msg *m,
		struct request **ret, struct sb_err *err)
{
	char *type = NULL, *at;
	struct request *r;

	if (!is_object(&m->metadata) || !is_object(&m->content))
		return sb_fail(err, SB_INVALID,
			       "metadata or content is no JSON object");
	if (read_type(&m->header, &type, err) < 0)
		return -1;
	/* The parts lie behind the struct, each with a NUL. */
	r = xcalloc(1,
		    sizeof(*r) + m->nbuffers * sizeof(*r->buffers) + total(m));
	atomic_init(&r->refs, 1);
	r->channel = channel;
	r->type = type;
	r->buffers = (struct slice *)(r + 1);
	at = (char *)(r->buffers + m->nbuffers);
	for (; r->nids < m->nids; r->nids++)
		r->ids[r->nids] = keep(r, &at, &m->ids[r->nids]);
	r->header = keep(r, &at, &m->header);
	r->metadata = keep(r, &at, &m->metadata);
	r->content = keep(r, &at, &m->content);
	for (; r->nbuffers < m->nbuffers; r->nbuffers++)
		r->buffers[r->nbuffers] =
			keep(r, &at, &m->buffers[r->nbuffers]);
	*ret = r;
	return 0;
}

struct request *request_ref(struct request *r)
{
	if (r)
		atomic_fetch_add(&r->refs, 1);
	return r;
}

void request_unref(struct request *r)
{
	if (!r || atomic_fetch_sub(&r->refs, 1) != 1)
		return;
	free(r->type);
	free(r);
}
