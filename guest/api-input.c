/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of mouse and keyboard. */
#include "config.h"

#include <stdlib.h>

#include "common/json.h"
#include "guest/api.h"
#include "guest/guestd.h"
#include "guest/input-run.h"

struct asked {
	struct http_req *req;
	struct input_run *run;
};

static void on_done(void *arg, const struct screen_input *s,
		    const struct sb_err *err)
{
	struct asked *a = arg;
	json_t *j;

	http_on_leave(a->req, NULL, NULL);
	if (err) {
		http_fail(a->req, err);
	} else {
		j = json_pack("{s:b, s:{s:i, s:i}}", "success", 1, "cursor",
			      "x", s->pointer.x, "y", s->pointer.y);
		json_put(j, "screen_width", json_integer(s->screen_width));
		json_put(j, "screen_height", json_integer(s->screen_height));
		http_reply_json(a->req, 200, j);
	}
	free(a);
}

static void on_leave(void *arg)
{
	struct asked *a = arg;

	input_run_cancel(a->run);
}

static void serve(struct http_req *req,
		  int (*parse)(const json_t *body, struct input_plan *p,
			       struct sb_err *err))
{
	struct asked *a = xcalloc(1, sizeof(*a));
	autojson json_t *body = NULL;
	struct input_plan plan = { 0 };
	struct sb_err err;

	a->req = req;
	if (http_body_json(req, &body, &err) < 0 ||
	    parse(body, &plan, &err) < 0 ||
	    input_run_start(http_ctx(req), &plan, on_done, a, &a->run, &err) <
		    0) {
		input_plan_done(&plan);
		http_fail(req, &err);
		free(a);
		return;
	}
	http_on_leave(req, on_leave, a);
}

static void post_mouse(struct http_req *req)
{
	serve(req, input_parse_mouse);
}

static void post_keyboard(struct http_req *req)
{
	serve(req, input_parse_keyboard);
}

static const struct http_schema pointer_schema = {
	"Pointer",
	(const struct http_field[]){ { "x", HTTP_INT, "Pixels from the left" },
				     { "y", HTTP_INT, "Pixels from the top" },
				     { 0 } },
	"Where the pointer is",
	"{'x': 640, 'y': 400}",
};

static const struct http_schema done_schema = {
	"InputDone",
	(const struct http_field[]){
		{ "success", HTTP_BOOL, "True" },
		{ "cursor", HTTP_OBJ, "Where the pointer is",
		  .schema = &pointer_schema },
		{ "screen_width", HTTP_INT, "Pixels of the screen" },
		{ "screen_height", HTTP_INT, "Pixels of the screen" },
		{ 0 } },
	"Input that has been given",
	"{'success': true, 'cursor': {'x': 640, 'y': 400}, 'screen_width': "
	"1280, 'screen_height': 800}",
};

static const struct http_answer done_out[] = {
	{ 200, "It is done", &done_schema },
	{ 0 },
};

static const struct http_field mouse_in[] = {
	{ "action", HTTP_STR, "What to do", .dflt = "'click'",
	  .words = "move|click|double|triple|double_click|triple_click|"
		   "left_click|middle_click|right_click|drag|scroll|down|up|"
		   "position" },
	{ "x", HTTP_NUM, "Where; where the pointer is if not given" },
	{ "y", HTTP_NUM, "Where; where the pointer is if not given" },
	{ "coordinate", HTTP_LIST, "The same as [x, y]", .of = HTTP_NUM },
	{ "button", HTTP_STR | HTTP_INT,
	  "left, middle (or wheel), right, back, forward, or 1 to 9",
	  .dflt = "'left'" },
	{ "clicks", HTTP_INT, "How many", .min = 1, .max = 10 },
	{ "modifiers", HTTP_STR, "Keys held meanwhile, such as ctrl+shift" },
	{ "start_x", HTTP_NUM, "Where a drag begins" },
	{ "start_y", HTTP_NUM, "Where a drag begins" },
	{ "path", HTTP_LIST, "Points of a drag, [x, y] or {x, y}",
	  .of = HTTP_LIST | HTTP_OBJ },
	{ "direction", HTTP_STR, "To where a wheel turns",
	  .words = "up|down|left|right", .dflt = "'down'" },
	{ "amount", HTTP_INT, "Notches of the wheel", .min = 0, .max = 100,
	  .dflt = "3" },
	{ "dx", HTTP_INT, "Notches to the right, in place of these two",
	  .min = -100, .max = 100 },
	{ "dy", HTTP_INT, "Notches down, in place of these two", .min = -100,
	  .max = 100 },
	{ 0 },
};

static const struct http_field keyboard_in[] = {
	{ "action", HTTP_STR, "What to do; by what is given if not said",
	  .words = "type|write|key|press|hotkey|keypress|hold|down|up" },
	{ "text", HTTP_STR, "What to type, in any script" },
	{ "key", HTTP_STR,
	  "A key or a chord: Return, Page_Down, ctrl+shift+t" },
	{ "keys", HTTP_LIST | HTTP_STR, "The same, as a list", .of = HTTP_STR },
	{ "duration", HTTP_NUM, "Seconds to hold", .dflt = "1" },
	{ "repeat", HTTP_INT, "How many times", .min = 1, .max = 100,
	  .dflt = "1" },
	{ "method", HTTP_STR,
	  "How to type: with keys, through the clipboard (which is put back), "
	  "or as it arrives exactly",
	  .words = "auto|keys|paste", .dflt = "'auto'" },
	{ 0 },
};

#define NO_SCREEN SB_BUSY, SB_MISSING, SB_TIMEOUT

/* clang-format off */
const struct http_route input_routes[] = {
	{ "POST", "/v1/screen/mouse", post_mouse, 0, "Use the mouse",
	  { "/screen/mouse" },
	  .in = mouse_in, .out = done_out, .fails = { SB_LIMIT, NO_SCREEN },
	  .example = "{'action': 'click', 'x': 100, 'y': 200}" },
	{ "POST", "/v1/screen/keyboard", post_keyboard, 0,
	  "Type, and press keys",
	  { "/screen/keyboard" },
	  .in = keyboard_in, .out = done_out, .fails = { SB_LIMIT, NO_SCREEN },
	  .example = "{'action': 'type', 'text': 'hello'}" },
	{ 0 },
};
/* clang-format on */
