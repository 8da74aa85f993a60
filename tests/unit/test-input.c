/* SPDX-License-Identifier: Apache-2.0 */
/* Names of keys, and requests for input as steps. */
#include "config.h"

#include <X11/keysym.h>
#include <string.h>

#include "common/json.h"
#include "guest/action.h"
#include "guest/input-keys.h"
#include "tap.h"

/* The keysyms of a chord, in one text; "-" if it is refused. */
static const char *keys(const char *chord)
{
	static char text[128];
	unsigned long syms[KEYS_MAX];
	struct sb_err err;
	size_t n, len = 0;

	if (keys_parse(chord, syms, &n, &err) < 0)
		return "-";
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%lx",
					i ? " " : "", syms[i]);
	return text;
}

static void test_keys(void)
{
	static const struct {
		const char *chord, *syms;
	} rows[] = {
		{ "a", "61" },
		{ "A", "41" },
		{ "ctrl+c", "ffe3 63" },
		{ "Control_L+Shift_L+t", "ffe3 ffe1 74" },
		{ "CTRL+alt+Delete", "ffe3 ffe9 ffff" },
		{ "ctrl++", "ffe3 2b" },
		{ "+", "2b" },
		{ "Page_Down", "ff56" },
		{ "PAGEDOWN", "ff56" },
		{ "F5", "ffc2" },
		{ "\xc3\xa9", "e9" },
		{ "\xe4\xb8\xad", "1004e2d" },
		{ "EuroSign", "20ac" },
		{ "XF86Back", "1008ff26" },
		{ "", "-" },
		{ "ctrl+", "-" },
		{ "nokey", "-" },
		{ "a+b+c+d+e+f+g+h+i", "-" },
		{ "\xff", "-" },
	};
	unsigned long syms[KEYS_MAX];
	struct sb_err err;
	unsigned int c;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		is_str(keys(rows[i].chord), rows[i].syms, rows[i].chord);
	ok(keys_parse("Retrun", syms, &n, &err) < 0 &&
		   strstr(err.msg, "return"),
	   "near names");
	ok(keys_next_char("\xf0\x9f\x98\x80", &c) == 4 && c == 0x1f600,
	   "an emoji");
	ok(keys_next_char("\xe4\xb8", &c) == 0, "half a character");
	ok(keys_of_char('\n') == XK_Return && keys_of_char('\t') == XK_Tab &&
		   !keys_of_char(1),
	   "characters that are keys");
}

/* The steps of an action, in one text; "-" if it is refused. */
static const char *steps(const char *json)
{
	static const char *const kinds[] = { "move",	"down", "up",  "press",
					     "release", "type", "wait" };
	static char text[1024];
	struct action a = { 0 };
	autojson json_t *j = NULL;
	struct sb_err err;
	size_t len = 0;

	text[0] = '\0';
	if (json_parse(json, strlen(json), &j, &err) < 0)
		return "?";
	action_drop_nulls(j);
	if (action_parse(j, &a, &err) < 0) {
		input_plan_done(&a.plan);
		return "-";
	}
	for (size_t i = 0; i < a.plan.n; i++) {
		const struct input_step *s = &a.plan.steps[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
					i ? " " : "", kinds[s->kind]);
		if (s->kind == INPUT_MOVE)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						":%d,%d", s->x, s->y);
		else if (s->kind == INPUT_DOWN || s->kind == INPUT_UP)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						":%d", s->button);
		else if (s->text)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						":%s", s->text);
	}
	input_plan_done(&a.plan);
	return text;
}

static void test_actions(void)
{
	static const struct {
		const char *json, *steps;
	} rows[] = {
		{ "{\"action\":\"left_click\",\"coordinate\":[1,2]}",
		  "move:1,2 down:1 up:1" },
		{ "{\"action\":\"right_click\",\"text\":\"shift\"}",
		  "press:shift down:3 up:3 release:shift" },
		{ "{\"action\":\"double_click\"}", "down:1 up:1 down:1 up:1" },
		{ "{\"action\":\"left_click_drag\",\"start_coordinate\":[1,2],"
		  "\"coordinate\":[3,4]}",
		  "move:1,2 down:1 wait move:3,4 wait up:1" },
		{ "{\"action\":\"scroll\",\"coordinate\":[1,2],"
		  "\"scroll_direction\":\"left\",\"scroll_amount\":1}",
		  "move:1,2 down:6 up:6" },
		{ "{\"action\":\"scroll\",\"scroll_direction\":\"up\","
		  "\"scroll_amount\":1,\"text\":\"ctrl\"}",
		  "press:ctrl down:4 up:4 release:ctrl" },
		{ "{\"action\":\"key\",\"text\":\"ctrl+a Delete\"}",
		  "press:ctrl+a release:ctrl+a press:Delete release:Delete" },
		{ "{\"input\":{\"action\":\"type\",\"text\":\"x\"},"
		  "\"type\":\"tool_use\"}",
		  "type:x" },
		{ "{\"action\":\"screenshot\"}", "" },
		{ "{\"action\":\"zoom\",\"region\":[0,0,5,5]}", "" },
		{ "{\"type\":\"click\",\"x\":1,\"y\":2,\"button\":\"wheel\"}",
		  "move:1,2 down:2 up:2" },
		{ "{\"type\":\"click\",\"x\":1,\"y\":2,\"button\":\"back\"}",
		  "move:1,2 down:8 up:8" },
		{ "{\"type\":\"click\",\"x\":1,\"y\":2,"
		  "\"button\":\"forward\"}",
		  "move:1,2 down:9 up:9" },
		{ "{\"type\":\"scroll\",\"x\":1,\"y\":2,\"scroll_x\":-100,"
		  "\"scroll_y\":0}",
		  "move:1,2 down:6 up:6" },
		{ "{\"type\":\"keypress\",\"keys\":[\"CTRL\",\"C\"]}",
		  "press:CTRL+c release:CTRL+c" },
		{ "{\"type\":\"scroll\",\"x\":1,\"y\":2,\"scroll_y\":200}",
		  "move:1,2 down:5 up:5 down:5 up:5" },
		{ "{\"type\":\"drag\",\"path\":[{\"x\":1,\"y\":2},"
		  "{\"x\":3,\"y\":4}]}",
		  "move:1,2 down:1 wait move:3,4 wait up:1" },
		{ "{\"actions\":[{\"type\":\"move\",\"x\":1,\"y\":2},"
		  "{\"action\":\"wait\",\"duration\":1}]}",
		  "move:1,2 wait" },
		{ "{\"actions\":[{\"type\":\"wait\"},{\"type\":\"fly\"}]}",
		  "-" },
		{ "{\"actions\":{}}", "-" },
		{ "{\"action\":\"fly\"}", "-" },
		{ "{\"action\":\"type\"}", "-" },
		{ "{\"action\":\"mouse_move\",\"coordinate\":[1]}", "-" },
		{ "{\"action\":\"mouse_move\",\"coordinate\":[1e30,2]}", "-" },
		{ "{\"action\":\"wait\",\"duration\":-1}", "-" },
		{ "{\"action\":\"wait\",\"duration\":301}", "-" },
		{ "{\"action\":\"zoom\",\"region\":[5,5,5,5]}", "-" },
		{ "{\"action\":\"zoom\",\"region\":[5,5]}", "-" },
		{ "{\"type\":\"click\",\"x\":1,\"y\":2,\"button\":\"up\"}",
		  "-" },
		{ "{\"type\":\"drag\",\"path\":[]}", "-" },
		{ "{}", "-" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		is_str(steps(rows[i].json), rows[i].steps, rows[i].json);
}

/* What real calls have beside what is needed. */
static void test_lenient(void)
{
	static const struct {
		const char *json, *steps;
	} rows[] = {
		{ "{\"action\":\"left_click\",\"coordinate\":null,"
		  "\"text\":null,\"key\":null,\"region\":null}",
		  "down:1 up:1" },
		{ "{\"action\":\"scroll\",\"scroll_direction\":\"up\","
		  "\"scroll_amount\":null,\"coordinate\":null}",
		  "down:4 up:4 down:4 up:4 down:4 up:4" },
		{ "{\"action\":\"key\",\"text\":\"a\",\"repeat\":null}",
		  "press:a release:a" },
		{ "{\"action\":null,\"actions\":null,\"input\":null,"
		  "\"type\":\"click\",\"x\":1,\"y\":2,\"button\":null,"
		  "\"keys\":null}",
		  "move:1,2 down:1 up:1" },
		{ "{\"type\":\"computer_call\",\"action\":{\"type\":\"wait\","
		  "\"ms\":null,\"new\":1}}",
		  "wait" },
		{ "{\"actions\":[{\"action\":\"hold_key\",\"text\":\"a\","
		  "\"duration\":null}]}",
		  "press:a wait release:a" },
		{ "{\"type\":\"tool_use\",\"cache_control\":{},\"input\":"
		  "{\"action\":\"type\",\"text\":\"x\",\"why\":\"\"}}",
		  "type:x" },
		{ "{\"action\":\"mouse_move\",\"coordinate\":null}", "-" },
		{ "{\"action\":\"type\",\"text\":null}", "-" },
		{ "{\"action\":\"type\",\"text\":1}", "-" },
		{ "{\"action\":\"left_click\",\"text\":1}", "-" },
		{ "{\"action\":\"left_click\",\"coordinate\":\"1,2\"}", "-" },
		{ "{\"action\":\"key\",\"text\":\"a\",\"repeat\":\"2\"}", "-" },
		{ "{\"type\":\"click\",\"x\":1,\"y\":2,"
		  "\"keys\":\"CTRL\"}",
		  "-" },
		{ "{\"actions\":[null]}", "-" },
		{ "{\"action\":null}", "-" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		is_str(steps(rows[i].json), rows[i].steps, rows[i].json);
}

static bool zooms(const char *json)
{
	struct action a = { 0 };
	autojson json_t *j = NULL;
	bool good = json_parse(json, strlen(json), &j, NULL) == 0 &&
		    action_parse(j, &a, NULL) == 0;

	input_plan_done(&a.plan);
	return good && a.zoom;
}

#define ZOOM "{\"action\":\"zoom\",\"region\":[0,0,5,5]}"

static void test_zoom(void)
{
	ok(zooms(ZOOM), "zoom");
	ok(zooms("{\"actions\":[{\"action\":\"left_click\"}," ZOOM "]}"),
	   "zoom after a click");
	ok(!zooms("{\"actions\":[" ZOOM ",{\"action\":\"left_click\"}]}"),
	   "a click after zoom");
	ok(!zooms("{\"actions\":[" ZOOM ",{\"action\":\"screenshot\"}]}"),
	   "the whole after zoom");
}

int main(void)
{
	test_keys();
	test_actions();
	test_lenient();
	test_zoom();
	return tap_done();
}
