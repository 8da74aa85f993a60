/* SPDX-License-Identifier: Apache-2.0 */
/* Mouse and keyboard by XTest: the job that does some of a plan. */
#include "config.h"

#include <X11/XKBlib.h>
#include <X11/Xlib.h>
#include <X11/extensions/XTest.h>
#include <X11/keysym.h>
#include <string.h>

#include "guest/clipboard-loan.h"
#include "guest/input-hands.h"
#include "guest/input-keys.h"

void hands_press(struct hands *h, KeyCode code, bool keep)
{
	if (!h->s->keys[code])
		XTestFakeKeyEvent(h->dpy, code, True, 0);
	h->s->keys[code] = !keep;
}

void hands_release(struct hands *h, KeyCode code)
{
	XTestFakeKeyEvent(h->dpy, code, False, 0);
	h->s->keys[code] = 0;
}

KeyCode hands_shift_key(const struct hands *h)
{
	struct key_at at = { 0 };

	key_map_find(&h->map, XK_Shift_L, &at);
	return at.code;
}

int hands_chord(struct hands *h, const struct input_step *t, struct sb_err *err)
{
	unsigned long syms[KEYS_MAX];
	struct key_at at[KEYS_MAX];
	KeyCode shift = hands_shift_key(h);
	size_t n;

	if (keys_parse(t->text, syms, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!key_map_need(&h->map, syms[i], &at[i]))
			return sb_fail(err, SB_BUSY, "no key is free for '%s'",
				       t->text);
	key_map_apply(h->dpy, &h->map);
	for (size_t i = 0; t->kind == INPUT_KEY_DOWN && i < n; i++) {
		if (at[i].shift && at[i].code != shift)
			hands_press(h, shift, t->keep);
		hands_press(h, at[i].code, t->keep);
	}
	for (size_t i = n; t->kind == INPUT_KEY_UP && i-- > 0;) {
		hands_release(h, at[i].code);
		if (at[i].shift && at[i].code != shift)
			hands_release(h, shift);
	}
	return 0;
}

static void button(struct hands *h, const struct input_step *t)
{
	bool down = t->kind == INPUT_DOWN;
	unsigned int bit = 1U << t->button;

	XTestFakeButtonEvent(h->dpy, (unsigned int)t->button, down, 0);
	h->s->buttons &= ~bit;
	if (down && !t->keep)
		h->s->buttons |= bit;
}

static void move(struct hands *h, const struct input_step *t)
{
	int x = t->x, y = t->y;

	picture_api_to_screen(&h->s->map, &x, &y);
	XTestFakeMotionEvent(h->dpy, -1, x, y, 0);
}

static int step(struct hands *h, const struct input_step *t, struct sb_err *err)
{
	switch (t->kind) {
	case INPUT_MOVE:
		move(h, t);
		break;
	case INPUT_DOWN:
	case INPUT_UP:
		button(h, t);
		break;
	case INPUT_KEY_DOWN:
	case INPUT_KEY_UP:
		if (hands_chord(h, t, err) < 0)
			return -1;
		break;
	case INPUT_WAIT:
		h->s->wait_ms = t->ms;
		break;
	case INPUT_TYPE: /* moves on itself */
		return hands_type(h, t->text, err);
	}
	h->s->at++;
	return 0;
}

static void lift(struct hands *h)
{
	for (int code = 0; code < 256; code++)
		if (h->s->keys[code])
			hands_release(h, (KeyCode)code);
	for (unsigned int b = 1; b < 32; b++)
		if (h->s->buttons & 1U << b)
			XTestFakeButtonEvent(h->dpy, b, False, 0);
	h->s->buttons = 0;
	if (h->s->typing)
		hands_end_typing(h);
}

static int check_text(const char *text, struct sb_err *err)
{
	unsigned int c = 0;
	size_t n;

	for (const char *p = text; *p; p += n) {
		n = keys_next_char(p, &c);
		if (!n || !keys_of_char(c)) {
			sb_fail(err, SB_INVALID,
				"the character U+%04X, %zu bytes into the "
				"text, cannot be typed",
				c, (size_t)(p - text));
			return sb_hint(err, "press its key in place of it, "
					    "such as ctrl+c");
		}
	}
	return 0;
}

static int check_place(const struct screen_input *s, const struct input_step *t,
		       struct sb_err *err)
{
	const struct picture_map *m = &s->map;

	if (t->x >= 0 && t->y >= 0 && t->x < m->width && t->y < m->height)
		return 0;
	sb_fail(err, SB_INVALID, "(%d, %d) is not on the screen", t->x, t->y);
	return sb_hint(err, "it has %dx%d pixels: x is 0 to %d, y is 0 to %d",
		       m->width, m->height, m->width - 1, m->height - 1);
}

/* Nothing is done of a plan that cannot be done. */
static int check_plan(struct hands *h, struct sb_err *err)
{
	const struct input_plan *p = h->s->plan;
	struct screen_input *s = h->s;
	int event, error, major, minor, r = 0;
	unsigned long syms[KEYS_MAX];
	size_t n;

	if (!XTestQueryExtension(h->dpy, &event, &error, &major, &minor))
		return sb_fail(err, SB_MISSING,
			       "the X server takes no input (XTEST)");
	s->map.region =
		(struct rect){ 0, 0, s->screen_width, s->screen_height };
	s->map.width = p->width ? p->width : s->screen_width;
	s->map.height = p->height ? p->height : s->screen_height;
	for (size_t i = 0; i < p->n && r == 0; i++) {
		const struct input_step *t = &p->steps[i];

		if (t->kind == INPUT_MOVE)
			r = check_place(s, t, err);
		else if (t->kind == INPUT_TYPE)
			r = check_text(t->text, err);
		else if (t->kind == INPUT_KEY_DOWN || t->kind == INPUT_KEY_UP)
			r = keys_parse(t->text, syms, &n, err);
	}
	s->checked = r == 0;
	return r;
}

static int some_steps(struct hands *h, struct sb_err *err)
{
	struct screen_input *s = h->s;
	const struct input_plan *p = s->plan;

	if (!s->checked && check_plan(h, err) < 0)
		return -1;
	for (int i = 0; i < HANDS_CHUNK && s->at < p->n && !s->wait_ms; i++) {
		bool text = p->steps[s->at].kind == INPUT_TYPE;

		if (step(h, &p->steps[s->at], err) < 0)
			return -1;
		if (text)
			break;
	}
	s->done = s->at == p->n && !s->wait_ms;
	return 0;
}

int screen_input_job(struct x11 *x, void *arg, struct sb_err *err)
{
	struct screen_input *s = arg;
	struct hands h = { x, x11_display(x), s, { 0 } };
	int r = 0;

	s->wait_ms = 0;
	if (x11_size(x, &s->screen_width, &s->screen_height, err) < 0)
		return -1;
	if (!key_map_load(h.dpy, &h.map)) {
		key_map_done(&h.map);
		return sb_fail(err, SB_BUSY, "the X server has no keyboard");
	}
	if (s->lift)
		lift(&h);
	else
		r = some_steps(&h, err);
	key_map_done(&h.map);
	/* Input is for no window; one that was looked at may just have gone. */
	x11_forgive(x, BadWindow);
	if (r == 0)
		r = x11_check(x, "take input", err);
	return r < 0 ? -1 : x11_cursor(x, &s->pointer, err);
}

void screen_input_end(struct screen_input *s)
{
	clipboard_loan_free(s->loan);
	s->loan = NULL;
	s->offered = false;
}
