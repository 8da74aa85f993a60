/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of input, and the small things that they are read from. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/input.h"

#define MAX_SCROLL 100
#define MAX_REPEAT 100
#define MAX_PLACE 100000 /* pixels, on any side */

void input_plan_done(struct input_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->steps[i].text);
	free(p->steps);
	*p = (struct input_plan){ 0 };
}

static int add(struct input_plan *p, struct input_step step /* takes */,
	       struct sb_err *err)
{
	if (p->n == INPUT_MAX_STEPS) {
		free(step.text);
		return sb_fail(err, SB_LIMIT,
			       "more than %d steps of input are too many",
			       INPUT_MAX_STEPS);
	}
	if (p->n % 64 == 0)
		p->steps = xrealloc(p->steps, p->n + 64, sizeof(p->steps[0]));
	p->steps[p->n++] = step;
	return 0;
}

int input_move(struct input_plan *p, int x, int y, struct sb_err *err)
{
	return add(p, (struct input_step){ INPUT_MOVE, .x = x, .y = y }, err);
}

int input_button(struct input_plan *p, enum input_kind kind, int button,
		 bool keep, struct sb_err *err)
{
	return add(p,
		   (struct input_step){ kind, .button = button, .keep = keep },
		   err);
}

int input_key(struct input_plan *p, enum input_kind kind, const char *chord,
	      bool keep, struct sb_err *err)
{
	if (str_empty(chord))
		return sb_fail(err, SB_INVALID, "a key has no name");
	if (strlen(chord) > INPUT_MAX_CHORD)
		return sb_fail(err, SB_INVALID, "'%.32s...' is no key", chord);
	return add(p,
		   (struct input_step){ kind, .keep = keep,
					.text = xstrdup(chord) },
		   err);
}

int input_type(struct input_plan *p, const char *text, struct sb_err *err)
{
	size_t len = strlen(text);

	if (len > INPUT_MAX_TEXT - p->text) {
		sb_fail(err, SB_LIMIT, "more than %d bytes to type",
			INPUT_MAX_TEXT);
		return sb_hint(err, "write a file in place of it");
	}
	p->text += len;
	return add(p, (struct input_step){ INPUT_TYPE, .text = xstrdup(text) },
		   err);
}

int input_wait(struct input_plan *p, long long ms, struct sb_err *err)
{
	if (ms > INPUT_MAX_WAIT_MS - p->ms)
		return sb_fail(err, SB_LIMIT,
			       "more than %d seconds are too long to wait",
			       INPUT_MAX_WAIT_MS / 1000);
	p->ms += ms;
	return add(p, (struct input_step){ INPUT_WAIT, .ms = (int)ms }, err);
}

int input_click(struct input_plan *p, int button, int times, struct sb_err *err)
{
	for (int i = 0; i < times; i++)
		if (input_button(p, INPUT_DOWN, button, false, err) < 0 ||
		    input_button(p, INPUT_UP, button, false, err) < 0)
			return -1;
	return 0;
}

int input_press(struct input_plan *p, const char *chord, long long times,
		struct sb_err *err)
{
	if (times < 1 || times > MAX_REPEAT)
		return sb_fail(err, SB_INVALID,
			       "a key can be repeated 1 to %d times",
			       MAX_REPEAT);
	for (long long i = 0; i < times; i++)
		if (input_key(p, INPUT_KEY_DOWN, chord, false, err) < 0 ||
		    input_key(p, INPUT_KEY_UP, chord, false, err) < 0)
			return -1;
	return 0;
}

static const struct {
	const char *name;
	int button;
} directions[] = {
	{ "up", BUTTON_SCROLL_UP },
	{ "down", BUTTON_SCROLL_DOWN },
	{ "left", BUTTON_SCROLL_LEFT },
	{ "right", BUTTON_SCROLL_RIGHT },
};

int input_scroll(struct input_plan *p, const char *direction, long long amount,
		 struct sb_err *err)
{
	if (amount < 0 || amount > MAX_SCROLL)
		return sb_fail(err, SB_INVALID,
			       "a wheel turns 0 to %d notches, not %lld",
			       MAX_SCROLL, amount);
	for (size_t i = 0; direction && i < ARRAY_SIZE(directions); i++)
		if (strcmp(direction, directions[i].name) == 0)
			return input_click(p, directions[i].button, (int)amount,
					   err);
	return sb_fail(err, SB_INVALID,
		       "a wheel turns up, down, left or right, not '%.32s'",
		       direction ? direction : "");
}

static const struct {
	const char *name;
	int button;
} buttons[] = {
	{ "left", BUTTON_LEFT },    { "middle", BUTTON_MIDDLE },
	{ "wheel", BUTTON_MIDDLE }, { "right", BUTTON_RIGHT },
	{ "back", BUTTON_BACK },    { "forward", BUTTON_FORWARD },
};

int input_parse_button(const json_t *j, int *ret, struct sb_err *err)
{
	const char *name = json_string_value(j);
	long long n = json_integer_value(j);

	if (!j || json_is_null(j))
		return 0;
	for (size_t i = 0; name && i < ARRAY_SIZE(buttons); i++)
		if (strcmp(name, buttons[i].name) == 0) {
			*ret = buttons[i].button;
			return 0;
		}
	if (n >= BUTTON_LEFT && n <= BUTTON_FORWARD) {
		*ret = (int)n;
		return 0;
	}
	return sb_fail(err, SB_INVALID,
		       "'button' must be left, middle (or wheel), right, back, "
		       "forward, or 1 to %d",
		       BUTTON_FORWARD);
}

static bool is_place(const json_t *j)
{
	double v = json_number_value(j);

	return json_is_number(j) && v >= -MAX_PLACE && v <= MAX_PLACE;
}

int input_parse_point(const json_t *j, const char *name, int *x, int *y,
		      struct sb_err *err)
{
	const json_t *jx = json_is_array(j) && json_array_size(j) == 2
				   ? json_array_get(j, 0)
				   : json_object_get(j, "x");
	const json_t *jy = json_is_array(j) && json_array_size(j) == 2
				   ? json_array_get(j, 1)
				   : json_object_get(j, "y");

	if (!is_place(jx) || !is_place(jy))
		return sb_fail(err, SB_INVALID,
			       "'%s' must be a place on the screen: [x, y]",
			       name);
	*x = (int)floor(json_number_value(jx));
	*y = (int)floor(json_number_value(jy));
	return 0;
}

int input_parse_seconds(const json_t *j, const char *name, long long *ret_ms,
			struct sb_err *err)
{
	double v = json_number_value(j);

	if (!j || json_is_null(j))
		return 0;
	if (!json_is_number(j) || v < 0 || v > INPUT_MAX_WAIT_MS / 1000.0)
		return sb_fail(err, SB_INVALID,
			       "'%s' must be seconds, from 0 to %d", name,
			       INPUT_MAX_WAIT_MS / 1000);
	*ret_ms = llround(v * 1000);
	return 0;
}
