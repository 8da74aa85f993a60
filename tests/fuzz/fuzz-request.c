/* SPDX-License-Identifier: Apache-2.0 */
/* What the server makes of a client's bytes: head, target, route, body. */
#include "config.h"

#include <string.h>

#include "common/httpd-private.h"
#include "tests/fuzz/fuzz.h"

static void run_nothing(struct http_req *req)
{
}

static const struct http_route routes[] = {
	{ "GET", "/health", run_nothing, 0, NULL, { "/livez" } },
	{ "GET", "/v1/a/{id}", run_nothing, 0, NULL, { "/a/{id}/x" } },
	{ "POST", "/v1/a/{id}/b/{n}", run_nothing, 0, NULL, { NULL } },
	{ NULL, NULL, NULL, 0, NULL, { NULL } },
};

static const struct http_table tables[] = { { .rows = routes }, { 0 } };

static void route(const struct http1_head *h)
{
	autobuf struct buf allow = { 0 };
	struct http_target t;
	struct sb_err err;
	const char *path;

	if (target_parse(h->target, &t, &err) < 0)
		return;
	if (route_find(tables, &t, h->method, &path, &allow)) {
		route_param(path, &t, "id");
		route_param(path, &t, "n");
	}
	target_done(&t);
}

static void body(const struct http1_head *h, const char *data, size_t len)
{
	struct http1_chunked c = { 0 };
	autobuf struct buf out = { 0 };
	enum http1_body kind;
	struct sb_err err;
	uint64_t n;

	if (http1_framing(h, &kind, &n, &err) == 0 && kind == HTTP1_CHUNKED)
		http1_chunked_feed(&c, data, len, &out, 4096, &err);
	if (out.len > 4096)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	static const char *const origins[] = { "http://a.example", NULL };
	const struct httpd_config cfg = { .origins = origins };
	struct http1_head h;
	struct sb_err err;
	ssize_t n;

	n = http1_head_len(text, len, &err);
	if (n <= 0 || http1_parse_request(text, n, &h, &err) < 0)
		return 0;
	route(&h);
	route_check_origin(&h, &cfg, &err);
	http1_has_token(&h, "connection", "close");
	body(&h, text + n, len - n);
	http1_head_done(&h);
	return 0;
}
