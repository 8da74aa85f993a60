/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 messages, targets and routes as bytes. */
#include "config.h"

#include <string.h>

#include "common/http1.h"
#include "common/httpd-private.h"
#include "tests/unit/tap.h"

static int parse(const char *text, struct http1_head *h)
{
	struct sb_err err;

	return http1_parse_request(text, strlen(text), h, &err);
}

static void test_heads(void)
{
	struct http1_head h;
	struct sb_err err;
	char large[HTTP1_MAX_HEAD];

	is_int(http1_head_len("GET / HTTP/1.1\r\n", 16, &err), 0,
	       "a head without its end needs more");
	is_int(http1_head_len("a\r\n\r\nbody", 9, &err), 5,
	       "a head ends with its empty line");
	memset(large, 'a', sizeof(large));
	is_int(http1_head_len(large, sizeof(large), &err), -1,
	       "an endless head is refused");

	ok(parse("POST /x?y HTTP/1.1\r\nHost: a\r\nX-Y:  v w \r\n"
		 "connection: Foo, CLOSE\r\n\r\n",
		 &h) == 0,
	   "a good head");
	is_str(h.method, "POST", "its method");
	is_str(h.target, "/x?y", "its target");
	is_str(http1_get(&h, "x-y"), "v w", "a value is trimmed");
	ok(!http1_get(&h, "absent"), "an absent header");
	ok(http1_has_token(&h, "connection", "close"), "a token in a list");
	ok(!http1_has_token(&h, "connection", "clos"), "not a part of one");
	http1_head_done(&h);

	ok(parse("GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n", &h) < 0,
	   "no folded lines");
	ok(parse("GET / HTTP/1.1\r\nHost : a\r\n\r\n", &h) < 0,
	   "no space before the colon");
	ok(parse("GET / HTTP/1.1\nHost: a\r\n\r\n", &h) < 0, "no bare LF");
	ok(parse("GET / x HTTP/1.1\r\n\r\n", &h) < 0, "no space in the target");
	ok(http1_parse_reply("HTTP/1.1 2000 OK\r\n\r\n", 20, &h, &err) < 0,
	   "a status has three digits");
}

static int framing(const char *fields, enum http1_body *kind, uint64_t *len)
{
	autofree char *text = xasprintf("GET / HTTP/1.1\r\n%s\r\n", fields);
	struct http1_head h;
	struct sb_err err;
	int r;

	if (parse(text, &h) < 0)
		return -2;
	r = http1_framing(&h, kind, len, &err);
	http1_head_done(&h);
	return r;
}

static void test_framing(void)
{
	enum http1_body kind;
	uint64_t len = 0;

	ok(framing("", &kind, &len) == 0 && kind == HTTP1_NO_LENGTH, "no body");
	ok(framing("Content-Length: 12\r\n", &kind, &len) == 0 &&
		   kind == HTTP1_LENGTH && len == 12,
	   "a length");
	ok(framing("Transfer-Encoding: Chunked\r\n", &kind, &len) == 0 &&
		   kind == HTTP1_CHUNKED,
	   "chunked");
	is_int(framing("Content-Length: 1\r\nContent-Length: 1\r\n", &kind,
		       &len),
	       -1, "two lengths");
	is_int(framing("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
		       &kind, &len),
	       -1, "length and chunked");
	is_int(framing("Content-Length: +1\r\n", &kind, &len), -1, "a sign");
	is_int(framing("Content-Length: 99999999999999999999999\r\n", &kind,
		       &len),
	       -1, "a length beyond all numbers");
}

static void test_chunked(void)
{
	static const char text[] = "3;a=b\r\nabc\r\n0A\r\n0123456789\r\n"
				   "0\r\nTrailer: x\r\n\r\nrest";
	struct http1_chunked c = { 0 };
	autobuf struct buf out = { 0 };
	struct sb_err err;

	is_int(http1_chunked_feed(&c, text, strlen(text), &out, 100, &err),
	       strlen(text) - 4, "what follows is left");
	ok(c.done, "it is whole");
	is_str(out.p, "abc0123456789", "its bytes");

	/* The same, byte by byte. */
	c = (struct http1_chunked){ 0 };
	out.len = 0;
	for (size_t i = 0; i < strlen(text) && !c.done; i++)
		http1_chunked_feed(&c, text + i, 1, &out, 100, &err);
	is_str(out.p, "abc0123456789", "its bytes, one at a time");

	c = (struct http1_chunked){ 0 };
	out.len = 0;
	is_int(http1_chunked_feed(&c, text, strlen(text), &out, 12, &err), -1,
	       "one byte too many");
	is_int(err.code, SB_LIMIT, "is over the limit");
	c = (struct http1_chunked){ 0 };
	is_int(http1_chunked_feed(&c, "fffffffffffff\r\n", 15, &out, 12, &err),
	       -1, "a size of too many digits");
	c = (struct http1_chunked){ 0 };
	is_int(http1_chunked_feed(&c, "1\r\nab\r\n", 7, &out, 100, &err), -1,
	       "a chunk longer than it says");
}

static void run_nothing(struct http_req *req)
{
}

static const struct http_route routes[] = {
	{ "GET", "/", run_nothing, 0, NULL, { NULL } },
	{ "GET", "/a/{id}", run_nothing, 0, NULL, { "/old/{id}/x" } },
	{ "POST", "/a/{id}", run_nothing, 0, NULL, { NULL } },
	{ "GET", "/a/{id}/b/{n}", run_nothing, 0, NULL, { NULL } },
	{ NULL, NULL, NULL, 0, NULL, { NULL } },
};

static const struct http_table tables[] = { { .rows = routes }, { 0 } };

/* The index of the route, -1 for none, -2 for a bad target. */
static int find(const char *method, const char *target, const char *param,
		char *ret, struct buf *allow)
{
	const struct http_route *r;
	struct http_target t;
	struct sb_err err;
	const char *path, *value;

	if (target_parse(target, &t, &err) < 0)
		return -2;
	r = route_find(tables, &t, method, &path, allow);
	value = r && param ? route_param(path, &t, param) : NULL;
	snprintf(ret, 64, "%s", value ? value : "");
	target_done(&t);
	return r ? r - routes : -1;
}

static void test_routes(void)
{
	autobuf struct buf allow = { 0 };
	char value[64];

	is_int(find("GET", "/", NULL, value, &allow), 0, "the root");
	is_int(find("GET", "/a/7?x=1", "id", value, &allow), 1, "a route");
	is_str(value, "7", "its parameter");
	is_int(find("HEAD", "/a/7/", "id", value, &allow), 1,
	       "HEAD is GET, a slash at the end is nothing");
	is_int(find("GET", "/old/x%2Fy+z/x", "id", value, &allow), 1,
	       "an alias");
	is_str(value, "x/y+z", "its parameter is decoded, + is a plus");
	is_int(find("GET", "/a/1/b/2", "n", value, &allow), 3,
	       "the longer one");
	is_str(value, "2", "the second parameter");
	is_int(find("GET", "/a", NULL, value, &allow), -1, "too short");
	is_int(find("GET", "/a//b/2", NULL, value, &allow), -1,
	       "a parameter is not empty");
	is_int(allow.len, 0, "no method for what is not there");
	is_int(find("PUT", "/a/7", NULL, value, &allow), -1, "another method");
	is_str(allow.p, "GET, HEAD, POST", "those that there are");
	is_int(find("GET", "/a/%2", NULL, value, &allow), -2, "half an escape");
	is_int(find("GET", "/a/%00", NULL, value, &allow), -2, "NUL");
	is_int(find("GET", "/a/%2e%2e", NULL, value, &allow), -2, "dots");
	is_int(find("GET", "a", NULL, value, &allow), -2, "no slash");
}

static void test_query(void)
{
	struct http_target t;
	struct sb_err err;

	ok(target_parse("/?a=1+2&b&c=%26&=d&&a=3", &t, &err) == 0, "a query");
	is_int(t.nquery, 5, "its parameters");
	is_str(t.query[0].value, "1 2", "+ is a space here");
	is_str(t.query[1].value, "", "one without a value");
	is_str(t.query[2].value, "&", "an escape");
	target_done(&t);
	ok(target_parse("/?a=%", &t, &err) < 0, "half an escape");
}

static int origin(const char *fields)
{
	static const char *const hosts[] = { "box.example", NULL };
	static const char *const origins[] = { "https://lab.example", NULL };
	struct httpd_config cfg = { .hosts = hosts, .origins = origins };
	autofree char *text = xasprintf("GET / HTTP/1.1\r\n%s\r\n", fields);
	struct http1_head h;
	struct sb_err err;
	int r;

	if (parse(text, &h) < 0)
		return -2;
	r = route_check_origin(&h, &cfg, &err);
	http1_head_done(&h);
	return r;
}

static void test_origin(void)
{
	is_int(origin("Host: 127.0.0.1:80\r\n"), 0, "an address");
	is_int(origin("Host: [::1]:80\r\n"), 0, "a longer one");
	is_int(origin("Host: LocalHost\r\n"), 0, "localhost");
	is_int(origin("Host: box.example:1\r\n"), 0, "a configured name");
	is_int(origin("Host: evil.example\r\n"), -1, "a foreign name");
	is_int(origin("Host: 127.0.0.1.evil.example\r\n"), -1,
	       "one in disguise");
	is_int(origin("Host: [::1]evil\r\n"), -1, "another one");
	is_int(origin("Host: localhost:1\r\nOrigin: http://localhost:1\r\n"), 0,
	       "our own page");
	is_int(origin("Host: localhost:1\r\nOrigin: http://localhost:2\r\n"),
	       -1, "the page of another port");
	is_int(origin("Host: localhost:1\r\nOrigin: null\r\n"), -1,
	       "a page from nowhere");
	is_int(origin("Host: localhost\r\nOrigin: https://lab.example\r\n"), 0,
	       "a page that may ask");
	is_int(origin("Host: localhost\r\nOrigin: http://lab.example\r\n"), -1,
	       "one that only looks like it");
}

static void test_is_origin(void)
{
	static const char *const good[] = {
		"https://lab.example", "http://localhost:8080",
		"http://[::1]:3000",   "https://10.0.0.1",
		"HTTPS://Lab.Example", "vscode-webview://1a2b_3c",
	};
	static const char *const bad[] = {
		"",
		"*",
		"null",
		"lab.example",
		"//lab.example",
		"https://",
		"https:///",
		"https://lab.example/",
		"https://lab.example/x",
		"https://lab.example?x",
		"https://lab.example#x",
		"https://me@lab.example",
		"https://*.example",
		"https://lab.example:",
		"https://lab.example:0",
		"https://lab.example:65536",
		"https://lab.example:-1",
		"https://lab.example:1x",
		"https://lab example",
		" https://lab.example",
		"https://lab.example\r\nX: y",
		"https://l\303\244b.example",
		"http://[::1",
		"http://[]",
		"http://[::1]x",
		"1http://lab.example",
		"://lab.example",
	};
	char much[HTTP1_MAX_ORIGIN + 2] = "http://";

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ok(http1_is_origin(good[i]), good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(!http1_is_origin(bad[i]), "what is no origin");
	memset(much + 7, 'a', sizeof(much) - 8);
	ok(!http1_is_origin(much), "one that is too long");
	much[HTTP1_MAX_ORIGIN] = '\0';
	ok(http1_is_origin(much), "one that is not");
}

static void test_url_token(void)
{
	struct http_target t;
	struct sb_err err;

	target_parse("/k/sec%72et/api/kernels?x=1", &t, &err);
	ok(target_take_token(&t), "a token before the path");
	is_str(t.token, "secret", "is taken");
	is_str(t.path, "/api/kernels", "and not in the path any more");
	is_int((long long)t.nsegments, 2, "which has the rest");
	target_done(&t);
	target_parse("/k/secret", &t, &err);
	ok(!target_take_token(&t), "not without a path");
	target_done(&t);
	target_parse("/api/k/x/y", &t, &err);
	ok(!target_take_token(&t), "not in the middle");
	target_done(&t);
}

int main(void)
{
	test_heads();
	test_framing();
	test_chunked();
	test_routes();
	test_query();
	test_origin();
	test_is_origin();
	test_url_token();
	return tap_done();
}
