/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter between a guest and the user's terminal: the states of ECMA-48
 * (5.4 control sequences, 5.6 control strings), over decoded UTF-8.
 *
 *   TEXT ──ESC──► ESCAPE ──[──► CSI ──final──► TEXT
 *                    │──]PX^_──► STRING ──ST, BEL, newline, too long──► TEXT
 *                    └──other──► TEXT
 *
 * A C1 control (U+0080 to U+009F, which terminals obey in UTF-8 as well) does
 * what ESC and the matching letter do.  ESC always begins anew; CAN, SUB and
 * whatever cannot belong to a sequence end it.  A newline ends every sequence,
 * so that a guest cannot hide the rest of its output.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "host/ctl-sanitize.h"

enum { TEXT, ESCAPE, ESCAPE_MORE, CSI, STRING };

#define ESC 0x1b
#define BEL 0x07
#define DEL 0x7f
#define C1_CSI 0x9b

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

void sanitize_init(struct sanitize *s, bool colours)
{
	*s = (struct sanitize){ .colours = colours, .state = TEXT };
}

static bool is_c1(uint32_t c)
{
	return c >= 0x80 && c <= 0x9f;
}

/* DCS, SOS, OSC, PM and APC begin a string; c is the C1 form. */
static bool begins_string(uint32_t c)
{
	return c == 0x90 || c == 0x98 || c == 0x9d || c == 0x9e || c == 0x9f;
}

static void enter(struct sanitize *s, int state)
{
	s->state = state;
	s->len = 0;
}

static void control(struct sanitize *s, uint32_t c1)
{
	if (c1 == C1_CSI)
		enter(s, CSI);
	else if (begins_string(c1))
		enter(s, STRING);
	else
		enter(s, TEXT);
}

static void text(struct sanitize *s, uint32_t c, const unsigned char *bytes,
		 size_t n, struct buf *out)
{
	if (c == ESC)
		enter(s, ESCAPE);
	else if (is_c1(c))
		control(s, c);
	else if (c == '\n' || c == '\r' || c == '\t' || (c >= ' ' && c != DEL))
		buf_add(out, bytes, n);
}

static bool is_sgr(const struct sanitize *s)
{
	if (s->len > sizeof(s->seq))
		return false;
	for (size_t i = 0; i < s->len; i++)
		if (!strchr("0123456789;:", s->seq[i]))
			return false;
	return true;
}

/* The colour sequence in seq[] is whole. */
static void end_sgr(struct sanitize *s, struct buf *out)
{
	if (!s->colours)
		return;
	buf_adds(out, "\033[");
	buf_add(out, s->seq, s->len);
	buf_adds(out, "m");
	s->dirty = !(s->len == 0 || (s->len == 1 && s->seq[0] == '0'));
}

/* Returns false if c is not part of the sequence. */
static bool csi(struct sanitize *s, uint32_t c, struct buf *out)
{
	if (c >= 0x20 && c <= 0x3f) {
		if (s->len < sizeof(s->seq))
			s->seq[s->len] = c;
		s->len++;
		return true;
	}
	if (c == 'm' && is_sgr(s))
		end_sgr(s, out);
	enter(s, TEXT);
	return c >= 0x40 && c <= 0x7e;
}

/* ESC with intermediate bytes: ends with a byte from '0' to '~'. */
static bool escape(struct sanitize *s, uint32_t c)
{
	if (c >= 0x20 && c <= 0x2f) {
		s->state = ESCAPE_MORE;
		return true;
	}
	if (s->state == ESCAPE && c >= 0x40 && c <= 0x5f)
		control(s, c + 0x40);
	else
		enter(s, TEXT);
	return c >= 0x30 && c <= 0x7e;
}

static bool string(struct sanitize *s, uint32_t c)
{
	if (c == ESC || c == '\n' || is_c1(c) ||
	    ++s->len > SANITIZE_MAX_STRING) {
		enter(s, TEXT);
		return false;
	}
	if (c == BEL || c == 0x18 || c == 0x1a)
		enter(s, TEXT);
	return true;
}

/* One decoded character and the bytes that it came as. */
static void character(struct sanitize *s, uint32_t c,
		      const unsigned char *bytes, size_t n, struct buf *out)
{
	bool used = false;

	switch (s->state) {
	case ESCAPE:
	case ESCAPE_MORE:
		used = escape(s, c);
		break;
	case CSI:
		used = csi(s, c, out);
		break;
	case STRING:
		used = string(s, c);
		break;
	}
	if (!used)
		text(s, c, bytes, n, out);
}

static void invalid(struct sanitize *s, struct buf *out)
{
	character(s, 0xfffd, (const unsigned char *)replacement,
		  sizeof(replacement) - 1, out);
}

/* How many bytes a character has that begins with b; 0: none begins so. */
static unsigned int utf8_need(unsigned char b)
{
	if (b < 0x80)
		return 1;
	if (b >= 0xc2 && b <= 0xdf)
		return 2;
	if ((b & 0xf0) == 0xe0)
		return 3;
	if (b >= 0xf0 && b <= 0xf4)
		return 4;
	return 0;
}

static uint32_t utf8_decode(const unsigned char *p, unsigned int n)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = p[0] & first[n];

	for (unsigned int i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/* Overlong forms of two bytes cannot begin: utf8_need() sees to it. */
static bool utf8_valid(uint32_t c, unsigned int n)
{
	if (n == 3)
		return c >= 0x800 && (c < 0xd800 || c > 0xdfff);
	return n < 4 || (c >= 0x10000 && c <= 0x10ffff);
}

static void byte(struct sanitize *s, unsigned char b, struct buf *out)
{
	uint32_t c;

	if (s->have && (b & 0xc0) != 0x80) { /* cut short */
		s->have = 0;
		invalid(s, out);
	}
	if (!s->have) {
		s->need = utf8_need(b);
		if (!s->need) {
			invalid(s, out);
			return;
		}
	}
	s->utf8[s->have++] = b;
	if (s->have < s->need)
		return;
	s->have = 0;
	c = utf8_decode(s->utf8, s->need);
	if (utf8_valid(c, s->need))
		character(s, c, s->utf8, s->need, out);
	else
		invalid(s, out);
}

void sanitize_feed(struct sanitize *s, const char *data, size_t len,
		   struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		byte(s, data[i], out);
}

void sanitize_end(struct sanitize *s, struct buf *out)
{
	bool colours = s->colours;

	if (s->have)
		invalid(s, out);
	if (s->dirty)
		buf_adds(out, "\033[0m");
	sanitize_init(s, colours);
}

char *sanitize_line(const char *text_)
{
	struct buf out = { 0 };
	struct sanitize s;

	sanitize_init(&s, false);
	sanitize_feed(&s, text_, strlen(text_), &out);
	sanitize_end(&s, &out);
	for (size_t i = 0; i < out.len; i++)
		if (out.p[i] == '\n' || out.p[i] == '\r' || out.p[i] == '\t')
			out.p[i] = ' ';
	return out.p ? out.p : xstrdup("");
}
