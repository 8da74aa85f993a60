/* SPDX-License-Identifier: Apache-2.0 */
/* Routes to look at the desktop and use it, live. */
#include "config.h"

#include "common/static.h"
#include "guest/api.h"
#include "guest/desktop.h"
#include "guest/guestd.h"
#include "guest/vnc.h"

static void connect_to(struct http_req *req, bool view_only)
{
	const struct guestd *g = http_ctx(req);
	struct sb_err err;

	if (desktop_check(g->desktop, &err) == 0 && desktop_rfb(g->desktop)) {
		vnc_bridge(req, g->loop, desktop_rfb(g->desktop), view_only);
		return;
	}
	if (desktop_check(g->desktop, &err) == 0)
		sb_fail(&err, SB_MISSING,
			"the X server is not ours and speaks no RFB");
	http_fail(req, &err);
}

static void get_ws(struct http_req *req)
{
	bool view_only = false;
	struct sb_err err;

	if (http_query_bool(req, "view_only", &view_only, &err) < 0)
		http_fail(req, &err);
	else
		connect_to(req, view_only);
}

/* A path of its own, for a ticket is good for one path. */
static void get_view(struct http_req *req)
{
	connect_to(req, true);
}

static void get_page(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	const char *name = static_name(req, "/vnc");

	if (name)
		static_reply(g->vnc_page, req, name);
}

static const struct http_field ws_in[] = {
	{ "view_only", HTTP_BOOL, "Only look", .dflt = "false" },
	{ 0 },
};
/* The page reads them, not the server. */
#define PAGE_FIELDS                                                          \
	{ "ticket", HTTP_STR, "A ticket for the WebSocket" },                \
		{ "view", HTTP_BOOL, "Only look" },                          \
		{ "view_only", HTTP_BOOL, "The same" },                      \
		{ "resize", HTTP_STR, "Have it as large as the window: 1" }, \
		{ "autoconnect", HTTP_STR, "As it always does" },            \
	{                                                                    \
		"reconnect", HTTP_STR, "As it always does"                   \
	}
static const struct http_field page_in[] = { PAGE_FIELDS, { 0 } };
static const struct http_field file_in[] = {
	{ "file", HTTP_STR, "A file of the page", HTTP_PATH },
	PAGE_FIELDS,
	{ 0 },
};
static const struct http_answer ws_out[] = {
	{ 101, "RFB in binary messages" },
	{ 0 },
};

#define NO_SCREEN SB_BUSY, SB_MISSING

/* clang-format off */
const struct http_route vnc_routes[] = {
	{ "GET", "/v1/vnc/ws", get_ws, 0,
	  "The desktop as RFB (VNC), over a WebSocket", { "/websockify" },
	  ws_in, ws_out, { SB_UPGRADE, NO_SCREEN } },
	{ "GET", "/v1/vnc/view", get_view, 0,
	  "The same, to look at only", { NULL },
	  NULL, ws_out, { SB_UPGRADE, NO_SCREEN },
	  .text = "What would type, point, paste or resize is dropped here. "
		  "A ticket for this path gives somebody eyes and no hands; "
		  "eyes also for what is copied." },
	{ "GET", "/vnc", get_page, HTTP_PUBLIC,
	  "A page with the desktop", { NULL }, page_in, static_page_out,
	  { SB_NOTFOUND } },
	{ "GET", "/vnc/{file...}", get_page, HTTP_PUBLIC,
	  "Files of the page", { NULL }, file_in, static_file_out, { SB_NOTFOUND } },
	{ 0 },
};
/* clang-format on */
