/* SPDX-License-Identifier: Apache-2.0 */
/* Routes about the screen as a whole: what it is, its size, its windows. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/api.h"
#include "guest/desktop.h"
#include "guest/guestd.h"
#include "guest/screen.h"
#include "guest/shot.h"

/* A request that waits for a job; all jobs but screenshots. */
struct asked {
	struct screen_call call;
	struct http_req *req;
	union {
		struct screen_size size;
		struct screen_windows windows;
		struct screen_window window;
	};
};

static struct asked *asked_new(struct http_req *req,
			       void (*done)(struct screen_call *c,
					    const struct sb_err *err))
{
	struct asked *a = xcalloc(1, sizeof(*a));

	a->req = req;
	a->call.done = done;
	a->call.arg = &a->size;
	return a;
}

/* Ask for the job, or answer why not. */
static void ask(struct asked *a /* takes */, screen_job job)
{
	struct guestd *g = http_ctx(a->req);
	struct sb_err err;

	a->call.job = job;
	if (screen_ask(g->screen, &a->call, &err) == 0)
		return;
	http_fail(a->req, &err);
	free(a);
}

/* The jobs, if the desktop is up; else the request is answered. */
static const struct screen_module *jobs(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	const struct screen_module *m = NULL;
	struct sb_err err;

	if (desktop_check(g->desktop, &err) < 0 ||
	    screen_module(g->screen, &m, &err) < 0)
		http_fail(req, &err);
	return m;
}

static json_t *info_json(const struct guestd *g)
{
	json_t *j = json_object();

	json_put(j, "state", json_str(desktop_state_name(g->desktop)));
	json_put(j, "reason", json_str(desktop_reason(g->desktop)));
	json_put(j, "display", json_str(desktop_display(g->desktop)));
	return j;
}

static void put_size(json_t *j, const struct screen_size *s)
{
	json_put(j, "width", s ? json_integer(s->width) : json_null());
	json_put(j, "height", s ? json_integer(s->height) : json_null());
	json_put(j, "cursor",
		 s ? json_pack("{s:i, s:i}", "x", s->pointer.x, "y",
			       s->pointer.y)
		   : json_null());
}

static void size_done(struct screen_call *c, const struct sb_err *err)
{
	struct asked *a = (struct asked *)c;
	json_t *j;

	if (err) {
		http_fail(a->req, err);
	} else {
		j = info_json(http_ctx(a->req));
		put_size(j, &a->size);
		http_reply_json(a->req, 200, j);
	}
	free(a);
}

/* A screen that is not up is no error here: its state is the answer. */
static void get_info(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	const struct screen_module *m;
	json_t *j;

	if (desktop_state(g->desktop) != DESKTOP_UP) {
		j = info_json(g);
		put_size(j, NULL);
		http_reply_json(req, 200, j);
		return;
	}
	m = jobs(req);
	if (m)
		ask(asked_new(req, size_done), m->size);
}

static int parse_resolution(struct http_req *req, struct screen_size *ret,
			    struct sb_err *err)
{
	autojson json_t *body = NULL;
	long long w = 0, h = 0;

	if (http_body_json(req, &body, err) < 0 ||
	    json_get_int(body, "width", DESKTOP_MIN_WIDTH, DESKTOP_MAX_WIDTH,
			 &w, err) < 0 ||
	    json_get_int(body, "height", DESKTOP_MIN_HEIGHT, DESKTOP_MAX_HEIGHT,
			 &h, err) < 0)
		return -1;
	if (!w || !h)
		return sb_fail(err, SB_INVALID,
			       "'width' and 'height' are needed");
	ret->width = (int)w;
	ret->height = (int)h;
	return 0;
}

static void resized(struct screen_call *c, const struct sb_err *err)
{
	struct asked *a = (struct asked *)c;
	const struct guestd *g = http_ctx(a->req);

	if (!err)
		desktop_resized(g->desktop, a->size.width, a->size.height);
	size_done(c, err);
}

static void put_resolution(struct http_req *req)
{
	const struct screen_module *m;
	struct screen_size size;
	struct sb_err err;
	struct asked *a;

	if (parse_resolution(req, &size, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	m = jobs(req);
	if (!m)
		return;
	a = asked_new(req, resized);
	a->size = size;
	ask(a, m->resize);
}

static void windows_done(struct screen_call *c, const struct sb_err *err)
{
	struct asked *a = (struct asked *)c;

	if (err)
		http_fail(a->req, err);
	else
		http_reply_json(a->req, 200,
				json_pack("{s:o}", "windows", a->windows.list));
	free(a);
}

static void get_windows(struct http_req *req)
{
	const struct screen_module *m = jobs(req);

	if (m)
		ask(asked_new(req, windows_done), m->windows);
}

static void window_done(struct screen_call *c, const struct sb_err *err)
{
	struct asked *a = (struct asked *)c;

	if (err)
		http_fail(a->req, err);
	else
		http_reply_empty(a->req, 204);
	free(a);
}

/* As they are listed, 0x1c00003, or a plain number. */
static int parse_window(const char *s, unsigned long *ret, struct sb_err *err)
{
	char *end = NULL;

	errno = 0;
	*ret = *s >= '0' && *s <= '9' ? strtoul(s, &end, 0) : 0;
	if (*ret && !errno && !*end && *ret <= UINT32_MAX)
		return 0;
	return sb_fail(err, SB_INVALID,
		       "'%.32s' is not the id of a window, such as 0x1c00003",
		       s);
}

static void act(struct http_req *req, enum screen_window_act what)
{
	struct screen_window w = { .act = what };
	const struct screen_module *m;
	struct sb_err err;
	struct asked *a;

	if (parse_window(http_param(req, "id"), &w.id, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	m = jobs(req);
	if (!m)
		return;
	a = asked_new(req, window_done);
	a->window = w;
	ask(a, m->window);
}

static void focus_window(struct http_req *req)
{
	act(req, SCREEN_FOCUS);
}

static void close_window(struct http_req *req)
{
	act(req, SCREEN_CLOSE);
}

static const struct http_schema point_schema = {
	"Point",
	(const struct http_field[]){ { "x", HTTP_INT, "Pixels from the left" },
				     { "y", HTTP_INT, "Pixels from the top" },
				     { 0 } },
	"A place on the screen",
	"{'x': 640, 'y': 400}",
};

static const struct http_schema info_schema = {
	"Screen",
	(const struct http_field[]){
		{ "state", HTTP_STR, "Whether it can be used",
		  .words = "off|starting|up|failed" },
		{ "reason", HTTP_STR | HTTP_NULL, "Why it is not up" },
		{ "display", HTTP_STR | HTTP_NULL, "The X display" },
		{ "width", HTTP_INT | HTTP_NULL, "Pixels" },
		{ "height", HTTP_INT | HTTP_NULL, "Pixels" },
		{ "cursor", HTTP_OBJ | HTTP_NULL, "Where the pointer is",
		  .schema = &point_schema },
		{ 0 } },
	"The screen",
	"{'state': 'up', 'reason': null, 'display': ':1', 'width': 1280, "
	"'height': 800, 'cursor': {'x': 640, 'y': 400}}",
};

static const struct http_schema window_schema = {
	"Window",
	(const struct http_field[]){
		{ "id", HTTP_STR, "Its id in X" },
		{ "title", HTTP_STR, "What stands above it" },
		{ "class", HTTP_STR | HTTP_NULL, "Of which kind it is" },
		{ "pid", HTTP_INT | HTTP_NULL, "The process that says so" },
		{ "x", HTTP_INT, "Pixels from the left, without its frame" },
		{ "y", HTTP_INT, "Pixels from the top" },
		{ "width", HTTP_INT, "Pixels" },
		{ "height", HTTP_INT, "Pixels" },
		{ "visible", HTTP_BOOL, "Whether it is shown, not an icon" },
		{ "focused", HTTP_BOOL, "Whether what is typed goes there" },
		{ 0 } },
	"A window",
	"{'id': '0x1c00003', 'title': 'xterm', 'class': 'XTerm', 'pid': 411, "
	"'x': 40, 'y': 60, 'width': 800, 'height': 500, 'visible': true, "
	"'focused': true}",
};

static const struct http_schema windows_schema = {
	"Windows",
	(const struct http_field[]){ { "windows", HTTP_LIST,
				       "The uppermost first",
				       .schema = &window_schema },
				     { 0 } },
	"All windows",
	"{'windows': []}",
};

static const struct http_answer info_out[] = {
	{ 200, "What it is", &info_schema },
	{ 0 },
};
static const struct http_answer windows_out[] = {
	{ 200, "They are", &windows_schema },
	{ 0 },
};
static const struct http_answer window_out[] = {
	{ 204, "The window manager was told" },
	{ 0 },
};
static const struct http_field window_in[] = {
	{ "id", HTTP_STR, "As it is listed, such as 0x1c00003", HTTP_PATH },
	{ 0 },
};
static const struct http_field resolution_in[] = {
	{ "width", HTTP_INT, "Pixels", .must = true, .min = DESKTOP_MIN_WIDTH,
	  .max = DESKTOP_MAX_WIDTH },
	{ "height", HTTP_INT, "Pixels", .must = true, .min = DESKTOP_MIN_HEIGHT,
	  .max = DESKTOP_MAX_HEIGHT },
	{ 0 },
};

#define NO_SCREEN SB_BUSY, SB_MISSING, SB_TIMEOUT

/* clang-format off */
const struct http_route screen_routes[] = {
	{ "GET", "/v1/screen/screenshot", shot_get, 0, "A picture of the screen",
	  { "/screenshot", "/screen/screenshot" },
	  .in = shot_in, .out = shot_out,
	  .fails = { SB_LIMIT, NO_SCREEN },
	  .example = "{'format': 'jpeg', 'max_width': 1024}" },
	{ "GET", "/v1/screen/info", get_info, 0,
	  "Size of the screen, and whether it is up",
	  { "/screen/info" },
	  .out = info_out, .fails = { NO_SCREEN } },
	{ "PUT", "/v1/screen/resolution", put_resolution, 0,
	  "Have another size of the screen",
	  { "/screen/resolution" },
	  .in = resolution_in, .out = info_out, .fails = { NO_SCREEN },
	  .example = "{'width': 1920, 'height': 1080}" },
	{ "GET", "/v1/screen/windows", get_windows, 0, "The windows on it",
	  { "/screen/windows" },
	  .out = windows_out, .fails = { NO_SCREEN } },
	{ "POST", "/v1/screen/windows/{id}/focus", focus_window, 0,
	  "Bring a window to the front, and type there",
	  .in = window_in, .out = window_out,
	  .fails = { SB_NOTFOUND, NO_SCREEN } },
	{ "POST", "/v1/screen/windows/{id}/close", close_window, 0,
	  "Ask a window to close",
	  .in = window_in, .out = window_out,
	  .fails = { SB_NOTFOUND, NO_SCREEN } },
	{ 0 },
};
/* clang-format on */
