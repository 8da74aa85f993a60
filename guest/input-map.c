/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that are given other characters. */
#include "config.h"

#include <X11/Xlibint.h>
#include <X11/keysym.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/util.h"
#include "guest/input-map.h"

#define XF86_FIRST 0x1008fe00UL
#define XF86_LAST 0x1008ffffUL
#define UNICODE_FIRST 0x01000080UL
#define UNICODE_LAST 0x0110ffffUL

/* A program that is slow may still look up what was typed so long ago. */
#define RECENT_MS 10000

/* When each key was last needed, in each of its levels: the server knows what
 * keys are, but not since when. */
static int64_t needed[256][2];
static KeySym gave[256][2]; /* what each key was given, if anything */

/*
 * As XGetKeyboardMapping(), which believes the server how many there are for
 * each key without having got so many.  The server is the sandbox's user's, and
 * we may be root.
 */
static KeySym *get_mapping(Display *dpy, int first, int count, int *ret_per)
{
	xGetKeyboardMappingReply answer;
	xGetKeyboardMappingReq *req;
	KeySym *syms = NULL;
	size_t n;

	LockDisplay(dpy);
	GetReq(GetKeyboardMapping, req);
	req->firstKeyCode = (CARD8)first;
	req->count = (CARD8)count;
	if (_XReply(dpy, (xReply *)&answer, 0, xFalse)) {
		*ret_per = answer.keySymsPerKeyCode;
		n = (size_t)count * answer.keySymsPerKeyCode;
		if (n && n == answer.length) {
			syms = xcalloc(n, sizeof(*syms));
			_XRead32(dpy, (long *)syms, (long)n * 4);
		} else {
			_XEatDataWords(dpy, answer.length);
		}
	}
	UnlockDisplay(dpy);
	SyncHandle();
	return syms;
}

bool key_map_load(Display *dpy, struct key_map *m)
{
	memset(m, 0, sizeof(*m));
	XDisplayKeycodes(dpy, &m->min, &m->max);
	m->max = MIN(m->max, 255);
	if (m->min <= m->max)
		m->syms =
			get_mapping(dpy, m->min, m->max - m->min + 1, &m->per);
	m->began = clock_ms();
	return m->syms && m->per >= 2;
}

void key_map_done(struct key_map *m)
{
	free(m->syms);
	m->syms = NULL;
}

void key_map_modifiers(Display *dpy, bool ret[256])
{
	xGetModifierMappingReply answer;
	_X_UNUSED xReq *req;
	unsigned char codes[8 * UINT8_MAX];
	size_t n = 0;

	memset(ret, 0, 256 * sizeof(*ret));
	LockDisplay(dpy);
	GetEmptyReq(GetModifierMapping, req);
	if (_XReply(dpy, (xReply *)&answer, 0, xFalse)) {
		n = 8U * answer.numKeyPerModifier;
		if (n == 4 * (size_t)answer.length) {
			_XRead(dpy, (char *)codes, (long)n);
		} else {
			_XEatDataWords(dpy, answer.length);
			n = 0;
		}
	}
	UnlockDisplay(dpy);
	SyncHandle();
	for (size_t i = 0; i < n; i++)
		ret[codes[i]] = codes[i] != 0;
}

static KeySym *row(const struct key_map *m, int code)
{
	return m->syms + (code - m->min) * m->per;
}

bool key_map_find(const struct key_map *m, KeySym sym, struct key_at *ret)
{
	for (int level = 0; level < 2; level++)
		for (int code = m->min; code <= m->max; code++)
			if (row(m, code)[level] == sym) {
				*ret = (struct key_at){ (KeyCode)code, level };
				return true;
			}
	return false;
}

static bool is_unicode(KeySym sym)
{
	return sym >= UNICODE_FIRST && sym <= UNICODE_LAST;
}

static bool is_ours(const struct key_map *m, int code)
{
	const KeySym *s = row(m, code);

	return (s[0] || s[1]) && s[0] == gave[code][0] && s[1] == gave[code][1];
}

/*
 * Browsers go by the number of a key, too, whatever is on it: one of these
 * would go back, stop, or paste.
 */
static bool acts_by_number(int code)
{
	static const int ranges[][2] = { { 121, 124 }, { 133, 152 },
					 { 160, 182 }, { 189, 190 },
					 { 208, 209 }, { 214, 218 },
					 { 225, 225 }, { 232, 235 } };

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return false;
}

/* Keys without meaning, those of multimedia, which are given back when they are
 * asked for by name, and those that were used so before, by whomever. */
static bool is_spare(const struct key_map *m, int code)
{
	const KeySym *s = row(m, code);

	if (acts_by_number(code))
		return false;
	if (is_ours(m, code) || s[1] == XK_VoidSymbol)
		return true;
	for (int i = 0; i < m->per; i++)
		if (s[i] != NoSymbol && !is_unicode(s[i]) &&
		    !(s[i] >= XF86_FIRST && s[i] <= XF86_LAST))
			return false;
	return true;
}

/* The slot that was needed the longest time ago. */
static bool find_room(struct key_map *m, struct key_at *ret)
{
	int64_t oldest = m->began;

	m->room = 0;
	for (int code = m->min; code <= m->max; code++) {
		if (!is_spare(m, code))
			continue;
		m->room += 2;
		for (int level = 0; level < 2; level++)
			if (needed[code][level] < oldest) {
				oldest = needed[code][level];
				*ret = (struct key_at){ (KeyCode)code, level };
			}
	}
	/* The rest is what may still be looked up. */
	return oldest < m->began && m->given < m->room / 4 * 3;
}

void key_map_mark(const struct key_map *m, KeySym sym)
{
	struct key_at at;

	if (key_map_find(m, sym, &at))
		needed[at.code][at.shift] = m->began;
}

static int count_free(const struct key_map *m)
{
	int n = 0, room = 0;

	for (int code = m->min; code <= m->max; code++)
		for (int i = 0; is_spare(m, code) && i < 2; i++, room++)
			n += !needed[code][i] ||
			     needed[code][i] < m->began - RECENT_MS;
	return MIN(n, room / 4 * 3);
}

bool key_map_plan(struct key_map *m, KeySym sym)
{
	struct key_at at;

	if (key_map_find(m, sym, &at))
		return true;
	for (int i = 0; i < m->nplan; i++)
		if (m->plan[i] == sym)
			return true;
	if (m->nplan == 0)
		m->nfree = count_free(m);
	if (m->nplan >= MIN(m->nfree, KEY_MAP_PLAN))
		return false;
	m->plan[m->nplan++] = sym;
	return true;
}

bool key_map_need(struct key_map *m, KeySym sym, struct key_at *ret)
{
	KeySym *s;

	if (key_map_find(m, sym, ret)) {
		needed[ret->code][ret->shift] = m->began;
		return true;
	}
	if (!find_room(m, ret))
		return false;
	s = row(m, ret->code);
	if (!is_ours(m, ret->code))
		for (int i = 0; i < m->per; i++)
			s[i] = NoSymbol;
	s[ret->shift] = sym;
	if (!ret->shift && s[1] == NoSymbol)
		s[1] = XK_VoidSymbol;
	memcpy(gave[ret->code], s, sizeof(gave[0]));
	needed[ret->code][ret->shift] = m->began;
	m->changed[ret->code] = true;
	m->given++;
	return true;
}

bool key_map_apply(Display *dpy, struct key_map *m)
{
	bool any = false;
	int n;

	for (int code = m->min; code <= m->max; code += n) {
		n = 1;
		if (!m->changed[code])
			continue;
		while (code + n <= m->max && m->changed[code + n])
			n++;
		XChangeKeyboardMapping(dpy, code, m->per, row(m, code), n);
		any = true;
	}
	memset(m->changed, 0, sizeof(m->changed));
	m->given = 0;
	if (any)
		XSync(dpy, False);
	return any;
}
