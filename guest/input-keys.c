/* SPDX-License-Identifier: Apache-2.0 */
/* Names of keys. */
#include "config.h"

#include <X11/Xlib.h>
#include <X11/keysym.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/util.h"
#include "guest/input-keys.h"

#define UNICODE 0x01000000UL
#define MAX_NAME 64

/* What X does not know, or knows only in other letters. */
static const struct {
	const char *name;
	unsigned long sym;
} names[] = {
	{ "ctrl", XK_Control_L },
	{ "control", XK_Control_L },
	{ "ctl", XK_Control_L },
	{ "shift", XK_Shift_L },
	{ "alt", XK_Alt_L },
	{ "option", XK_Alt_L },
	{ "altgr", XK_ISO_Level3_Shift },
	{ "meta", XK_Meta_L },
	{ "super", XK_Super_L },
	{ "win", XK_Super_L },
	{ "windows", XK_Super_L },
	{ "cmd", XK_Super_L },
	{ "command", XK_Super_L },
	{ "hyper", XK_Hyper_L },
	{ "enter", XK_Return },
	{ "return", XK_Return },
	{ "esc", XK_Escape },
	{ "escape", XK_Escape },
	{ "del", XK_Delete },
	{ "delete", XK_Delete },
	{ "ins", XK_Insert },
	{ "insert", XK_Insert },
	{ "backspace", XK_BackSpace },
	{ "bksp", XK_BackSpace },
	{ "tab", XK_Tab },
	{ "space", XK_space },
	{ "spacebar", XK_space },
	{ "pageup", XK_Page_Up },
	{ "page_up", XK_Page_Up },
	{ "pgup", XK_Page_Up },
	{ "pagedown", XK_Page_Down },
	{ "page_down", XK_Page_Down },
	{ "pgdn", XK_Page_Down },
	{ "home", XK_Home },
	{ "end", XK_End },
	{ "up", XK_Up },
	{ "down", XK_Down },
	{ "left", XK_Left },
	{ "right", XK_Right },
	{ "arrowup", XK_Up },
	{ "arrowdown", XK_Down },
	{ "arrowleft", XK_Left },
	{ "arrowright", XK_Right },
	{ "capslock", XK_Caps_Lock },
	{ "caps_lock", XK_Caps_Lock },
	{ "numlock", XK_Num_Lock },
	{ "num_lock", XK_Num_Lock },
	{ "scrolllock", XK_Scroll_Lock },
	{ "scroll_lock", XK_Scroll_Lock },
	{ "printscreen", XK_Print },
	{ "print", XK_Print },
	{ "prtsc", XK_Print },
	{ "pause", XK_Pause },
	{ "break", XK_Break },
	{ "menu", XK_Menu },
	{ "apps", XK_Menu },
	{ "plus", XK_plus },
	{ "minus", XK_minus },
	{ "kp_enter", XK_KP_Enter },
	{ "f1", XK_F1 },
	{ "f2", XK_F2 },
	{ "f3", XK_F3 },
	{ "f4", XK_F4 },
	{ "f5", XK_F5 },
	{ "f6", XK_F6 },
	{ "f7", XK_F7 },
	{ "f8", XK_F8 },
	{ "f9", XK_F9 },
	{ "f10", XK_F10 },
	{ "f11", XK_F11 },
	{ "f12", XK_F12 },
};

size_t keys_next_char(const char *s, unsigned int *ret)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	unsigned int c = n == 1 ? *p : *p & (0x7fU >> n);

	if (!*p || (*p >= 0x80 && *p < 0xc2) || *p > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	*ret = c;
	return n;
}

unsigned long keys_of_char(unsigned int c)
{
	if (c == '\n' || c == '\r')
		return XK_Return;
	if (c == '\t')
		return XK_Tab;
	if (c == '\b')
		return XK_BackSpace;
	if (c == 0x1b)
		return XK_Escape;
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return 0;
	return c < 0x100 ? c : UNICODE | c;
}

static unsigned long sym_of(const char *name)
{
	unsigned int c;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcasecmp(name, names[i].name) == 0)
			return names[i].sym;
	n = keys_next_char(name, &c);
	if (n && !name[n])
		return keys_of_char(c);
	return XStringToKeysym(name);
}

/* How many letters must change, as far as it matters. */
static size_t distance(const char *a, const char *b)
{
	size_t row[MAX_NAME + 1], la = strlen(a), lb = strlen(b);

	if (la > MAX_NAME || lb > MAX_NAME)
		return MAX_NAME;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t above = row[j];
			bool same = strncasecmp(&a[i - 1], &b[j - 1], 1) == 0;

			row[j] = MIN(MIN(row[j], row[j - 1]) + 1,
				     diagonal + !same);
			diagonal = above;
		}
	}
	return row[lb];
}

static int unknown(const char *name, struct sb_err *err)
{
	char near[160] = "";
	size_t len = 0;

	for (size_t limit = 1; limit <= 3 && !len; limit++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (len < sizeof(near) - 40 &&
			    distance(name, names[i].name) <= limit)
				len += (size_t)snprintf(
					near + len, sizeof(near) - len, "%s%s",
					len ? ", " : "", names[i].name);
	sb_fail(err, SB_INVALID, "there is no key '%.64s'%s%s", name,
		len ? "; near: " : "", near);
	return sb_hint(err, "use names of X (Page_Down, F5), ctrl, alt, shift, "
			    "super, or a character, joined by +");
}

/* Up to the next + that joins; a + may be a key itself. */
static size_t word_len(const char *s)
{
	const char *end = *s ? strchr(s + 1, '+') : NULL;

	return end ? (size_t)(end - s) : strlen(s);
}

int keys_parse(const char *chord, unsigned long ret[KEYS_MAX], size_t *ret_n,
	       struct sb_err *err)
{
	size_t n = 0;

	for (const char *s = chord;; s++) {
		char name[MAX_NAME + 1];
		size_t len = word_len(s);

		if (n == KEYS_MAX || len > MAX_NAME)
			return sb_fail(err, SB_INVALID,
				       "'%.64s' is no chord of up to %d keys",
				       chord, KEYS_MAX);
		snprintf(name, sizeof(name), "%.*s", (int)len, s);
		ret[n] = *name ? sym_of(name) : 0;
		if (!ret[n++])
			return unknown(name, err);
		s += len;
		if (!*s)
			break;
	}
	*ret_n = n;
	return 0;
}
