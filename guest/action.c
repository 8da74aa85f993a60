/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of models that use computers, as steps of input. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/action.h"

#define NOTCH 100	    /* pixels that OpenAI's scroll means by a notch */
#define DRAG_MS 20	    /* between its places, for programs to see them */
#define WAIT_OPENAI_MS 1000 /* their "wait" does not say */
#define MAX_PATH 1000

struct one {
	const json_t *j;
	struct action *a;
	struct input_plan *p;
};

static int move_to(const struct one *o, const char *name, bool must,
		   struct sb_err *err)
{
	const json_t *at = json_object_get(o->j, name);
	int x, y;

	if (!must && !at)
		return 0;
	if (input_parse_point(at, name, &x, &y, err) < 0)
		return -1;
	return input_move(o->p, x, y, err);
}

/* Anthropic: modifiers in "text" or "key", held meanwhile. */
static int with_keys(const struct one *o, enum input_kind kind,
		     struct sb_err *err)
{
	const char *text = NULL, *key = NULL;

	if (json_get_str(o->j, "text", &text, err) < 0 ||
	    json_get_str(o->j, "key", &key, err) < 0)
		return -1;
	if (str_empty(text))
		text = key;
	return str_empty(text) ? 0 : input_key(o->p, kind, text, false, err);
}

static int a_click(const struct one *o, int button, int times,
		   struct sb_err *err)
{
	if (move_to(o, "coordinate", false, err) < 0 ||
	    with_keys(o, INPUT_KEY_DOWN, err) < 0 ||
	    input_click(o->p, button, times, err) < 0)
		return -1;
	return with_keys(o, INPUT_KEY_UP, err);
}

static int a_drag(const struct one *o, struct sb_err *err)
{
	if (move_to(o, "start_coordinate", false, err) < 0 ||
	    with_keys(o, INPUT_KEY_DOWN, err) < 0 ||
	    input_button(o->p, INPUT_DOWN, BUTTON_LEFT, false, err) < 0 ||
	    input_wait(o->p, DRAG_MS, err) < 0 ||
	    move_to(o, "coordinate", true, err) < 0 ||
	    input_wait(o->p, DRAG_MS, err) < 0 ||
	    input_button(o->p, INPUT_UP, BUTTON_LEFT, false, err) < 0)
		return -1;
	return with_keys(o, INPUT_KEY_UP, err);
}

static int a_scroll(const struct one *o, struct sb_err *err)
{
	const char *direction = NULL;
	long long amount = 3;

	if (json_get_str(o->j, "scroll_direction", &direction, err) < 0 ||
	    json_get_int(o->j, "scroll_amount", 0, 100, &amount, err) < 0 ||
	    move_to(o, "coordinate", false, err) < 0 ||
	    with_keys(o, INPUT_KEY_DOWN, err) < 0 ||
	    input_scroll(o->p, direction, amount, err) < 0)
		return -1;
	return with_keys(o, INPUT_KEY_UP, err);
}

static int need_text(const struct one *o, const char **ret, struct sb_err *err)
{
	*ret = NULL;
	if (json_get_str(o->j, "text", ret, err) < 0)
		return -1;
	return *ret ? 0 : sb_fail(err, SB_INVALID, "'text' is needed");
}

/* Several chords, as xdotool takes them: "ctrl+a Delete". */
static int a_key(const struct one *o, struct sb_err *err)
{
	const char *text;
	long long times = 1;
	autofree char *copy = NULL;
	char *save, *word;

	if (need_text(o, &text, err) < 0 ||
	    json_get_int(o->j, "repeat", 1, 100, &times, err) < 0)
		return -1;
	if (strcmp(text, " ") == 0)
		text = "space";
	copy = xstrdup(text);
	word = strtok_r(copy, " ", &save);
	if (!word)
		return sb_fail(err, SB_INVALID, "'text' names no key");
	for (; word; word = strtok_r(NULL, " ", &save))
		if (input_press(o->p, word, times, err) < 0)
			return -1;
	return 0;
}

static int a_type(const struct one *o, struct sb_err *err)
{
	const char *text;

	return need_text(o, &text, err) < 0 ? -1 : input_type(o->p, text, err);
}

static int a_hold(const struct one *o, struct sb_err *err)
{
	const char *text;
	long long ms = 1000;

	if (need_text(o, &text, err) < 0 ||
	    input_parse_seconds(json_object_get(o->j, "duration"), "duration",
				&ms, err) < 0 ||
	    input_key(o->p, INPUT_KEY_DOWN, text, false, err) < 0 ||
	    input_wait(o->p, ms, err) < 0)
		return -1;
	return input_key(o->p, INPUT_KEY_UP, text, false, err);
}

/* OpenAI's may say how long, too, in ms. */
static int wait(const struct one *o, struct sb_err *err)
{
	long long ms = WAIT_OPENAI_MS;

	if (json_get_int(o->j, "ms", 0, INPUT_MAX_WAIT_MS, &ms, err) < 0 ||
	    input_parse_seconds(json_object_get(o->j, "duration"), "duration",
				&ms, err) < 0)
		return -1;
	return input_wait(o->p, ms, err);
}

static int a_zoom(const struct one *o, struct sb_err *err)
{
	const json_t *r = json_object_get(o->j, "region");
	int *n = o->a->region;

	for (size_t i = 0; i < 4; i++) {
		const json_t *j = json_array_get(r, i);
		double v = json_number_value(j);

		if (json_array_size(r) != 4 || !json_is_number(j) || v < 0 ||
		    v > 100000)
			return sb_fail(err, SB_INVALID,
				       "'region' must be [x0, y0, x1, y1]");
		n[i] = (int)v;
	}
	if (n[0] >= n[2] || n[1] >= n[3])
		return sb_fail(err, SB_INVALID, "'region' is empty");
	o->a->zoom = true;
	return 0;
}

static int a_position(const struct one *o, struct sb_err *err)
{
	o->a->position = true;
	return 0;
}

/* The picture comes with every answer. */
static int nothing(const struct one *o, struct sb_err *err)
{
	return 0;
}

static int a_move(const struct one *o, struct sb_err *err)
{
	return move_to(o, "coordinate", true, err);
}

static int a_down(const struct one *o, struct sb_err *err)
{
	return move_to(o, "coordinate", false, err) < 0
		       ? -1
		       : input_button(o->p, INPUT_DOWN, BUTTON_LEFT, true, err);
}

static int a_up(const struct one *o, struct sb_err *err)
{
	return move_to(o, "coordinate", false, err) < 0
		       ? -1
		       : input_button(o->p, INPUT_UP, BUTTON_LEFT, true, err);
}

/* OpenAI: ["CTRL", "C"] is what others call ctrl+c. */
static int o_chord(const struct one *o, char **ret, struct sb_err *err)
{
	const json_t *keys = json_object_get(o->j, "keys"), *key;
	autobuf struct buf b = { 0 };
	size_t i;

	if (keys && !json_is_array(keys))
		return sb_fail(err, SB_INVALID,
			       "'keys' must be a list of names of keys");
	json_array_foreach(keys, i, key) {
		const char *name = json_string_value(key);
		char letter[2] = { 0 };

		if (str_empty(name) || i > 16)
			return sb_fail(err, SB_INVALID,
				       "'keys' must be names of keys");
		letter[0] = name[0];
		if (letter[0] >= 'A' && letter[0] <= 'Z' && !name[1]) {
			letter[0] = (char)(letter[0] - 'A' + 'a');
			name = letter;
		}
		buf_addf(&b, "%s%s", i ? "+" : "", name);
	}
	*ret = steal(&b.p);
	return 0;
}

static int o_held(const struct one *o, enum input_kind kind, struct sb_err *err)
{
	autofree char *chord = NULL;

	if (o_chord(o, &chord, err) < 0)
		return -1;
	return chord ? input_key(o->p, kind, chord, false, err) : 0;
}

static int o_move(const struct one *o, struct sb_err *err)
{
	int x, y;

	if (input_parse_point(o->j, "x, y", &x, &y, err) < 0)
		return -1;
	return input_move(o->p, x, y, err);
}

static int o_click(const struct one *o, int times, struct sb_err *err)
{
	int button = BUTTON_LEFT;

	if (input_parse_button(json_object_get(o->j, "button"), &button, err) <
		    0 ||
	    o_move(o, err) < 0 || o_held(o, INPUT_KEY_DOWN, err) < 0 ||
	    input_click(o->p, button, times, err) < 0)
		return -1;
	return o_held(o, INPUT_KEY_UP, err);
}

static int o_click1(const struct one *o, struct sb_err *err)
{
	return o_click(o, 1, err);
}

static int o_click2(const struct one *o, struct sb_err *err)
{
	return o_click(o, 2, err);
}

static long long notches(long long pixels)
{
	return pixels ? MAX(1, (llabs(pixels) + NOTCH / 2) / NOTCH) : 0;
}

static int o_scroll(const struct one *o, struct sb_err *err)
{
	long long x = 0, y = 0;

	if (json_get_int(o->j, "scroll_x", -10000, 10000, &x, err) < 0 ||
	    json_get_int(o->j, "scroll_y", -10000, 10000, &y, err) < 0 ||
	    o_move(o, err) < 0 || o_held(o, INPUT_KEY_DOWN, err) < 0 ||
	    input_scroll(o->p, y < 0 ? "up" : "down", notches(y), err) < 0 ||
	    input_scroll(o->p, x < 0 ? "left" : "right", notches(x), err) < 0)
		return -1;
	return o_held(o, INPUT_KEY_UP, err);
}

static int o_keypress(const struct one *o, struct sb_err *err)
{
	autofree char *chord = NULL;

	if (o_chord(o, &chord, err) < 0)
		return -1;
	return chord ? input_press(o->p, chord, 1, err)
		     : sb_fail(err, SB_INVALID, "'keys' is needed");
}

static int o_drag(const struct one *o, struct sb_err *err)
{
	const json_t *path = json_object_get(o->j, "path"), *at;
	size_t i, n = json_array_size(path);
	int x, y;

	if (n < 2 || n > MAX_PATH)
		return sb_fail(err, SB_INVALID,
			       "'path' must have 2 to %d points", MAX_PATH);
	if (o_held(o, INPUT_KEY_DOWN, err) < 0)
		return -1;
	json_array_foreach(path, i, at) {
		if (input_parse_point(at, "path", &x, &y, err) < 0 ||
		    input_move(o->p, x, y, err) < 0 ||
		    (i == 0 && input_button(o->p, INPUT_DOWN, BUTTON_LEFT,
					    false, err) < 0) ||
		    input_wait(o->p, DRAG_MS, err) < 0)
			return -1;
	}
	if (input_button(o->p, INPUT_UP, BUTTON_LEFT, false, err) < 0)
		return -1;
	return o_held(o, INPUT_KEY_UP, err);
}

static const struct {
	const char *name;
	int button, times;
} clicks[] = {
	{ "left_click", BUTTON_LEFT, 1 },
	{ "right_click", BUTTON_RIGHT, 1 },
	{ "middle_click", BUTTON_MIDDLE, 1 },
	{ "double_click", BUTTON_LEFT, 2 },
	{ "triple_click", BUTTON_LEFT, 3 },
};

struct row {
	const char *name;
	int (*run)(const struct one *o, struct sb_err *err);
};
static const struct row anthropic[] = {
	{ "key", a_key },
	{ "type", a_type },
	{ "mouse_move", a_move },
	{ "left_click_drag", a_drag },
	{ "left_mouse_down", a_down },
	{ "left_mouse_up", a_up },
	{ "scroll", a_scroll },
	{ "hold_key", a_hold },
	{ "wait", wait },
	{ "screenshot", nothing },
	{ "cursor_position", a_position },
	{ "zoom", a_zoom },
};
static const struct row openai[] = {
	{ "click", o_click1 },	   { "double_click", o_click2 },
	{ "scroll", o_scroll },	   { "type", a_type },
	{ "wait", wait },	   { "keypress", o_keypress },
	{ "drag", o_drag },	   { "move", o_move },
	{ "screenshot", nothing },
};

static int find(const struct row *rows, size_t n, const char *name,
		const struct one *o, struct sb_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].run(o, err);
	sb_fail(err, SB_INVALID, "there is no action '%.32s'", name);
	return sb_hint(err, "the actions are those of Anthropic's "
			    "computer_20251124 (\"action\") and of OpenAI's "
			    "computer use (\"type\")");
}

static int parse_one(const json_t *j, struct action *a, struct sb_err *err)
{
	const char *name = json_string_value(json_object_get(j, "action"));
	const char *type = json_string_value(json_object_get(j, "type"));
	struct one o = { j, a, &a->plan };

	a->zoom = false; /* the picture is for what is done last */
	if (!name && type)
		return find(openai, ARRAY_SIZE(openai), type, &o, err);
	if (!name)
		return sb_fail(err, SB_INVALID,
			       "\"action\" or \"type\" must name an action");
	for (size_t i = 0; i < ARRAY_SIZE(clicks); i++)
		if (strcmp(clicks[i].name, name) == 0)
			return a_click(&o, clicks[i].button, clicks[i].times,
				       err);
	return find(anthropic, ARRAY_SIZE(anthropic), name, &o, err);
}

static void drop_nulls(json_t *obj)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe(obj, next, key, v)
		if (json_is_null(v))
			json_object_del(obj, key);
}

void action_drop_nulls(json_t *body)
{
	json_t *j;
	size_t i;

	drop_nulls(body);
	drop_nulls(json_object_get(body, "input"));
	drop_nulls(json_object_get(body, "action"));
	json_array_foreach(json_object_get(body, "actions"), i, j)
		drop_nulls(j);
}

int action_parse(const json_t *body, struct action *ret, struct sb_err *err)
{
	const json_t *list = json_object_get(body, "actions"), *j;
	size_t i;

	if (json_is_object(json_object_get(body, "input")))
		return parse_one(json_object_get(body, "input"), ret, err);
	if (json_is_object(json_object_get(body, "action")))
		return parse_one(json_object_get(body, "action"), ret, err);
	if (!list)
		return parse_one(body, ret, err);
	if (!json_is_array(list) || json_array_size(list) > ACTION_MAX)
		return sb_fail(err, SB_INVALID,
			       "'actions' must be a list of at most %d",
			       ACTION_MAX);
	json_array_foreach(list, i, j)
		if (parse_one(j, ret, err) < 0)
			return sb_wrap(err, "actions[%zu]", i);
	return 0;
}
