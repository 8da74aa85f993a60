/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 messages as bytes. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/http1.h"

#define MAX_CHUNK_EXTRA 4096 /* extensions and trailers, all together */
#define DIGIT "0123456789"
#define ALNUM DIGIT "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

ssize_t http1_head_len(const char *data, size_t len, struct sb_err *err)
{
	const char *end =
		len ? memmem(data, MIN(len, HTTP1_MAX_HEAD), "\r\n\r\n", 4)
		    : NULL;

	if (end)
		return end + 4 - data;
	if (len >= HTTP1_MAX_HEAD)
		return sb_fail(err, SB_LIMIT,
			       "the message head is longer than %d bytes",
			       HTTP1_MAX_HEAD);
	return 0;
}

/* RFC 9110, 5.6.2: what names and methods are made of. */
static bool is_token_char(unsigned char c)
{
	return isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static size_t token_len(const char *s)
{
	size_t n = 0;

	while (is_token_char(s[n]))
		n++;
	return n;
}

/* Cut the next line off; it may hold no control byte but the tab. */
static char *next_line(char **p)
{
	char *line = *p, *s;

	for (s = line; *s != '\r'; s++)
		if ((unsigned char)*s < ' ' && *s != '\t')
			return NULL;
	if (s[1] != '\n')
		return NULL;
	*s = '\0';
	*p = s + 2;
	return line;
}

static int parse_field(struct http1_head *h, char *line, struct sb_err *err)
{
	size_t n = token_len(line), len;
	char *value;

	if (!n || line[n] != ':')
		return sb_fail(err, SB_INVALID, "malformed header line");
	if (h->nfields == HTTP1_MAX_FIELDS)
		return sb_fail(err, SB_LIMIT, "more than %d header lines",
			       HTTP1_MAX_FIELDS);
	line[n] = '\0';
	for (size_t i = 0; i < n; i++)
		line[i] = tolower((unsigned char)line[i]);
	value = line + n + 1;
	value += strspn(value, " \t");
	len = strlen(value);
	while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		value[--len] = '\0';
	h->field[h->nfields++] = (struct http1_field){ line, value };
	return 0;
}

/* "HTTP/1.x": 0 and the x, else -1. */
static int parse_version(const char *s, int *ret_minor)
{
	if (!str_starts(s, "HTTP/1.") || !isdigit((unsigned char)s[7]))
		return -1;
	*ret_minor = s[7] - '0';
	return 0;
}

static int parse_request_line(struct http1_head *h, char *line,
			      struct sb_err *err)
{
	size_t n = token_len(line);
	char *target = line + n + 1, *version;

	if (!n || line[n] != ' ')
		return sb_fail(err, SB_INVALID, "malformed request line");
	version = strchr(target, ' ');
	if (!version || version == target || strlen(version) != 9 ||
	    parse_version(version + 1, &h->minor) < 0)
		return sb_fail(err, SB_INVALID, "malformed request line");
	line[n] = '\0';
	*version = '\0';
	h->method = line;
	h->target = target;
	return 0;
}

static int parse_status_line(struct http1_head *h, char *line,
			     struct sb_err *err)
{
	const char *code = line + 9;

	if (parse_version(line, &h->minor) < 0 || line[8] != ' ' ||
	    !isdigit((unsigned char)code[0]) ||
	    !isdigit((unsigned char)code[1]) ||
	    !isdigit((unsigned char)code[2]) || (code[3] && code[3] != ' '))
		return sb_fail(err, SB_INVALID, "malformed status line");
	h->status =
		(code[0] - '0') * 100 + (code[1] - '0') * 10 + code[2] - '0';
	return 0;
}

static int parse_head(const char *data, size_t len, struct http1_head *ret,
		      int (*first)(struct http1_head *, char *,
				   struct sb_err *),
		      struct sb_err *err)
{
	struct http1_head h = { .text = xmalloc(len + 1) };
	char *p = h.text, *line;
	int r;

	memcpy(h.text, data, len);
	h.text[len] = '\0';
	line = next_line(&p);
	r = line ? first(&h, line, err)
		 : sb_fail(err, SB_INVALID, "malformed first line");
	while (r == 0) {
		line = next_line(&p);
		if (!line)
			r = sb_fail(err, SB_INVALID, "malformed header line");
		else if (!*line)
			break;
		else
			r = parse_field(&h, line, err);
	}
	if (r < 0)
		http1_head_done(&h);
	else
		*ret = h;
	return r;
}

int http1_parse_request(const char *data, size_t len, struct http1_head *ret,
			struct sb_err *err)
{
	return parse_head(data, len, ret, parse_request_line, err);
}

int http1_parse_reply(const char *data, size_t len, struct http1_head *ret,
		      struct sb_err *err)
{
	return parse_head(data, len, ret, parse_status_line, err);
}

void http1_head_done(struct http1_head *h)
{
	free(h->text);
	*h = (struct http1_head){ 0 };
}

const char *http1_get(const struct http1_head *h, const char *name)
{
	for (size_t i = 0; i < h->nfields; i++)
		if (strcmp(h->field[i].name, name) == 0)
			return h->field[i].value;
	return NULL;
}

bool http1_has_token(const struct http1_head *h, const char *name,
		     const char *token)
{
	for (size_t i = 0; i < h->nfields; i++) {
		const char *p = h->field[i].value;

		if (strcmp(h->field[i].name, name) != 0)
			continue;
		while (*p) {
			size_t n;

			p += strspn(p, ", \t");
			n = strcspn(p, ", \t");
			if (n == strlen(token) && strncasecmp(p, token, n) == 0)
				return true;
			p += n;
		}
	}
	return false;
}

static int parse_length(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*s)
		return -1;
	for (; *s; s++) {
		if (!isdigit((unsigned char)*s) || v > UINT64_MAX / 10 - 1)
			return -1;
		v = v * 10 + (*s - '0');
	}
	*ret = v;
	return 0;
}

int http1_framing(const struct http1_head *h, enum http1_body *ret,
		  uint64_t *ret_len, struct sb_err *err)
{
	const char *coding = NULL, *length = NULL;

	for (size_t i = 0; i < h->nfields; i++) {
		const char *name = h->field[i].name;
		const char **seen =
			strcmp(name, "content-length") == 0	 ? &length
			: strcmp(name, "transfer-encoding") == 0 ? &coding
								 : NULL;

		if (!seen)
			continue;
		if (*seen)
			return sb_fail(err, SB_INVALID, "two %s headers", name);
		*seen = h->field[i].value;
	}
	if (coding && (length || strcasecmp(coding, "chunked") != 0))
		return sb_fail(
			err, SB_INVALID,
			"Transfer-Encoding must be 'chunked' and without Content-Length");
	if (length && parse_length(length, ret_len) < 0)
		return sb_fail(err, SB_INVALID, "malformed Content-Length");
	*ret = coding ? HTTP1_CHUNKED : length ? HTTP1_LENGTH : HTTP1_NO_LENGTH;
	return 0;
}

/*
 * SIZE → (EXTENSION →) SIZE_LF → DATA → DATA_CR → DATA_LF → SIZE …; after the
 * chunk of size 0, trailer lines up to an empty one.
 */
enum {
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER, /* at the start of a trailer line */
	CHUNK_TRAILER_LINE,
	CHUNK_TRAILER_LF,
	CHUNK_END_LF,
};

static int hex_value(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	c = tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One byte that is not data; -1 when it cannot stand here. */
static int chunk_step(struct http1_chunked *c, char ch)
{
	int hex;

	switch (c->state) {
	case CHUNK_SIZE:
		hex = hex_value(ch);
		if (hex >= 0) {
			if (++c->digits > 12)
				return -1;
			c->left = c->left << 4 | hex;
			return 0;
		}
		if (!c->digits)
			return -1;
		c->state = ch == '\r' ? CHUNK_SIZE_LF : CHUNK_EXTENSION;
		return ch == '\r' || ch == ';' || ch == ' ' ? 0 : -1;
	case CHUNK_EXTENSION:
	case CHUNK_TRAILER_LINE:
		if (++c->skipped > MAX_CHUNK_EXTRA || ch == '\n')
			return -1;
		if (ch == '\r')
			c->state++;
		return 0;
	case CHUNK_SIZE_LF:
		c->state = c->left ? CHUNK_DATA : CHUNK_TRAILER;
		c->digits = 0;
		return ch == '\n' ? 0 : -1;
	case CHUNK_DATA_CR:
		c->state = CHUNK_DATA_LF;
		return ch == '\r' ? 0 : -1;
	case CHUNK_DATA_LF:
		c->state = CHUNK_SIZE;
		return ch == '\n' ? 0 : -1;
	case CHUNK_TRAILER:
		c->state = ch == '\r' ? CHUNK_END_LF : CHUNK_TRAILER_LINE;
		return ch == '\n' ? -1 : 0;
	case CHUNK_TRAILER_LF:
		c->state = CHUNK_TRAILER;
		return ch == '\n' ? 0 : -1;
	default:
		c->done = true;
		return ch == '\n' ? 0 : -1;
	}
}

ssize_t http1_chunked_feed(struct http1_chunked *c, const char *data,
			   size_t len, struct buf *out, size_t max,
			   struct sb_err *err)
{
	size_t i = 0;

	while (i < len && !c->done) {
		size_t n;

		if (c->state != CHUNK_DATA) {
			if (chunk_step(c, data[i++]) < 0)
				return sb_fail(err, SB_INVALID,
					       "malformed chunked body");
			continue;
		}
		n = MIN(c->left, len - i);
		if (c->left > max || out->len > max - c->left)
			return sb_fail(err, SB_LIMIT,
				       "the body is larger than %zu bytes",
				       max);
		buf_add(out, data + i, n);
		i += n;
		c->left -= n;
		if (!c->left)
			c->state = CHUNK_DATA_CR;
	}
	return i;
}

int http1_unescape(char *s, bool plus)
{
	char *out = s;

	for (; *s; s++) {
		int hi, lo;

		if (*s != '%') {
			*out++ = plus && *s == '+' ? ' ' : *s;
			continue;
		}
		hi = hex_value(s[1]);
		lo = hi < 0 ? -1 : hex_value(s[2]);
		if (lo < 0 || (hi == 0 && lo == 0))
			return -1;
		*out++ = hi << 4 | lo;
		s += 2;
	}
	*out = '\0';
	return 0;
}

/* How long the host at s is, an IPv6 address in brackets; 0: there is none. */
static size_t host_len(const char *s)
{
	size_t n;

	if (*s != '[')
		return strspn(s, ALNUM "-._");
	n = strspn(s + 1, DIGIT "abcdefABCDEF:.");
	return n && s[1 + n] == ']' ? n + 2 : 0;
}

bool http1_is_origin(const char *s)
{
	size_t n = strspn(s, ALNUM "+-.");
	long long port;

	if (strlen(s) > HTTP1_MAX_ORIGIN || !isalpha((unsigned char)*s) ||
	    !str_starts(s + n, "://"))
		return false;
	s += n + 3;
	n = host_len(s);
	if (!n)
		return false;
	s += n;
	return !*s || (*s == ':' && parse_num(s + 1, 1, 65535, &port) == 0);
}
