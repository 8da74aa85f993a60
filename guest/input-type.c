/* SPDX-License-Identifier: Apache-2.0 */
/* Typing a text: with keys where the keyboard has, or can have, all of its
 * characters at once, and through the clipboard where it cannot. */
#include "config.h"

#include <X11/XKBlib.h>
#include <X11/extensions/XTest.h>
#include <X11/keysym.h>
#include <string.h>

#include "guest/clipboard-loan.h"
#include "guest/input-hands.h"
#include "guest/input-idle.h"
#include "guest/input-keys.h"

#define LOOK_MS 150 /* for programs that do not say who they are */
#define SLEEP_MS 3  /* one that sleeps so long has looked up all keys */
#define MAX_LOOKS 700

/* Modifiers that somebody holds would make other characters of ours. */
static void begin_typing(struct hands *h)
{
	XkbStateRec state = { 0 };
	struct key_at caps;
	char down[32] = { 0 };
	bool mods[256];

	h->s->typing = true;
	key_map_modifiers(h->dpy, mods);
	XQueryKeymap(h->dpy, down);
	for (unsigned int code = 0; code < 256; code++)
		if (mods[code] && down[code / 8] & (1 << code % 8)) {
			XTestFakeKeyEvent(h->dpy, code, False, 0);
			h->s->again[code] = 1;
		}
	XkbGetState(h->dpy, XkbUseCoreKbd, &state);
	if (state.locked_mods & LockMask &&
	    key_map_find(&h->map, XK_Caps_Lock, &caps)) {
		XTestFakeKeyEvent(h->dpy, caps.code, True, 0);
		XTestFakeKeyEvent(h->dpy, caps.code, False, 0);
		h->s->caps = true;
	}
	if (state.group != 0)
		XkbLockGroup(h->dpy, XkbUseCoreKbd, 0);
}

void hands_end_typing(struct hands *h)
{
	struct key_at caps;

	h->s->typing = false;
	for (int code = 0; code < 256; code++)
		if (h->s->again[code])
			XTestFakeKeyEvent(h->dpy, (unsigned int)code, True, 0);
	memset(h->s->again, 0, sizeof(h->s->again));
	if (h->s->caps && key_map_find(&h->map, XK_Caps_Lock, &caps)) {
		XTestFakeKeyEvent(h->dpy, caps.code, True, 0);
		XTestFakeKeyEvent(h->dpy, caps.code, False, 0);
	}
	h->s->caps = false;
}

/* Have keys for as much of the run as there is room for. */
static void map_run(struct hands *h, const char *text)
{
	size_t at = h->s->off, n;
	struct key_at where;
	unsigned int c;

	while (at < h->s->until && (n = keys_next_char(text + at, &c)) &&
	       key_map_need(&h->map, keys_of_char(c), &where))
		at += n;
	h->s->mapped = at;
	key_map_apply(h->dpy, &h->map);
}

static void type_char(struct hands *h, const struct key_at *at, KeyCode shift)
{
	if (at->shift && !h->s->keys[shift])
		hands_press(h, shift, false);
	else if (!at->shift && h->s->keys[shift])
		hands_release(h, shift);
	hands_press(h, at->code, false);
	hands_release(h, at->code);
}

static bool has_all(const struct hands *h, const char *text, size_t len)
{
	struct key_at where;
	unsigned int c;
	size_t n;

	for (size_t i = 0; i < len && (n = keys_next_char(text + i, &c));
	     i += n)
		if (!key_map_find(&h->map, keys_of_char(c), &where))
			return false;
	return true;
}

/* Whether one change of the keyboard, before the text, is enough. */
static bool fits(struct hands *h, const char *text)
{
	unsigned int c;
	size_t n;

	for (const char *p = text; (n = keys_next_char(p, &c)); p += n)
		key_map_mark(&h->map, keys_of_char(c));
	for (const char *p = text; (n = keys_next_char(p, &c)); p += n)
		if (!key_map_plan(&h->map, keys_of_char(c)))
			return false;
	return true;
}

/*
 * Whether keys may be given other characters: not before the program has looked
 * up those that were typed.
 */
static bool may_map(struct hands *h, const char *text)
{
	struct screen_input *s = h->s;
	long long before = s->switches;
	int pid, sleeps;

	if (has_all(h, text + s->off, s->until - s->off))
		return true;
	if (s->looks++ == MAX_LOOKS) {
		/* It would not know the new characters from the old. */
		s->keys_only = s->plan->method == INPUT_KEYS || s->deaf;
		s->looks = 0;
		return s->keys_only;
	}
	pid = input_focus_pid(h->dpy);
	sleeps = pid ? input_sleeps(pid, &s->switches) : -1;
	s->wait_ms = sleeps < 0 ? LOOK_MS : SLEEP_MS;
	return s->looks > 1 && sleeps && s->switches == before;
}

/* Some of a run, with keys. */
static void type_keys(struct hands *h, const char *text)
{
	struct screen_input *s = h->s;
	KeyCode shift = hands_shift_key(h);
	struct key_at at;
	unsigned int c;
	size_t n;

	if (s->off == s->mapped) {
		if (!may_map(h, text)) {
			if (!s->keys_only)
				s->until = s->off; /* in another way */
			return;
		}
		s->looks = 0;
		s->wait_ms = 0;
		map_run(h, text);
	}
	for (int i = 0; i < HANDS_CHUNK && s->off < s->mapped; i++) {
		n = keys_next_char(text + s->off, &c);
		key_map_mark(&h->map, keys_of_char(c));
		if (key_map_find(&h->map, keys_of_char(c), &at))
			type_char(h, &at, shift);
		s->off += n;
	}
	if (s->keys[shift])
		hands_release(h, shift);
}

/* Control characters are keys, whatever the rest is: to paste a line's end is
 * not to press Return. */
static void begin_run(struct hands *h, const char *text)
{
	struct screen_input *s = h->s;
	const char *p = text + s->off;
	bool control = (unsigned char)*p < ' ';

	while (*p && (s->keys_only || ((unsigned char)*p < ' ') == control))
		p++;
	s->until = (size_t)(p - text);
	s->mapped = s->off;
	s->way = INPUT_PASTE;
	if (s->keys_only || control ||
	    (s->plan->method == INPUT_AUTO &&
	     has_all(h, text + s->off, s->until - s->off)))
		s->way = INPUT_KEYS;
}

static int type_paste(struct hands *h, const char *text, struct sb_err *err)
{
	struct screen_input *s = h->s;
	int r = hands_paste(h, text, err);

	if (r > 0)
		s->off = s->until;
	if (r >= 0)
		return 0;
	if (s->plan->method == INPUT_PASTE || err->code != SB_TIMEOUT)
		return -1;
	s->keys_only = s->deaf = true;
	s->until = s->off;
	return 0;
}

int hands_type(struct hands *h, const char *text, struct sb_err *err)
{
	struct screen_input *s = h->s;

	if (!s->typing) {
		begin_typing(h);
		s->deaf = false;
		s->keys_only = s->plan->method == INPUT_KEYS ||
			       (s->plan->method == INPUT_AUTO && fits(h, text));
	}
	if (s->off == s->until && text[s->off])
		begin_run(h, text);
	if (!text[s->off])
		; /* what was in the clipboard is being put back */
	else if (s->way == INPUT_KEYS)
		type_keys(h, text);
	else if (type_paste(h, text, err) < 0)
		return -1;
	if (text[s->off] || !hands_end_paste(h))
		return 0;
	hands_end_typing(h);
	s->off = s->until = s->mapped = 0;
	s->at++;
	return 0;
}
