/* SPDX-License-Identifier: Apache-2.0 */
/* What a request wants of mouse and keyboard, as steps. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/input.h"

#define MAX_PATH 1000
#define DRAG_STEP_MS 10 /* so that programs see that it moves */

struct mouse {
	const json_t *body;
	int button;
	struct input_plan *plan;
};

static int unknown(const char *what, const char *name, const char *all,
		   struct sb_err *err)
{
	return sb_fail(err, SB_INVALID, "the %s has no action '%.32s'%s%s",
		       what, name, ": it is one of ", all);
}

static int move_there(const struct mouse *m, bool must, struct sb_err *err)
{
	const json_t *at = json_object_get(m->body, "coordinate");
	int x, y;

	if (!at && (json_object_get(m->body, "x") ||
		    json_object_get(m->body, "y") || must))
		at = m->body;
	if (!at)
		return 0;
	if (input_parse_point(at, at == m->body ? "x, y" : "coordinate", &x, &y,
			      err) < 0)
		return -1;
	return input_move(m->plan, x, y, err);
}

static int click(const struct mouse *m, int button, long long times,
		 struct sb_err *err)
{
	if (json_get_int(m->body, "clicks", 1, 10, &times, err) < 0 ||
	    move_there(m, false, err) < 0)
		return -1;
	return input_click(m->plan, button, (int)times, err);
}

/* All points but the first, with the button held. */
static int drag_path(const struct mouse *m, const json_t *path,
		     struct sb_err *err)
{
	size_t n = json_array_size(path);
	int x, y;

	if (n < 2 || n > MAX_PATH)
		return sb_fail(err, SB_INVALID,
			       "'path' must have 2 to %d points", MAX_PATH);
	for (size_t i = 0; i < n; i++) {
		if (input_parse_point(json_array_get(path, i), "path", &x, &y,
				      err) < 0 ||
		    input_move(m->plan, x, y, err) < 0 ||
		    (i == 0 && input_button(m->plan, INPUT_DOWN, m->button,
					    false, err) < 0) ||
		    input_wait(m->plan, DRAG_STEP_MS, err) < 0)
			return -1;
	}
	return input_button(m->plan, INPUT_UP, m->button, false, err);
}

/* Along a path, or from where it is or (start_x, start_y) to (x, y). */
static int drag(const struct mouse *m, struct sb_err *err)
{
	const json_t *path = json_object_get(m->body, "path");
	const json_t *sx = json_object_get(m->body, "start_x");
	const json_t *sy = json_object_get(m->body, "start_y");
	autojson json_t *from = NULL;
	int x, y;

	if (path)
		return drag_path(m, path, err);
	if (sx || sy) {
		from = json_pack("[O?, O?]", sx, sy);
		if (!from || input_parse_point(from, "start_x, start_y", &x, &y,
					       err) < 0)
			return sb_fail(err, SB_INVALID,
				       "'start_x' and 'start_y' must both be "
				       "numbers");
		if (input_move(m->plan, x, y, err) < 0)
			return -1;
	}
	if (input_button(m->plan, INPUT_DOWN, m->button, false, err) < 0 ||
	    input_wait(m->plan, DRAG_STEP_MS, err) < 0 ||
	    move_there(m, true, err) < 0 ||
	    input_wait(m->plan, DRAG_STEP_MS, err) < 0)
		return -1;
	return input_button(m->plan, INPUT_UP, m->button, false, err);
}

static int scroll(const struct mouse *m, struct sb_err *err)
{
	const char *direction = "down";
	long long amount = 3, dx = 0, dy = 0;

	if (json_get_str(m->body, "direction", &direction, err) < 0 ||
	    json_get_int(m->body, "amount", 0, 100, &amount, err) < 0 ||
	    json_get_int(m->body, "dx", -100, 100, &dx, err) < 0 ||
	    json_get_int(m->body, "dy", -100, 100, &dy, err) < 0 ||
	    move_there(m, false, err) < 0)
		return -1;
	if (!dx && !dy)
		return input_scroll(m->plan, direction, amount, err);
	if (dy &&
	    input_scroll(m->plan, dy < 0 ? "up" : "down", llabs(dy), err) < 0)
		return -1;
	return dx ? input_scroll(m->plan, dx < 0 ? "left" : "right", llabs(dx),
				 err)
		  : 0;
}

static int hold_button(const struct mouse *m, enum input_kind kind,
		       struct sb_err *err)
{
	if (move_there(m, false, err) < 0)
		return -1;
	return input_button(m->plan, kind, m->button, true, err);
}

static const struct {
	const char *name;
	int button, times; /* button 0: the one that is asked for */
} clicks[] = {
	{ "click", 0, 1 },
	{ "double", 0, 2 },
	{ "triple", 0, 3 },
	{ "double_click", 0, 2 },
	{ "triple_click", 0, 3 },
	{ "left_click", BUTTON_LEFT, 1 },
	{ "middle_click", BUTTON_MIDDLE, 1 },
	{ "right_click", BUTTON_RIGHT, 1 },
};

static int mouse_action(const struct mouse *m, const char *name,
			struct sb_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(clicks); i++)
		if (strcmp(name, clicks[i].name) == 0)
			return click(m,
				     clicks[i].button ? clicks[i].button
						      : m->button,
				     clicks[i].times, err);
	if (strcmp(name, "move") == 0)
		return move_there(m, true, err);
	if (strcmp(name, "drag") == 0)
		return drag(m, err);
	if (strcmp(name, "scroll") == 0)
		return scroll(m, err);
	if (strcmp(name, "down") == 0)
		return hold_button(m, INPUT_DOWN, err);
	if (strcmp(name, "up") == 0)
		return hold_button(m, INPUT_UP, err);
	if (strcmp(name, "position") == 0)
		return 0;
	return unknown("mouse", name,
		       "move, click, double, triple, right_click, "
		       "middle_click, drag, scroll, down, up, position",
		       err);
}

int input_parse_mouse(const json_t *body, struct input_plan *p,
		      struct sb_err *err)
{
	struct mouse m = { body, BUTTON_LEFT, p };
	const char *action = "click", *keys = NULL;

	if (json_get_str(body, "action", &action, err) < 0 ||
	    json_get_str(body, "modifiers", &keys, err) < 0 ||
	    input_parse_button(json_object_get(body, "button"), &m.button,
			       err) < 0 ||
	    (keys && input_key(p, INPUT_KEY_DOWN, keys, false, err) < 0) ||
	    mouse_action(&m, action, err) < 0)
		return -1;
	return keys ? input_key(p, INPUT_KEY_UP, keys, false, err) : 0;
}

/* "ctrl+c", or ["ctrl", "c"]; the caller's. */
static int get_chord(const json_t *body, char **ret, struct sb_err *err)
{
	const json_t *j = json_object_get(body, "keys"), *one;
	autobuf struct buf b = { 0 };
	size_t i;

	if (!j)
		j = json_object_get(body, "key");
	if (!j)
		j = json_object_get(body, "text");
	if (json_is_string(j))
		buf_adds(&b, json_string_value(j));
	json_array_foreach(j, i, one) {
		const char *name = json_string_value(one);

		if (!name || i > 16)
			return sb_fail(err, SB_INVALID,
				       "'keys' must be names of keys");
		buf_addf(&b, "%s%s", i ? "+" : "", name);
	}
	if (!b.len)
		return sb_fail(err, SB_INVALID,
			       "'key' must name a key, such as \"Return\" or "
			       "\"ctrl+c\"");
	*ret = steal(&b.p);
	return 0;
}

static int hold(const json_t *body, const char *chord, struct input_plan *p,
		struct sb_err *err)
{
	long long ms = 1000;

	if (input_parse_seconds(json_object_get(body, "duration"), "duration",
				&ms, err) < 0 ||
	    input_key(p, INPUT_KEY_DOWN, chord, false, err) < 0 ||
	    input_wait(p, ms, err) < 0)
		return -1;
	return input_key(p, INPUT_KEY_UP, chord, false, err);
}

static int key_action(const json_t *body, const char *name,
		      struct input_plan *p, struct sb_err *err)
{
	autofree char *chord = NULL;
	long long times = 1;

	if (json_get_int(body, "repeat", 1, 100, &times, err) < 0 ||
	    get_chord(body, &chord, err) < 0)
		return -1;
	if (strcmp(name, "key") == 0 || strcmp(name, "press") == 0 ||
	    strcmp(name, "hotkey") == 0 || strcmp(name, "keypress") == 0)
		return input_press(p, chord, times, err);
	if (strcmp(name, "hold") == 0)
		return hold(body, chord, p, err);
	if (strcmp(name, "down") == 0)
		return input_key(p, INPUT_KEY_DOWN, chord, true, err);
	if (strcmp(name, "up") == 0)
		return input_key(p, INPUT_KEY_UP, chord, true, err);
	return unknown("keyboard", name,
		       "type, key (or press, hotkey), hold, down, up", err);
}

static int parse_method(const json_t *body, struct input_plan *p,
			struct sb_err *err)
{
	static const char *const names[] = { "auto", "keys", "paste" };
	const char *name = "auto";

	if (json_get_str(body, "method", &name, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0) {
			p->method = (enum input_method)i;
			return 0;
		}
	return sb_fail(err, SB_INVALID,
		       "'method' must be auto, keys or paste, not '%.32s'",
		       name);
}

int input_parse_keyboard(const json_t *body, struct input_plan *p,
			 struct sb_err *err)
{
	const char *text = NULL, *action = NULL;

	if (json_get_str(body, "text", &text, err) < 0 ||
	    json_get_str(body, "action", &action, err) < 0 ||
	    parse_method(body, p, err) < 0)
		return -1;
	if (!action)
		action = text ? "type" : "key";
	if (strcmp(action, "type") != 0 && strcmp(action, "write") != 0)
		return key_action(body, action, p, err);
	if (!text)
		return sb_fail(err, SB_INVALID, "'text' is needed");
	return input_type(p, text, err);
}
