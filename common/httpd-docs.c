/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/openapi.json, and the page that shows it and tries it out. */
#include "config.h"

#include <string.h>

#include "common/httpd-private.h"

static const char page_html[] = {
#include "common/docs.html.inc"
};

static const char page_css[] = {
#include "common/docs.css.inc"
};

static const char page_js[] = {
#include "common/docs.js.inc"
};

/* The page loads its own two files, asks this server, and nothing else. */
static const char policy[] = "default-src 'none'; script-src 'self';"
			     " style-src 'self'; connect-src 'self';"
			     " img-src 'self' blob: data:; base-uri 'none';"
			     " form-action 'none'; frame-ancestors 'none'";

static void reply(struct http_req *req, const char *type, const char *data,
		  size_t len)
{
	http_set_header(req, "Content-Security-Policy", policy);
	http_set_header(req, "Cache-Control", "no-cache");
	http_set_header(req, "Referrer-Policy", "no-referrer");
	http_reply(req, 200, type, data, len);
}

static void get_page(struct http_req *req)
{
	reply(req, "text/html; charset=utf-8", page_html, sizeof(page_html));
}

static void get_css(struct http_req *req)
{
	reply(req, "text/css; charset=utf-8", page_css, sizeof(page_css));
}

static void get_js(struct http_req *req)
{
	reply(req, "text/javascript; charset=utf-8", page_js, sizeof(page_js));
}

const char *http_openapi(const struct http_req *req)
{
	return httpd_openapi(req->conn->h);
}

static void get_openapi(struct http_req *req)
{
	const char *text = http_openapi(req);

	http_reply(req, 200, "application/json", text, strlen(text));
}

const struct http_schema http_openapi_schema = {
	"OpenApi",
	(const struct http_field[]){
		{ "openapi", HTTP_STR, "The version of OpenAPI" },
		{ "info", HTTP_OBJ, "Title, version and license" },
		{ "servers", HTTP_LIST, "Where to send requests",
		  .of = HTTP_OBJ },
		{ "tags", HTTP_LIST, "The kinds of routes", .of = HTTP_OBJ },
		{ "security", HTTP_LIST, "What a request needs", .of = HTTP_OBJ,
		  .maybe = true },
		{ "paths", HTTP_OBJ, "All routes" },
		{ "components", HTTP_OBJ, "What the routes share" },
		{ 0 } },
	"An OpenAPI 3.1 document",
	NULL,
};

static const struct http_answer openapi_out[] = {
	{ 200, "The document", &http_openapi_schema },
	{ 0 },
};
static const struct http_answer html_out[] = {
	{ 200, "The page", .type = "text/html" },
	{ 0 },
};
static const struct http_answer css_out[] = {
	{ 200, "The style sheet", .type = "text/css" },
	{ 0 },
};
static const struct http_answer js_out[] = {
	{ 200, "The script", .type = "text/javascript" },
	{ 0 },
};

/* Nothing here is secret, and a page cannot send a token for its parts. */
/* clang-format off */
const struct http_route httpd_docs_routes[] = {
	{ "GET", "/v1/openapi.json", get_openapi, HTTP_PUBLIC,
	  "This description, as OpenAPI 3.1", .out = openapi_out },
	{ "GET", "/docs", get_page, HTTP_PUBLIC,
	  "A page to read this description and try it out", .out = html_out },
	{ "GET", "/docs/docs.css", get_css, HTTP_PUBLIC,
	  "The style sheet of that page", .out = css_out },
	{ "GET", "/docs/docs.js", get_js, HTTP_PUBLIC,
	  "The script of that page", .out = js_out },
	{ 0 },
};
/* clang-format on */
