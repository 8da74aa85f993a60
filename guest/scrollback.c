/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last bytes of a terminal, in a ring that grows to its full size only for
 * those that print much.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "guest/scrollback.h"

#define FIRST_SIZE 4096
#define ESC 0x1b
#define BEL 0x07
#define CAN 0x18
#define SUB 0x1a

static enum vt_state after_escape(unsigned char c)
{
	if (c == '[')
		return VT_CSI;
	if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_')
		return VT_STRING;
	/* Intermediates, as in the choice of a character set "ESC ( B". */
	if (c >= 0x20 && c <= 0x2f)
		return VT_ESCAPE;
	return VT_GROUND;
}

static void begin_character(struct vt_place *p, unsigned char c)
{
	p->more = c >= 0xf5   ? 0
		  : c >= 0xf0 ? 3
		  : c >= 0xe0 ? 2
		  : c >= 0xc2 ? 1
			      : 0;
	p->state = c == ESC ? VT_ESCAPE : p->more ? VT_UTF8 : VT_GROUND;
}

void vt_step(struct vt_place *p, unsigned char c)
{
	if (p->state == VT_UTF8 && (c & 0xc0) == 0x80) {
		if (!--p->more)
			p->state = VT_GROUND;
		return;
	}
	if (p->state == VT_GROUND || p->state == VT_UTF8) {
		begin_character(p, c);
		return;
	}
	if (c == CAN || c == SUB) {
		p->state = VT_GROUND;
		return;
	}
	switch (p->state) {
	case VT_ESCAPE:
		p->state = c == ESC ? VT_ESCAPE : after_escape(c);
		break;
	case VT_CSI:
		if (c == ESC)
			p->state = VT_ESCAPE;
		else if (c >= 0x40 && c <= 0x7e)
			p->state = VT_GROUND;
		break;
	case VT_STRING:
		if (c == BEL)
			p->state = VT_GROUND;
		else if (c == ESC)
			p->state = VT_STRING_ESC;
		break;
	default: /* VT_STRING_ESC: "ESC \" ends it, others begin anew */
		p->state = c == ESC ? VT_ESCAPE : after_escape(c);
	}
}

void scrollback_done(struct scrollback *s)
{
	free(s->ring);
	*s = (struct scrollback){ 0 };
}

static void grow(struct scrollback *s, size_t need)
{
	size_t len = s->end - s->start, cap = s->cap ? s->cap : FIRST_SIZE;
	char *ring;

	while (cap < need && cap < SCROLLBACK_SIZE)
		cap *= 2;
	if (cap == s->cap)
		return;
	ring = xmalloc(cap);
	/* The place of a byte depends on the size. */
	for (size_t i = 0; i < len; i++)
		ring[(s->start + i) % cap] = s->ring[(s->start + i) % s->cap];
	free(s->ring);
	s->ring = ring;
	s->cap = cap;
}

static void drop(struct scrollback *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vt_step(&s->at_start, s->ring[(s->start + i) % s->cap]);
	s->start += n;
}

static void add_piece(struct scrollback *s, const char *data, size_t len)
{
	size_t have = s->end - s->start, at, first;

	grow(s, have + len);
	if (have + len > s->cap)
		drop(s, have + len - s->cap);
	at = s->end % s->cap;
	first = MIN(len, s->cap - at);
	memcpy(s->ring + at, data, first);
	memcpy(s->ring, data + first, len - first);
	s->end += len;
}

void scrollback_add(struct scrollback *s, const char *data, size_t len)
{
	while (len) {
		size_t n = MIN(len, FIRST_SIZE);

		add_piece(s, data, n);
		data += n;
		len -= n;
	}
}

size_t scrollback_read(const struct scrollback *s, uint64_t offset, char *data,
		       size_t max)
{
	size_t n = MIN(max, s->end - offset), at, first;

	if (!n)
		return 0;
	at = offset % s->cap;
	first = MIN(n, s->cap - at);
	memcpy(data, s->ring + at, first);
	memcpy(data + first, s->ring, n - first);
	return n;
}

uint64_t scrollback_sane(const struct scrollback *s, uint64_t offset)
{
	struct vt_place place = s->at_start;
	uint64_t at = s->start;

	while (at < s->end && (at < offset || place.state != VT_GROUND))
		vt_step(&place, s->ring[at++ % s->cap]);
	return at;
}
