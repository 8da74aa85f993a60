/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of the clipboard. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/json.h"
#include "guest/api.h"
#include "guest/desktop.h"
#include "guest/guestd.h"
#include "guest/screen.h"

static const char *const types[] = { "text/plain", "image/png" };

struct asked {
	struct screen_call call;
	struct screen_clipboard want;
	struct http_req *req;
};

static void asked_free(struct asked *a)
{
	buf_done(&a->want.data);
	free(a);
}

static int ask(struct asked *a, struct sb_err *err)
{
	struct guestd *g = http_ctx(a->req);
	const struct screen_module *m;

	if (desktop_check(g->desktop, err) < 0 ||
	    screen_module(g->screen, &m, err) < 0)
		return -1;
	a->call.job = m->clipboard;
	a->call.arg = &a->want;
	return screen_ask(g->screen, &a->call, err);
}

static json_t *content_json(const struct screen_clipboard *c)
{
	json_t *j = json_object();
	autofree char *data = NULL;

	json_put(j, "media_type", json_str(types[c->type]));
	json_put(j, "text",
		 c->found && c->type == CLIPBOARD_TEXT
			 ? json_text(c->data.p ? c->data.p : "", c->data.len)
			 : json_null());
	if (c->found && c->type == CLIPBOARD_PNG)
		data = base64_encode(c->data.p, c->data.len);
	json_put(j, "data", json_str(data));
	return j;
}

static void got(struct screen_call *c, const struct sb_err *err)
{
	struct asked *a = (struct asked *)c;
	struct sb_err none;

	if (err) {
		http_fail(a->req, err);
	} else if (!a->want.found && a->want.type == CLIPBOARD_PNG) {
		sb_fail(&none, SB_NOTFOUND,
			"there is no picture in the clipboard");
		http_fail(a->req, &none);
	} else {
		http_reply_json(a->req, 200, content_json(&a->want));
	}
	asked_free(a);
}

static void put_done(struct screen_call *c, const struct sb_err *err)
{
	struct asked *a = (struct asked *)c;

	if (err)
		http_fail(a->req, err);
	else
		http_reply_empty(a->req, 204);
	asked_free(a);
}

static int parse_type(const char *name, enum clipboard_type *ret,
		      struct sb_err *err)
{
	for (size_t i = 0; !str_empty(name) && i < ARRAY_SIZE(types); i++)
		if (strcmp(name, types[i]) == 0) {
			*ret = (enum clipboard_type)i;
			return 0;
		}
	return str_empty(name) ? 0
			       : sb_fail(err, SB_INVALID,
					 "'media_type' must be text/plain or "
					 "image/png, not '%.64s'",
					 name);
}

static void get_clipboard(struct http_req *req)
{
	struct asked *a = xcalloc(1, sizeof(*a));
	struct sb_err err;

	a->req = req;
	a->call.done = got;
	if (parse_type(http_query(req, "media_type"), &a->want.type, &err) ==
		    0 &&
	    ask(a, &err) == 0)
		return;
	http_fail(req, &err);
	asked_free(a);
}

static int parse_png(const char *data, struct buf *ret, struct sb_err *err)
{
	size_t len = 0;

	if (data)
		ret->p = base64_decode(data, strlen(data), &len);
	if (!ret->p)
		return sb_fail(err, SB_INVALID,
			       "'data' must be a PNG in base64");
	ret->len = len;
	if (len >= 8 && memcmp(ret->p, "\x89PNG\r\n\x1a\n", 8) == 0)
		return 0;
	return sb_fail(err, SB_INVALID, "'data' is not a PNG");
}

static int parse_content(struct asked *a, struct sb_err *err)
{
	autojson json_t *body = NULL;
	const char *text = NULL, *data = NULL, *type = NULL;

	if (http_body_json(a->req, &body, err) < 0 ||
	    json_get_str(body, "text", &text, err) < 0 ||
	    json_get_str(body, "data", &data, err) < 0 ||
	    json_get_str(body, "media_type", &type, err) < 0)
		return -1;
	if (!type && data)
		type = "image/png";
	if (parse_type(type, &a->want.type, err) < 0)
		return -1;
	a->want.set = true;
	if (a->want.type == CLIPBOARD_PNG)
		return parse_png(data, &a->want.data, err);
	if (!text)
		return sb_fail(err, SB_INVALID, "'text' or 'data' is needed");
	buf_adds(&a->want.data, text);
	return 0;
}

static void put_clipboard(struct http_req *req)
{
	struct asked *a = xcalloc(1, sizeof(*a));
	struct sb_err err;

	a->req = req;
	a->call.done = put_done;
	if (parse_content(a, &err) == 0 && ask(a, &err) == 0)
		return;
	http_fail(req, &err);
	asked_free(a);
}

static const struct http_schema clipboard_schema = {
	"Clipboard",
	(const struct http_field[]){
		{ "media_type", HTTP_STR, "What was asked for",
		  .words = "text/plain|image/png" },
		{ "text", HTTP_STR | HTTP_NULL, "The text; null: none" },
		{ "data", HTTP_STR | HTTP_NULL, "The picture, in base64" },
		{ 0 } },
	"What was copied",
	"{'media_type': 'text/plain', 'text': 'hello', 'data': null}",
};
static const struct http_answer clipboard_out[] = {
	{ 200, "What was copied", &clipboard_schema },
	{ 0 },
};
static const struct http_answer put_out[] = {
	{ 204, "It can be pasted" },
	{ 0 },
};
static const struct http_field get_in[] = {
	{ "media_type", HTTP_STR, "Of what to have",
	  .words = "text/plain|image/png", .dflt = "'text/plain'" },
	{ 0 },
};
static const struct http_field put_in[] = {
	{ "text", HTTP_STR, "A text" },
	{ "data", HTTP_STR, "Or a PNG, in base64" },
	{ "media_type", HTTP_STR, "Which of them",
	  .words = "text/plain|image/png" },
	{ 0 },
};

#define NO_SCREEN SB_BUSY, SB_MISSING, SB_TIMEOUT

/* clang-format off */
const struct http_route clipboard_routes[] = {
	{ "GET", "/v1/screen/clipboard", get_clipboard, 0, "What was copied",
	  { "/screen/clipboard" },
	  .in = get_in, .out = clipboard_out,
	  .fails = { SB_NOTFOUND, SB_LIMIT, NO_SCREEN } },
	{ "PUT", "/v1/screen/clipboard", put_clipboard, 0,
	  "Copy, for programs to paste",
	  { "/screen/clipboard" },
	  .in = put_in, .out = put_out, .fails = { NO_SCREEN },
	  .example = "{'text': 'hello'}" },
	{ 0 },
};
/* clang-format on */
