/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a request is served at all: what is known before its body is read. */
#include "config.h"

#include <string.h>

#include "common/httpd-private.h"

static int authorize(struct http_req *req, struct sb_err *err)
{
	const struct httpd_config *cfg = &req->conn->h->cfg;

	if (req->conn->local || !cfg->authorize ||
	    cfg->authorize(cfg->ctx, req, err) == 0)
		return 0;
	if (err->code == SB_AUTH)
		http_set_header(req, "WWW-Authenticate", "Bearer");
	return -1;
}

/* What a browser asks before it lets a page of another origin ask. */
static void run_options(struct http_req *req)
{
	http_reply_empty(req, 204);
}

static const struct http_route options_route = { "OPTIONS",   "",   run_options,
						 HTTP_PUBLIC, NULL, { NULL } };

static void allow_origin(struct http_req *req, const struct httpd_config *cfg)
{
	const char *origin = route_cors_origin(&req->head, cfg);

	if (!origin)
		return;
	http_set_header(req, "Access-Control-Allow-Origin", origin);
	http_set_header(req, "Access-Control-Expose-Headers", "Location, ETag");
	http_set_header(req, "Vary", "Origin");
	if (strcmp(req->head.method, "OPTIONS") != 0)
		return;
	http_set_header(req, "Access-Control-Allow-Headers",
			"Authorization, Content-Type, X-Access-Token, "
			"Idempotency-Key, Range");
	http_set_header(req, "Access-Control-Max-Age", "600");
}

static int find_route(struct http_req *req, struct sb_err *err)
{
	const struct httpd_config *cfg = &req->conn->h->cfg;
	autobuf struct buf allow = { 0 };

	req->route = route_find(cfg->routes, &req->target, req->head.method,
				&req->route_path, &allow);
	if (!req->route && !allow.len && target_take_token(&req->target))
		req->route = route_find(cfg->routes, &req->target,
					req->head.method, &req->route_path,
					&allow);
	if (strcmp(req->head.method, "OPTIONS") == 0 && allow.len) {
		http_set_header(req, "Allow", allow.p);
		if (route_cors_origin(&req->head, cfg))
			http_set_header(req, "Access-Control-Allow-Methods",
					allow.p);
		req->route = &options_route;
	}
	if (req->route && req->route->flags & HTTP_PUBLIC)
		return 0;
	if (authorize(req, err) < 0)
		return -1;
	if (req->route)
		return 0;
	if (allow.len) {
		http_set_header(req, "Allow", allow.p);
		return sb_fail(err, SB_METHOD, "'%s' cannot be used on '%s'",
			       req->head.method, req->target.path);
	}
	sb_fail(err, SB_NOTFOUND, "there is no '%s'", req->target.path);
	return sb_hint(err, "GET /v1/openapi.json tells what there is");
}

static int check_encoding(const struct http_req *req, struct sb_err *err)
{
	const char *encoding = http1_get(&req->head, "content-encoding");

	if (str_empty(encoding) || strcasecmp(encoding, "identity") == 0)
		return 0;
	sb_fail(err, SB_FORMAT, "a body in Content-Encoding '%s' is not read",
		encoding);
	return sb_hint(err, "send it as it is, without Content-Encoding");
}

int req_admit(struct http_req *req, struct sb_err *err)
{
	const struct http_conn *c = req->conn;
	const struct httpd_config *cfg = &c->h->cfg;

	if (req->head.minor > 0 && !http1_get(&req->head, "host"))
		return sb_fail(err, SB_INVALID, "the Host header is missing");
	if (target_parse(req->head.target, &req->target, err) < 0)
		return -1;
	if (!c->local && route_check_origin(&req->head, cfg, err) < 0)
		return -1;
	allow_origin(req, cfg);
	if (find_route(req, err) < 0 || check_encoding(req, err) < 0 ||
	    route_check_query(req->route, &req->target, err) < 0)
		return -1;
	if (req->route->flags & HTTP_STREAM_BODY)
		return 0;
	if (c->body_left > cfg->max_body)
		return sb_fail(err, SB_LIMIT,
			       "the body is larger than %zu bytes",
			       cfg->max_body);
	return 0;
}
