/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a multipart/form-data body as it comes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util.h"
#include "guest/multipart.h"

#define MAX_BOUNDARY 70 /* RFC 2046, 5.1.1 */
#define MAX_HEAD (8 * 1024)
#define MAX_PARTS 1000

/*
 * PREAMBLE → AFTER → HEAD → DATA → AFTER …, and → END from AFTER.  AFTER is
 * right behind a boundary.
 */
enum state { PREAMBLE, AFTER, HEAD, DATA, END };

struct multipart {
	const struct multipart_ops *ops;
	void *arg;
	enum state state;
	char delimiter[4 + MAX_BOUNDARY + 1]; /* CR LF "--" boundary */
	size_t delimiter_len;
	unsigned int parts;
	struct buf in; /* what is not yet decided */
};

/*
 * The value of a parameter in "word; a=b; c=\"d\"", without quotes; NULL if it
 * is not there.
 */
static char *header_param(const char *value, const char *name)
{
	size_t n = strlen(name);
	const char *p = value + strcspn(value, ";");

	while (*p == ';') {
		autobuf struct buf b = { 0 };
		bool ours;

		p++;
		p += strspn(p, " \t");
		ours = strncasecmp(p, name, n) == 0 && p[n] == '=';
		p += strcspn(p, "=;");
		if (*p != '=')
			continue;
		p++;
		buf_adds(&b, "");
		if (*p == '"') {
			for (p++; *p && *p != '"'; p++) {
				/* Only these are escaped: a path of Windows
				 * has single backslashes. */
				if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
					p++;
				buf_add(&b, p, 1);
			}
			p += *p == '"';
			p += strcspn(p, ";");
		} else {
			buf_add(&b, p, strcspn(p, "; \t"));
			p += strcspn(p, ";");
		}
		if (ours)
			return steal(&b.p);
	}
	return NULL;
}

struct multipart *multipart_new(const char *content_type,
				const struct multipart_ops *ops, void *arg,
				struct sb_err *err)
{
	autofree char *boundary = NULL;
	struct multipart *m;

	if (!content_type ||
	    strncasecmp(content_type, "multipart/form-data", 19) != 0) {
		sb_fail(err, SB_FORMAT, "the body must be multipart/form-data");
		sb_hint(err, "send a form, or the file itself with "
			     "PUT /v1/file?path=PATH");
		return NULL;
	}
	boundary = header_param(content_type, "boundary");
	if (str_empty(boundary) || strlen(boundary) > MAX_BOUNDARY) {
		sb_fail(err, SB_INVALID,
			"the body must be multipart/form-data with a boundary");
		return NULL;
	}
	m = xcalloc(1, sizeof(*m));
	m->ops = ops;
	m->arg = arg;
	strcpy(m->delimiter, "\r\n--");
	strcat(m->delimiter, boundary);
	m->delimiter_len = strlen(m->delimiter);
	/* The first boundary may have no line before it. */
	buf_adds(&m->in, "\r\n");
	return m;
}

void multipart_free(struct multipart *m)
{
	if (!m)
		return;
	buf_done(&m->in);
	free(m);
}

static int broken(struct sb_err *err, const char *what)
{
	return sb_fail(err, SB_INVALID, "the form is malformed: %s", what);
}

/* Begin the part whose header lines (NUL-terminated) are text. */
static int begin_part(struct multipart *m, char *text, struct sb_err *err)
{
	static const char field[] = "content-disposition:";
	autofree char *name = NULL, *filename = NULL;
	char *line;

	if (++m->parts > MAX_PARTS)
		return sb_fail(err, SB_LIMIT, "the form has more than %d parts",
			       MAX_PARTS);
	while ((line = strsep(&text, "\r\n"))) {
		if (strncasecmp(line, field, strlen(field)) != 0)
			continue;
		line += strlen(field);
		name = header_param(line, "name");
		filename = header_param(line, "filename");
		break;
	}
	if (!name)
		return broken(err, "a part has no name");
	return m->ops->on_part(m->arg, name, filename, err);
}

/* Each step returns 1 when it got on, 0 when it needs more bytes, or -1. */
static int step_data(struct multipart *m, struct sb_err *err)
{
	char *hit = memmem(m->in.p, m->in.len, m->delimiter, m->delimiter_len);
	size_t n;

	if (hit)
		n = hit - m->in.p;
	else if (m->in.len >= m->delimiter_len)
		n = m->in.len - (m->delimiter_len - 1);
	else
		n = 0;
	if (n && m->state == DATA &&
	    m->ops->on_data(m->arg, m->in.p, n, err) < 0)
		return -1;
	if (!hit) {
		buf_drop(&m->in, n);
		return 0;
	}
	buf_drop(&m->in, n + m->delimiter_len);
	if (m->state == DATA && m->ops->on_part_end(m->arg, err) < 0)
		return -1;
	m->state = AFTER;
	return 1;
}

static int step_after(struct multipart *m, struct sb_err *err)
{
	if (m->in.len < 2)
		return 0;
	if (memcmp(m->in.p, "--", 2) == 0)
		m->state = END;
	else if (memcmp(m->in.p, "\r\n", 2) == 0)
		m->state = HEAD;
	else
		return broken(err, "a boundary does not end its line");
	/* The CR LF stays: a part without header lines has just one more. */
	return 1;
}

static int step_head(struct multipart *m, struct sb_err *err)
{
	char *end = memmem(m->in.p, m->in.len, "\r\n\r\n", 4);
	size_t n;

	if ((end ? (size_t)(end - m->in.p) : m->in.len) > MAX_HEAD)
		return sb_fail(err, SB_LIMIT,
			       "a part of the form has a head of more than %d "
			       "bytes",
			       MAX_HEAD);
	if (!end)
		return 0;
	n = end - m->in.p;
	if (memchr(m->in.p, '\0', n))
		return broken(err, "a part has a NUL in its head");
	*end = '\0';
	if (begin_part(m, m->in.p, err) < 0)
		return -1;
	buf_drop(&m->in, n + 4);
	m->state = DATA;
	return 1;
}

int multipart_feed(struct multipart *m, const char *data, size_t len,
		   struct sb_err *err)
{
	int r = 1;

	buf_add(&m->in, data, len);
	while (r > 0) {
		switch (m->state) {
		case PREAMBLE:
		case DATA:
			r = step_data(m, err);
			break;
		case AFTER:
			r = step_after(m, err);
			break;
		case HEAD:
			r = step_head(m, err);
			break;
		case END: /* what follows means nothing */
			buf_drop(&m->in, m->in.len);
			r = 0;
			break;
		}
	}
	return r;
}

int multipart_end(const struct multipart *m, struct sb_err *err)
{
	if (m->state != END)
		return broken(err, "it has no end");
	return 0;
}
