/* SPDX-License-Identifier: Apache-2.0 */
/* The route of models that use computers: act, wait until it settles, look. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "guest/action.h"
#include "guest/api.h"
#include "guest/input-run.h"
#include "guest/screen.h"
#include "guest/shot.h"

#define STILL_MS 100 /* a screen that long unchanged has settled */
#define LOOK_MS 50
#define SETTLE_MS 2000 /* in any case */
#define QUALITY 80

struct asked {
	struct screen_call call; /* for the picture */
	struct screen_shot want, have;
	char known[SCREEN_TAG_LEN];
	struct http_req *req;
	struct guestd *g;
	struct input_run *run;
	struct loop_timer *timer;
	struct action action;
	int width, height; /* that the model believes */
	struct x11_cursor pointer;
	long long delay_ms; /* -1: until it has settled */
	int64_t began_ms, still_ms;
	bool picture, left;
};

static void asked_free(struct asked *a)
{
	input_plan_done(&a->action.plan);
	buf_done(&a->have.data);
	buf_done(&a->want.data);
	loop_timer_free(a->timer);
	free(a);
}

static void fail(struct asked *a, const struct sb_err *err)
{
	http_on_leave(a->req, NULL, NULL);
	http_fail(a->req, err);
	asked_free(a);
}

static void answer(struct asked *a)
{
	json_t *j = json_object();
	char text[64];

	snprintf(text, sizeof(text), "X=%d,Y=%d", a->pointer.x, a->pointer.y);
	json_put(j, "success", json_true());
	json_put(j, "output",
		 a->action.position ? json_str(text) : json_null());
	json_put(j, "cursor",
		 json_pack("{s:i, s:i}", "x", a->pointer.x, "y", a->pointer.y));
	json_put(j, "screenshot",
		 a->picture ? shot_json(&a->have) : json_null());
	http_on_leave(a->req, NULL, NULL);
	http_reply_json(a->req, 200, j);
	asked_free(a);
}

static void look(void *arg);

static void seen(struct screen_call *c, const struct sb_err *err)
{
	struct asked *a = (struct asked *)c;
	int64_t now = clock_ms();

	if (err) {
		fail(a, err);
		return;
	}
	if (!a->want.unchanged) {
		buf_done(&a->have.data);
		a->have = a->want;
		a->still_ms = now;
	}
	a->want.data = (struct buf){ 0 };
	if (a->delay_ms >= 0 || a->left || now - a->still_ms >= STILL_MS ||
	    now - a->began_ms >= SETTLE_MS)
		answer(a);
	else
		loop_timer_set(a->timer, LOOK_MS);
}

/* Once more, if it is not as it was. */
static void look(void *arg)
{
	struct asked *a = arg;
	const struct screen_module *m;
	struct sb_err err;

	if (screen_module(a->g->screen, &m, &err) == 0) {
		memcpy(a->known, a->have.tag, sizeof(a->known));
		a->want.known = *a->known ? a->known : NULL;
		a->want.unchanged = false;
		a->call.job = m->shot;
		a->call.done = seen;
		a->call.arg = &a->want;
		if (screen_ask(a->g->screen, &a->call, &err) == 0)
			return;
	}
	fail(a, &err);
}

/*
 * The part of the screen that a model means, and how large it is to be.  The
 * whole of it has the size that the model believes in, whatever its shape: a
 * place in the picture is the place that the model then points at.
 */
static int set_region(struct asked *a, const struct picture_map *m,
		      struct sb_err *err)
{
	const int *n = a->action.region;

	if (!a->action.zoom) {
		a->want.width = a->width;
		a->want.height = a->height;
		return 0;
	}
	a->want.max_width = a->width;
	a->want.max_height = a->height;
	if (n[2] > m->width || n[3] > m->height)
		return sb_fail(err, SB_INVALID,
			       "'region' is not within %dx%d pixels", m->width,
			       m->height);
	picture_api_to_rect(m, n, &a->want.region);
	a->want.has_region = true;
	return 0;
}

static void acted(void *arg, const struct screen_input *s,
		  const struct sb_err *err)
{
	struct asked *a = arg;
	struct sb_err bad;

	a->run = NULL;
	if (err || set_region(a, &s->map, &bad) < 0) {
		fail(a, err ? err : &bad);
		return;
	}
	a->pointer = s->pointer;
	picture_screen_to_api(&s->map, &a->pointer.x, &a->pointer.y);
	a->began_ms = a->still_ms = clock_ms();
	if (!a->picture)
		answer(a);
	else
		loop_timer_set(a->timer, a->delay_ms >= 0 ? a->delay_ms : 0);
}

static void on_leave(void *arg)
{
	struct asked *a = arg;

	a->left = true;
	if (a->run)
		input_run_cancel(a->run);
}

static int parse_format(const json_t *body, struct screen_shot *s,
			struct sb_err *err)
{
	const char *name = "png";
	long long quality = QUALITY;

	if (json_get_str(body, "format", &name, err) < 0 ||
	    json_get_int(body, "quality", 1, 100, &quality, err) < 0 ||
	    json_get_bool(body, "show_cursor", &s->cursor, err) < 0)
		return -1;
	if (shot_parse_format(name, &s->format, err) < 0)
		return -1;
	s->quality = shot_has_quality(s->format) ? (int)quality : 0;
	s->scale = 1;
	return 0;
}

static int parse(struct asked *a, struct sb_err *err)
{
	autojson json_t *body = NULL;
	long long width = 0, height = 0;

	a->picture = a->want.cursor = true;
	a->delay_ms = -1;
	if (http_body_json(a->req, &body, err) < 0)
		return -1;
	action_drop_nulls(body);
	if (parse_format(body, &a->want, err) < 0 ||
	    json_get_bool(body, "screenshot", &a->picture, err) < 0 ||
	    json_get_int(body, "display_width", 1, PICTURE_MAX_SIDE, &width,
			 err) < 0 ||
	    json_get_int(body, "display_height", 1, PICTURE_MAX_SIDE, &height,
			 err) < 0 ||
	    input_parse_seconds(json_object_get(body, "delay"), "delay",
				&a->delay_ms, err) < 0)
		return -1;
	if (!width != !height)
		return sb_fail(err, SB_INVALID,
			       "'display_width' and 'display_height' belong "
			       "together");
	if (width * height > PICTURE_MAX_PIXELS)
		return sb_fail(err, SB_INVALID,
			       "no screen has %lldx%lld pixels", width, height);
	a->width = a->action.plan.width = (int)width;
	a->height = a->action.plan.height = (int)height;
	return action_parse(body, &a->action, err);
}

static void post_action(struct http_req *req)
{
	struct asked *a = xcalloc(1, sizeof(*a));
	struct sb_err err;

	a->req = req;
	a->g = http_ctx(req);
	a->timer = loop_timer_new(a->g->loop, look, a);
	if (parse(a, &err) < 0 ||
	    input_run_start(a->g, &a->action.plan, acted, a, &a->run, &err) < 0)
		fail(a, &err);
	else
		http_on_leave(req, on_leave, a);
}

static const struct http_schema place_schema = {
	"ModelPoint",
	(const struct http_field[]){ { "x", HTTP_INT, "From the left" },
				     { "y", HTTP_INT, "From the top" },
				     { 0 } },
	"A place, in the pixels that the model believes in",
	"{'x': 512, 'y': 384}",
};

static const struct http_schema acted_schema = {
	"ActionResult",
	(const struct http_field[]){
		{ "success", HTTP_BOOL, "True" },
		{ "output", HTTP_STR | HTTP_NULL,
		  "What cursor_position asks for: X=512,Y=384" },
		{ "cursor", HTTP_OBJ, "Where the pointer is",
		  .schema = &place_schema },
		{ "screenshot", HTTP_OBJ | HTTP_NULL, "The screen after it",
		  .schema = &shot_schema },
		{ 0 } },
	"What came of an action",
	"{'success': true, 'output': null, 'cursor': {'x': 512, 'y': 384}, "
	"'screenshot': null}",
};
static const struct http_answer action_out[] = {
	{ 200, "It is done", &acted_schema },
	{ 0 },
};

#define ANY_POINT HTTP_LIST | HTTP_NULL, .of = HTTP_NUM

static const struct http_field action_in[] = {
	{ "action", HTTP_STR | HTTP_OBJ | HTTP_NULL,
	  "Anthropic: the action; OpenAI: the action of a computer_call" },
	{ "type", HTTP_STR | HTTP_NULL, "OpenAI: the action" },
	{ "actions", HTTP_LIST | HTTP_NULL, "Several, of either kind",
	  .of = HTTP_OBJ },
	{ "input", HTTP_OBJ | HTTP_NULL, "Of a block of Anthropic's tool_use" },
	{ "coordinate", .text = "Anthropic: [x, y]", .type = ANY_POINT },
	{ "start_coordinate", .text = "Of left_click_drag", .type = ANY_POINT },
	{ "region", .text = "Of zoom: [x0, y0, x1, y1]", .type = ANY_POINT },
	{ "text", HTTP_STR | HTTP_NULL,
	  "What to type; keys, and modifiers of a click" },
	{ "key", HTTP_STR | HTTP_NULL, "Modifiers of a click" },
	{ "scroll_direction", HTTP_STR | HTTP_NULL, "Anthropic",
	  .words = "up|down|left|right" },
	{ "scroll_amount", HTTP_INT | HTTP_NULL, "Anthropic: notches", .min = 0,
	  .max = 100 },
	{ "duration", HTTP_NUM | HTTP_NULL, "Seconds, of hold_key and wait" },
	{ "repeat", HTTP_INT | HTTP_NULL, "Of key", .min = 1, .max = 100 },
	{ "x", HTTP_NUM | HTTP_NULL, "OpenAI" },
	{ "y", HTTP_NUM | HTTP_NULL, "OpenAI" },
	{ "button", HTTP_STR | HTTP_INT | HTTP_NULL,
	  "OpenAI: left, right, wheel, back, forward" },
	{ "scroll_x", HTTP_INT | HTTP_NULL, "OpenAI: pixels" },
	{ "scroll_y", HTTP_INT | HTTP_NULL, "OpenAI: pixels" },
	{ "keys", HTTP_LIST | HTTP_NULL,
	  "OpenAI: of keypress, or held meanwhile", .of = HTTP_STR },
	{ "path", HTTP_LIST | HTTP_NULL, "OpenAI: of drag",
	  .of = HTTP_OBJ | HTTP_LIST },
	{ "ms", HTTP_INT | HTTP_NULL, "Of OpenAI's wait", .min = 0,
	  .max = INPUT_MAX_WAIT_MS },
	{ "id", HTTP_STR | HTTP_NULL, "Of the model's block; not looked at" },
	{ "name", HTTP_STR | HTTP_NULL, "Of the model's block; not looked at" },
	{ "call_id", HTTP_STR | HTTP_NULL,
	  "Of the model's block; not looked at" },
	{ "status", HTTP_STR | HTTP_NULL,
	  "Of the model's block; not looked at" },
	{ "pending_safety_checks", HTTP_LIST | HTTP_NULL,
	  "Of the model's block; not looked at", .of = HTTP_OBJ },
	{ "display_width", HTTP_INT | HTTP_NULL,
	  "Pixels that the model believes the screen to have", .min = 1,
	  .max = PICTURE_MAX_SIDE },
	{ "display_height", HTTP_INT | HTTP_NULL, "The same, in height",
	  .min = 1, .max = PICTURE_MAX_SIDE },
	{ "delay", HTTP_NUM | HTTP_NULL,
	  "Seconds before the picture; until the screen is still if not "
	  "given, at most 2" },
	{ "screenshot", HTTP_BOOL | HTTP_NULL, "Whether to answer with one",
	  .dflt = "true" },
	{ "show_cursor", HTTP_BOOL | HTTP_NULL, "Draw the pointer, too",
	  .dflt = "true" },
	{ "format", HTTP_STR | HTTP_NULL, "Of the picture",
	  .words = SHOT_FORMATS, .dflt = "'png'" },
	{ "quality", HTTP_INT | HTTP_NULL, "Of JPEG and WebP", .min = 1,
	  .max = 100, .dflt = "80" },
	{ 0 },
};

/* clang-format off */
const struct http_route action_routes[] = {
	{ "POST", "/v1/screen/action", post_action, HTTP_LENIENT,
	  "Act as a model asks, and look",
	  { "/screen/action" },
	  .in = action_in, .out = action_out,
	  .fails = { SB_LIMIT, SB_BUSY, SB_MISSING, SB_TIMEOUT },
	  .example = "{'action': 'left_click', 'coordinate': [100, 200]}" },
	{ 0 },
};
/* clang-format on */
