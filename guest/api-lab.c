/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JupyterLab for browsers.  All below /lab is passed on to its own server, but
 * for kernels, sessions and their specifications: the rows of these (see
 * api-jupyter.c) are found first, and so a browser talks to our gateway.
 */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "common/httpd-proxy.h"
#include "guest/api.h"
#include "guest/auth.h"
#include "guest/guestd.h"
#include "guest/lab.h"

#define REPLY_MS 120000

static bool is_page(const struct http_req *req)
{
	const char *accept = http_header(req, "accept");

	return strcmp(http_method(req), "GET") == 0 && accept &&
	       strstr(accept, "text/html") && !http_header(req, "upgrade");
}

static void add_escaped(struct buf *b, const char *s)
{
	for (; *s; s++)
		if (strchr("<>&\"'", *s))
			buf_addf(b, "&#%d;", *s);
		else
			buf_add(b, s, 1);
}

/* A page that goes on to another, or to itself, by itself. */
static void reply_page(struct http_req *req, int status, int seconds,
		       const char *to)
{
	autobuf struct buf b = { 0 };

	buf_addf(&b,
		 "<!DOCTYPE html>\n<html lang=\"en\"><head>"
		 "<meta charset=\"utf-8\">\n"
		 "<meta http-equiv=\"refresh\" content=\"%d; url=",
		 seconds);
	add_escaped(&b, to);
	buf_adds(&b, "\">\n<title>JupyterLab</title>\n"
		     "<style>body { font: 1.1em sans-serif; margin: 20vh auto; "
		     "max-width: 30em; text-align: center; color: #555; }"
		     "</style></head>\n"
		     "<body><p>JupyterLab is starting…</p></body></html>\n");
	http_set_header(req, "Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'");
	http_set_header(req, "Referrer-Policy", "no-referrer");
	http_reply(req, status, "text/html; charset=utf-8", b.p, b.len);
}

/*
 * The first page that a browser gets: with a cookie in place of the ticket or
 * token that was in its URL.  No redirection, as a link on another site would
 * lead there, and a browser then withholds the cookie.
 */
static void enter(struct http_req *req, const char *to)
{
	const struct guestd *g = http_ctx(req);
	struct sb_err err;
	bool ready;

	if (lab_want(g->lab, &ready, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	auth_set_cookie(g->auth, req);
	reply_page(req, 200, 0, to);
}

static void pass_on(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	struct http_proxy proxy = {
		.name = "JupyterLab",
		.hint = "try again; GET /v1/processes shows whether it runs",
		.path = lab_socket(g->lab),
		.cookie = auth_cookie_name(g->auth),
		.reply_ms = REPLY_MS,
	};
	struct sb_err err;
	bool ready;

	if (lab_want(g->lab, &ready, &err) < 0) {
		http_fail(req, &err);
	} else if (ready) {
		proxy.check_uid = true;
		proxy.uid = lab_uid(g->lab);
		http_proxy(req, &proxy);
	} else if (is_page(req)) {
		reply_page(req, 503, 1, http_target(req));
	} else {
		sb_fail(&err, SB_BUSY, "JupyterLab is starting");
		sb_hint(&err, "try again in a second");
		http_set_header(req, "Retry-After", "1");
		http_fail(req, &err);
	}
}

static void get_lab(struct http_req *req)
{
	enter(req, LAB_PATH "/lab");
}

static void any_lab(struct http_req *req)
{
	autofree char *target = http_proxy_target(req);

	if (is_page(req) && strcmp(target, http_target(req)) != 0)
		enter(req, target);
	else
		pass_on(req);
}

static const struct http_field lab_in[] = {
	{ "ticket", HTTP_STR, "To come in with; a cookie follows" },
	{ "token", HTTP_STR, "The same, if it must be" },
	{ 0 },
};
static const struct http_answer lab_out[] = {
	{ 200, "A page that goes on to JupyterLab", .type = "text/html" },
	{ 0 },
};

/* clang-format off */
const struct http_route lab_routes[] = {
	{ "GET", LAB_PATH, get_lab, HTTP_URL_TOKEN,
	  "JupyterLab, for browsers", { NULL }, lab_in, lab_out,
	  { SB_NOTFOUND, SB_GUEST },
	  .text = "Started when first asked for, if it is installed. All that "
		  "it is made of is below this path." },
	{ HTTP_ANY, LAB_PATH "/{rest...}", any_lab,
	  HTTP_URL_TOKEN | HTTP_STREAM_BODY, "What JupyterLab is made of" },
	{ 0 },
};
/* clang-format on */
