/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The keyboard of an X server, and how to type what it does not have: keys
 * that nobody needs are given other characters, those first that were given
 * theirs long ago.  A program that is slow looks a key up when it gets to it,
 * so that a key must not change for a while after it was typed.  Only the
 * thread of the screen uses it.
 */

#include <X11/Xlib.h>
#include <stdbool.h>
#include <stdint.h>

#define KEY_MAP_PLAN 512

struct key_map {
	int min, max, per; /* keycodes, and keysyms for each */
	KeySym *syms;
	bool changed[256];
	int64_t began; /* what has been used since is in use */
	int given, room;
	KeySym plan[KEY_MAP_PLAN]; /* for which there would be room */
	int nplan, nfree;
};

struct key_at {
	KeyCode code;
	bool shift;
};

/* false if the server is gone, or has no keyboard that makes sense. */
bool key_map_load(Display *dpy, struct key_map *m);
void key_map_done(struct key_map *m);

/* Which keys are modifiers; XGetModifierMapping() believes the server as
 * XGetKeyboardMapping() does. */
void key_map_modifiers(Display *dpy, bool ret[256]);

/* A keysym that is somewhere is needed there. */
void key_map_mark(const struct key_map *m, KeySym sym);
/* Whether it is somewhere, or there is room for it besides all others that
 * were asked for so, without taking a key that was used lately. */
bool key_map_plan(struct key_map *m, KeySym sym);

/* Where a keysym is; false if it is nowhere. */
bool key_map_find(const struct key_map *m, KeySym sym, struct key_at *ret);
/*
 * Make sure that it is somewhere, and stays there; false if there is no more
 * room for now.  key_map_apply() then tells the server; it returns whether
 * there was anything to tell.
 */
bool key_map_need(struct key_map *m, KeySym sym, struct key_at *ret);
bool key_map_apply(Display *dpy, struct key_map *m);
