/* SPDX-License-Identifier: Apache-2.0 */
/* Screenshots: requests that want the same share one. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/base64.h"
#include "common/json.h"
#include "guest/desktop.h"
#include "guest/guestd.h"
#include "guest/screen.h"
#include "guest/shot.h"

#define DEFAULT_QUALITY 80
#define MIN_SCALE 0.01
#define MAX_SCALE 8
#define MAX_WAITERS 256 /* for one shot */

static const char *const formats[] = { "png", "jpeg", "webp", "ppm" };
static const char *const types[] = { "image/png", "image/jpeg", "image/webp",
				     "image/x-portable-pixmap" };

const char *shot_type(enum picture_format format)
{
	return types[format];
}

bool shot_has_quality(enum picture_format format)
{
	return format == PICTURE_JPEG || format == PICTURE_WEBP;
}

struct shot {
	struct screen_call call;
	struct screen_shot want;
	char *known; /* of want */
	bool json;
	struct http_req *req[MAX_WAITERS];
	size_t nreq;
	LIST_ENTRY(shot) next;
};

static LIST_HEAD(, shot) shots = LIST_HEAD_INITIALIZER(shots);

int shot_parse_format(const char *name, enum picture_format *ret,
		      struct sb_err *err)
{
	if (strcmp(name, "jpg") == 0)
		name = "jpeg";
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(name, formats[i]) == 0) {
			*ret = (enum picture_format)i;
			return 0;
		}
	return sb_fail(err, SB_INVALID,
		       "'format' must be png, jpeg, webp or ppm, not '%.32s'",
		       name);
}

static int parse_format(const struct http_req *req, struct screen_shot *s,
			struct sb_err *err)
{
	const char *name = http_query(req, "format");

	return str_empty(name) ? 0 : shot_parse_format(name, &s->format, err);
}

/* "x,y,width,height"; whether it is on the screen is seen when it is taken. */
static int parse_region(const struct http_req *req, struct screen_shot *s,
			struct sb_err *err)
{
	const char *text = http_query(req, "region");
	long long n[4];
	autofree char *copy = xstrdup(text ? text : "");
	char *save, *word = strtok_r(copy, ",", &save);

	if (str_empty(text))
		return 0;
	for (int i = 0; i < 4; i++, word = strtok_r(NULL, ",", &save))
		if (!word ||
		    parse_num(word, i < 2 ? 0 : 1, PICTURE_MAX_SIDE, &n[i]) < 0)
			return sb_fail(err, SB_INVALID,
				       "'region' must be X,Y,WIDTH,HEIGHT in "
				       "pixels of the screen, not '%.64s'",
				       text);
	if (word)
		return sb_fail(err, SB_INVALID,
			       "'region' has more than four numbers");
	s->region = (struct rect){ (int)n[0], (int)n[1], (int)n[2], (int)n[3] };
	s->has_region = true;
	return 0;
}

static int parse_scale(const struct http_req *req, struct screen_shot *s,
		       struct sb_err *err)
{
	const char *text = http_query(req, "scale");
	char *end;

	if (str_empty(text))
		return 0;
	s->scale = strtod(text, &end);
	if (strspn(text, "0123456789.") == strlen(text) && !*end &&
	    s->scale >= MIN_SCALE && s->scale <= MAX_SCALE)
		return 0;
	return sb_fail(err, SB_INVALID,
		       "'scale' must be a number from %g to %d, not '%.32s'",
		       MIN_SCALE, MAX_SCALE, text);
}

/* Asked for by name, or by who takes nothing else. */
static int parse_json(const struct http_req *req, bool *ret, struct sb_err *err)
{
	const char *encoding = http_query(req, "encoding");
	const char *accept = http_header(req, "accept");

	if (!str_empty(encoding) && strcmp(encoding, "base64") != 0 &&
	    strcmp(encoding, "binary") != 0)
		return sb_fail(err, SB_INVALID,
			       "'encoding' must be base64 or binary");
	if (!str_empty(encoding))
		*ret = strcmp(encoding, "base64") == 0;
	else
		*ret = accept && strstr(accept, "application/json") &&
		       !strstr(accept, "image/") && !strstr(accept, "*/*");
	return 0;
}

static int parse(const struct http_req *req, struct shot *ret,
		 struct sb_err *err)
{
	struct screen_shot *s = &ret->want;
	long long quality = DEFAULT_QUALITY, width = 0, height = 0;

	s->scale = 1;
	if (parse_format(req, s, err) < 0 || parse_region(req, s, err) < 0 ||
	    parse_scale(req, s, err) < 0 ||
	    http_query_int(req, "quality", 1, 100, &quality, err) < 0 ||
	    http_query_int(req, "max_width", 1, PICTURE_MAX_SIDE, &width, err) <
		    0 ||
	    http_query_int(req, "max_height", 1, PICTURE_MAX_SIDE, &height,
			   err) < 0 ||
	    http_query_bool(req, "cursor", &s->cursor, err) < 0 ||
	    parse_json(req, &ret->json, err) < 0)
		return -1;
	s->quality = shot_has_quality(s->format) ? (int)quality : 0;
	s->max_width = (int)width;
	s->max_height = (int)height;
	ret->known = xstrdup0(http_header(req, "if-none-match"));
	s->known = ret->known;
	return 0;
}

static double scale_of(const struct picture_map *m)
{
	return (double)m->width / m->region.width;
}

json_t *shot_json(const struct screen_shot *s)
{
	autofree char *data = base64_encode(s->data.p, s->data.len);
	const struct rect *r = &s->map.region;
	json_t *j = json_object();

	json_put(j, "data", json_str(data));
	json_put(j, "encoding", json_str("base64"));
	json_put(j, "media_type", json_str(shot_type(s->format)));
	json_put(j, "width", json_integer(s->map.width));
	json_put(j, "height", json_integer(s->map.height));
	json_put(j, "screen_width", json_integer(s->screen_width));
	json_put(j, "screen_height", json_integer(s->screen_height));
	json_put(j, "region",
		 json_pack("[i, i, i, i]", r->x, r->y, r->width, r->height));
	json_put(j, "scale", json_real(scale_of(&s->map)));
	json_put(j, "cursor",
		 json_pack("{s:i, s:i}", "x", s->pointer.x, "y", s->pointer.y));
	return j;
}

static void set_headers(struct http_req *req, const struct screen_shot *s)
{
	const struct rect *r = &s->map.region;
	char text[64];

	snprintf(text, sizeof(text), "%d", s->screen_width);
	http_set_header(req, "X-Screen-Width", text);
	snprintf(text, sizeof(text), "%d", s->screen_height);
	http_set_header(req, "X-Screen-Height", text);
	snprintf(text, sizeof(text), "%d,%d,%d,%d", r->x, r->y, r->width,
		 r->height);
	http_set_header(req, "X-Screen-Region", text);
	snprintf(text, sizeof(text), "%.6g", scale_of(&s->map));
	http_set_header(req, "X-Screen-Scale", text);
	http_set_header(req, "ETag", s->tag);
	/* To be kept, but never to be shown without asking. */
	http_set_header(req, "Cache-Control", "private, no-cache");
	http_set_header(req, "Vary", "Accept");
}

static void answer(struct http_req *req, const struct shot *s)
{
	set_headers(req, &s->want);
	if (s->want.unchanged)
		http_reply_empty(req, 304);
	else if (s->json)
		http_reply_json(req, 200, shot_json(&s->want));
	else
		http_reply(req, 200, shot_type(s->want.format), s->want.data.p,
			   s->want.data.len);
}

static void shot_free(struct shot *s)
{
	buf_done(&s->want.data);
	free(s->known);
	free(s);
}

static void on_done(struct screen_call *c, const struct sb_err *err)
{
	struct shot *s = (struct shot *)c;

	LIST_REMOVE(s, next);
	for (size_t i = 0; i < s->nreq; i++) {
		if (err)
			http_fail(s->req[i], err);
		else
			answer(s->req[i], s);
	}
	shot_free(s);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Before they are taken: there are no results in them. */
static bool same(const struct shot *a, const struct shot *b)
{
	const struct screen_shot *s = &a->want, *t = &b->want;

	return s->has_region == t->has_region && s->region.x == t->region.x &&
	       s->region.y == t->region.y &&
	       s->region.width == t->region.width &&
	       s->region.height == t->region.height &&
	       fabs(s->scale - t->scale) < 1e-9 &&
	       s->max_width == t->max_width && s->max_height == t->max_height &&
	       s->cursor == t->cursor && s->format == t->format &&
	       s->quality == t->quality && a->json == b->json &&
	       same_text(a->known, b->known);
}

/* One that is not begun shows what the screen shows after this moment. */
static struct shot *find_same(struct screen *screen, const struct shot *like)
{
	struct shot *s;

	LIST_FOREACH(s, &shots, next)
		if (s->nreq < MAX_WAITERS && screen_waits(screen, &s->call) &&
		    same(s, like))
			return s;
	return NULL;
}

static int take(struct guestd *g, struct shot *s, struct http_req *req,
		struct sb_err *err)
{
	const struct screen_module *m;
	struct shot *twin;

	if (parse(req, s, err) < 0 || desktop_check(g->desktop, err) < 0 ||
	    screen_module(g->screen, &m, err) < 0)
		return -1;
	twin = find_same(g->screen, s);
	if (twin) {
		twin->req[twin->nreq++] = req;
		shot_free(s);
		return 0;
	}
	s->call.job = m->shot;
	s->call.done = on_done;
	s->call.arg = &s->want;
	s->req[s->nreq++] = req;
	if (screen_ask(g->screen, &s->call, err) < 0)
		return -1;
	LIST_INSERT_HEAD(&shots, s, next);
	return 0;
}

void shot_get(struct http_req *req)
{
	struct shot *s = xcalloc(1, sizeof(*s));
	struct sb_err err;

	if (take(http_ctx(req), s, req, &err) < 0) {
		shot_free(s);
		http_fail(req, &err);
	}
}

const struct http_field shot_in[] = {
	{ "format", HTTP_STR, "Kind of file", .words = SHOT_FORMATS,
	  .dflt = "'png'" },
	{ "quality", HTTP_INT, "Of JPEG and WebP", .min = 1, .max = 100,
	  .dflt = "80" },
	{ "region", HTTP_STR,
	  "X,Y,WIDTH,HEIGHT in pixels of the screen; all of it if not given" },
	{ "scale", HTTP_NUM, "Size of the picture against that of the region",
	  .dflt = "1" },
	{ "max_width", HTTP_INT, "Make it smaller if it is wider", .min = 1,
	  .max = PICTURE_MAX_SIDE },
	{ "max_height", HTTP_INT, "Make it smaller if it is higher", .min = 1,
	  .max = PICTURE_MAX_SIDE },
	{ "cursor", HTTP_BOOL, "Draw the pointer, too", .dflt = "false" },
	{ "encoding", HTTP_STR, "The bytes, or JSON with them in base64",
	  .words = "binary|base64", .dflt = "'binary'" },
	{ "Accept", HTTP_STR, "application/json alone means base64, too",
	  HTTP_HEADER },
	{ "If-None-Match", HTTP_STR,
	  "The ETag of a picture: 304 if the screen is as it was",
	  HTTP_HEADER },
	{ 0 },
};

static const struct http_schema cursor_schema = {
	"Cursor",
	(const struct http_field[]){ { "x", HTTP_INT, "Pixels of the screen" },
				     { "y", HTTP_INT, "Pixels of the screen" },
				     { 0 } },
	"Where the pointer was",
	"{'x': 640, 'y': 400}",
};

const struct http_schema shot_schema = {
	"Screenshot",
	(const struct http_field[]){
		{ "data", HTTP_STR, "The file" },
		{ "encoding", HTTP_STR, "Of data", .words = "base64" },
		{ "media_type", HTTP_STR, "Of the file" },
		{ "width", HTTP_INT, "Pixels of the picture" },
		{ "height", HTTP_INT, "Pixels of the picture" },
		{ "screen_width", HTTP_INT, "Pixels of the screen" },
		{ "screen_height", HTTP_INT, "Pixels of the screen" },
		{ "region", HTTP_LIST, "X, y, width and height that it shows",
		  .of = HTTP_INT },
		{ "scale", HTTP_NUM, "Width of the picture by the region's" },
		{ "cursor", HTTP_OBJ, "Where the pointer was",
		  .schema = &cursor_schema },
		{ 0 } },
	"A picture of the screen",
	"{'data': 'iVBORw0KGgo=', 'encoding': 'base64', 'media_type': "
	"'image/png', 'width': 640, 'height': 400, 'screen_width': 1280, "
	"'screen_height': 800, 'region': [0, 0, 1280, 800], 'scale': 0.5, "
	"'cursor': {'x': 640, 'y': 400}}",
};

static const struct http_field shot_headers[] = {
	{ "ETag", HTTP_STR, "Changes with the pixels" },
	{ "X-Screen-Width", HTTP_INT, "Pixels of the screen" },
	{ "X-Screen-Height", HTTP_INT, "Pixels of the screen" },
	{ "X-Screen-Region", HTTP_STR, "X,Y,WIDTH,HEIGHT that it shows" },
	{ "X-Screen-Scale", HTTP_NUM, "Width of the picture by the region's" },
	{ 0 },
};

const struct http_answer shot_out[] = {
	{ 200, "The picture", .type = "image/png", .headers = shot_headers },
	{ 200, "The picture", .type = "image/jpeg", .headers = shot_headers },
	{ 200, "The picture", .type = "image/webp", .headers = shot_headers },
	{ 200, "The picture", .type = "image/x-portable-pixmap",
	  .headers = shot_headers },
	{ 200, "The picture, in JSON", &shot_schema, .headers = shot_headers },
	{ 304, "The screen has not changed", .headers = shot_headers },
	{ 0 },
};
