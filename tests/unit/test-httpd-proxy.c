/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are passed on: the test is the client, and the other server,
 * which may do what it likes. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/http1.h"
#include "common/httpd-proxy.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define WAIT_MS 10000
#define STALL_MS 300 /* nothing moves any more */
#define HUNG_MS 100
#define FLOOD (64 << 20)
#define BOUND (16 << 20) /* of buffers of ours and of the kernel's */

static struct {
	struct loop *loop;
	struct httpd *httpd;
	int port, listener;
	struct http_proxy proxy;
	int begun, ended; /* how many passes */
	pthread_t thread;
} srv;

static void on_end(void *arg)
{
	srv.ended++;
}

static void pass_on(struct http_req *req)
{
	srv.begun++;
	http_proxy(req, &srv.proxy);
}

static const struct http_route routes[] = {
	{ HTTP_ANY,
	  "/p/{rest...}",
	  pass_on,
	  HTTP_STREAM_BODY | HTTP_URL_TOKEN,
	  NULL,
	  { NULL } },
	{ 0 },
};
static const struct http_table tables[] = { { .rows = routes }, { 0 } };

static void *serve(void *arg)
{
	loop_run(srv.loop);
	return NULL;
}

static void start(void)
{
	struct httpd_config cfg = { .routes = tables,
				    .server = "test",
				    .max_body = 1000 };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct sb_err err = { 0 };

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/s", scratch_dir);
	srv.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	srv.proxy = (struct http_proxy){ .name = "the other",
					 .hint = "start it",
					 .path = xstrdup(sa.sun_path),
					 .on_end = on_end };
	srv.loop = loop_new();
	srv.httpd = httpd_new(srv.loop, &cfg, &err);
	if (bind(srv.listener, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(srv.listener, 16) < 0 || !srv.httpd ||
	    httpd_listen_tcp(srv.httpd, "127.0.0.1", 0, &srv.port, &err) < 0)
		abort();
	pthread_create(&srv.thread, NULL, serve, NULL);
}

static void stop_posted(void *arg)
{
	loop_stop(srv.loop);
}

static void stop(void)
{
	loop_post(srv.loop, stop_posted, NULL);
	pthread_join(srv.thread, NULL);
	httpd_free(srv.httpd);
	loop_free(srv.loop);
	close(srv.listener);
	free((char *)srv.proxy.path);
}

/* Either end of what is passed on. */
struct end {
	int fd;
	struct buf in;
	struct http1_head head;
};

static void end_done(struct end *e)
{
	if (e->fd >= 0)
		close(e->fd);
	http1_head_done(&e->head);
	buf_done(&e->in);
	*e = (struct end){ .fd = -1 };
}

static bool is_ready(int fd, int events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) == 1;
}

static ssize_t more(struct end *e)
{
	static char data[65536];
	ssize_t n = -1;

	if (is_ready(e->fd, POLLIN, WAIT_MS))
		n = read(e->fd, data, sizeof(data));
	if (n > 0)
		buf_add(&e->in, data, n);
	return n;
}

static void say(struct end *e, const char *text)
{
	if (fs_write_all(e->fd, text, strlen(text)) < 0)
		printf("# cannot write: %m\n");
}

static void client(struct end *e, const char *text)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(srv.port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*e = (struct end){ .fd = socket(AF_INET, SOCK_STREAM, 0) };
	if (connect(e->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		abort();
	say(e, text);
}

static void other(struct end *e)
{
	*e = (struct end){ .fd = -1 };
	if (is_ready(srv.listener, POLLIN, WAIT_MS))
		e->fd = accept(srv.listener, NULL, NULL);
}

/* The head of what came: a request's or a reply's. */
static bool get_head(struct end *e, bool request)
{
	struct sb_err err = { 0 };
	ssize_t n;

	while ((n = http1_head_len(e->in.p, e->in.len, &err)) == 0)
		if (more(e) <= 0)
			return false;
	if (n < 0 ||
	    (request ? http1_parse_request(e->in.p, n, &e->head, &err)
		     : http1_parse_reply(e->in.p, n, &e->head, &err)) < 0)
		return false;
	buf_drop(&e->in, n);
	return true;
}

static bool get(struct end *e, size_t n)
{
	while (e->in.len < n)
		if (more(e) <= 0)
			return false;
	return true;
}

static bool is_over(struct end *e)
{
	ssize_t n;

	while ((n = more(e)) > 0)
		;
	return n == 0 || errno == ECONNRESET;
}

/* Both ends of a request that has come through. */
static void begin(struct end *c, struct end *o, const char *text)
{
	client(c, text);
	other(o);
	ok(get_head(o, true), "the other server gets the request");
}

static const char *field(struct end *e, const char *name)
{
	const char *v = http1_get(&e->head, name);

	return v ? v : "(none)";
}

#define HOST "Host: 127.0.0.1\r\n"

static void test_heads(void)
{
	struct end c, o;

	srv.proxy.authorization = "token inner";
	srv.proxy.cookie = "mine";
	begin(&c, &o,
	      "GET /p/a%2Fb/?x=1&token=T&y=%20&%74icket=U HTTP/1.1\r\n" HOST
	      "Authorization: Bearer outer\r\nX-Access-Token: outer\r\n"
	      "Cookie: a=1; mine=secret; minefield=2\r\n"
	      "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\n"
	      "X-Forwarded-For: 1.2.3.4\r\nX-Real-IP: 1.2.3.4\r\n"
	      "X-End: to end\r\nOrigin: http://127.0.0.1\r\n\r\n");
	is_str(o.head.target, "/p/a%2Fb/?x=1&y=%20", "what is asked for");
	is_str(field(&o, "authorization"), "token inner", "its credentials");
	is_str(field(&o, "cookie"), "a=1; minefield=2", "its cookies");
	is_str(field(&o, "host"), "127.0.0.1", "the host");
	is_str(field(&o, "origin"), "http://127.0.0.1", "the origin");
	is_str(field(&o, "x-forwarded-for"), "127.0.0.1", "who asks");
	is_str(field(&o, "x-forwarded-host"), "127.0.0.1", "whom");
	is_str(field(&o, "x-end"), "to end", "any other header");
	is_str(field(&o, "connection"), "close", "the connection");
	ok(!http1_get(&o.head, "x-access-token") &&
		   !http1_get(&o.head, "x-hop") && !http1_get(&o.head, "te") &&
		   !http1_get(&o.head, "x-real-ip"),
	   "nothing that is not for it");
	say(&o, "HTTP/1.1 404 Gone fishing\r\nContent-Type: text/x\r\n"
		"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nServer: other\r\n"
		"Connection: X-Hop\r\nX-Hop: 1\r\nETag: \"e\"\r\n"
		"Content-Length: 5\r\n\r\nhelloNOT THIS");
	ok(get_head(&c, false) && get(&c, 5), "the answer");
	is_int(c.head.status, 404, "its status");
	is_str(c.in.p, "hello", "its body");
	is_str(field(&c, "content-type"), "text/x", "its type");
	is_str(field(&c, "etag"), "\"e\"", "its headers");
	is_str(field(&c, "server"), "test", "but our name");
	ok(!http1_get(&c.head, "x-hop") && !http1_get(&c.head, "cache-control"),
	   "nothing more");
	ok(is_over(&o), "the other connection is closed");
	end_done(&o);
	/* The client's is not. */
	http1_head_done(&c.head);
	buf_done(&c.in);
	srv.proxy.authorization = srv.proxy.cookie = NULL;
	say(&c, "GET /k/T/p/z HTTP/1.1\r\n" HOST "\r\n");
	other(&o);
	ok(get_head(&o, true), "the next request");
	is_str(o.head.target, "/p/z", "without the token in its path");
	end_done(&o);
	end_done(&c);
}

static void test_host(void)
{
	struct end c, o;

	srv.proxy.host = "inside";
	begin(&c, &o,
	      "GET http://127.0.0.1/p?token=a HTTP/1.1\r\n" HOST
	      "Origin: http://127.0.0.1\r\n\r\n");
	is_str(o.head.target, "/p", "the form of proxies");
	is_str(field(&o, "host"), "inside", "a host of its own");
	ok(!http1_get(&o.head, "origin"), "and no origin");
	end_done(&o);
	ok(get_head(&c, false) && c.head.status == 502,
	   "one that leaves without a word");
	srv.proxy.host = NULL;
	end_done(&c);
}

static void test_bodies(void)
{
	struct end c, o;

	begin(&c, &o,
	      "POST /p HTTP/1.1\r\n" HOST "Content-Length: 10\r\n"
	      "Expect: 100-continue\r\n\r\n01234");
	is_str(field(&o, "content-length"), "10", "a body with a length");
	ok(!http1_get(&o.head, "expect"), "that need not be asked for");
	ok(get(&o, 5), "its first half, before the second is sent");
	say(&c, "56789");
	ok(get(&o, 10), "its second half");
	is_str(o.in.p, "0123456789", "as it is");
	say(&o, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
		"Transfer-Encoding: chunked\r\n\r\n");
	ok(get_head(&c, false) && c.head.status == 100, "our own 100");
	http1_head_done(&c.head);
	ok(get_head(&c, false) && c.head.status == 200, "the answer");
	say(&o, "3\r\nabc\r\n");
	ok(get(&c, 8), "a part of it, before the next");
	is_str(c.in.p, "3\r\nabc\r\n", "as it is");
	say(&o, "0\r\n\r\n");
	ok(get(&c, 13), "and its end");
	end_done(&o);
	end_done(&c);

	begin(&c, &o,
	      "PUT /p HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
	      "3\r\nabc\r\n");
	is_str(field(&o, "transfer-encoding"), "chunked", "a body in chunks");
	ok(get(&o, 8), "one chunk");
	say(&c, "0\r\n\r\n");
	ok(get(&o, 13) && strcmp(o.in.p, "3\r\nabc\r\n0\r\n\r\n") == 0,
	   "and the end");
	say(&o, "HTTP/1.0 200 OK\r\n\r\nup to the end");
	close(o.fd);
	o.fd = -1;
	ok(get_head(&c, false) && get(&c, 21), "an answer of the old kind");
	is_str(c.in.p, "d\r\nup to the end\r\n0\r\n\r\n", "with an end");
	end_done(&o);
	end_done(&c);
}

/* Nobody waits for more before it is shown. */
static void test_events(void)
{
	struct end c, o;

	begin(&c, &o, "GET /p HTTP/1.1\r\n" HOST "\r\n");
	say(&o, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
	ok(get_head(&c, false), "the head of a stream");
	for (int i = 0; i < 3; i++) {
		say(&o, "data: x\n\n");
		ok(get(&c, (size_t)(i + 1) * (9 + 5)), "an event, at once");
	}
	end_done(&c);
	ok(is_over(&o), "the client leaves, and the other server knows");
	end_done(&o);
}

static void test_without_body(void)
{
	struct end c, o;

	begin(&c, &o, "HEAD /p HTTP/1.1\r\n" HOST "\r\n");
	is_str(o.head.method, "HEAD", "HEAD");
	say(&o, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n");
	ok(get_head(&c, false), "its answer");
	is_str(field(&c, "content-length"), "99", "with a length");
	end_done(&o);
	http1_head_done(&c.head);
	say(&c, "PATCH /p HTTP/1.1\r\n" HOST "\r\n");
	other(&o);
	ok(get_head(&o, true), "the next request");
	say(&o, "HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n\r\n");
	ok(get_head(&c, false) && c.head.status == 304, "304");
	end_done(&o);
	http1_head_done(&c.head);
	say(&c, "DELETE /p HTTP/1.1\r\n" HOST "\r\n");
	other(&o);
	ok(get_head(&o, true), "and the next");
	say(&o, "HTTP/1.1 302 Found\r\nLocation: /p/x\r\nContent-Length: 0\r\n"
		"\r\n");
	ok(get_head(&c, false) && c.head.status == 302, "302");
	is_str(field(&c, "location"), "/p/x", "and where to");
	ok(!c.in.len, "no body");
	end_done(&o);
	end_done(&c);
}

#define UPGRADE                                         \
	"Upgrade: websocket\r\nConnection: Upgrade\r\n" \
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc\r\n"

static void begin_ws(struct end *c, struct end *o)
{
	begin(c, o, "GET /p/ws HTTP/1.1\r\n" HOST UPGRADE "\r\nearly");
	is_str(field(o, "upgrade"), "websocket", "that asks for a WebSocket");
	is_str(field(o, "sec-websocket-key"), "abc", "with its key");
	say(o, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
	       "Connection: upgrade\r\nSec-WebSocket-Accept: def\r\n\r\n"
	       "first");
	ok(get_head(c, false) && c->head.status == 101, "101");
	is_str(field(c, "sec-websocket-accept"), "def", "with its proof");
	ok(http1_has_token(&c->head, "connection", "upgrade"), "an upgrade");
	ok(get(c, 5) && strcmp(c->in.p, "first") == 0, "what came with it");
	ok(get(o, 5) && strcmp(o->in.p, "early") == 0, "what was there first");
}

static void test_upgrade(void)
{
	struct end c, o;

	begin_ws(&c, &o);
	for (int i = 0; i < 3; i++) {
		buf_done(&c.in);
		buf_done(&o.in);
		say(&c, "\x81\r\n\r\nup");
		ok(get(&o, 7) && !strcmp(o.in.p, "\x81\r\n\r\nup"), "up");
		say(&o, "down");
		ok(get(&c, 4) && !strcmp(c.in.p, "down"), "down");
	}
	end_done(&c);
	ok(is_over(&o), "the client leaves");
	end_done(&o);

	begin_ws(&c, &o);
	say(&o, "goodbye");
	end_done(&o);
	ok(get(&c, 12) && strcmp(c.in.p, "firstgoodbye") == 0, "a last word");
	ok(is_over(&c), "the other server leaves");
	end_done(&c);

	begin(&c, &o, "GET /p HTTP/1.1\r\n" HOST UPGRADE "\r\n");
	say(&o, "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
	ok(get_head(&c, false) && c.head.status == 403, "no WebSocket for you");
	end_done(&o);
	end_done(&c);
}

static void fails(struct end *c, int status, const char *what)
{
	if (!ok(get_head(c, false), what))
		return;
	is_int(c->head.status, status, what);
	is_str(field(c, "content-type"), "application/problem+json",
	       "as a problem");
	get(c, (size_t)atoi(field(c, "content-length")));
	ok(c->in.p && strstr(c->in.p, "the other") &&
		   strstr(c->in.p, "start it"),
	   "that says who, and what to do");
	end_done(c);
}

static void test_bad_answers(void)
{
	static const char *const bad[] = {
		"SSH-2.0-OpenSSH\r\n\r\n",
		"HTTP/1.1 20 OK\r\n\r\n",
		"HTTP/1.1 999 What\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 103 a\r\n\r\nHTTP/1.1 103 b\r\n\r\n"
		"HTTP/1.1 103 c\r\n\r\nHTTP/1.1 103 d\r\n\r\n"
		"HTTP/1.1 103 e\r\n\r\nHTTP/1.1 103 f\r\n\r\n"
		"HTTP/1.1 103 g\r\n\r\nHTTP/1.1 103 h\r\n\r\n"
		"HTTP/1.1 103 i\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
	};
	autofree char *pad = xmalloc(20001);
	struct end c, o;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		begin(&c, &o, "GET /p HTTP/1.1\r\n" HOST "\r\n");
		say(&o, bad[i]);
		fails(&c, 502, "what is no answer");
		end_done(&o);
	}
	begin(&c, &o, "GET /p HTTP/1.1\r\n" HOST "\r\n");
	memset(pad, 'x', 20000);
	pad[20000] = '\0';
	say(&o, "HTTP/1.1 200 OK\r\nX: ");
	say(&o, pad);
	fails(&c, 502, "a head without end");
	end_done(&o);
}

/* The client must see that it did not get all. */
static void test_cut_answers(void)
{
	static const char *const cut[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	};
	struct end c, o;

	for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
		begin(&c, &o, "GET /p HTTP/1.1\r\n" HOST "\r\n");
		say(&o, cut[i]);
		ok(get_head(&c, false) && c.head.status == 200, "it begins");
		end_done(&o);
		ok(is_over(&c), "and is cut");
		ok(!c.in.p || !strstr(c.in.p, "0\r\n\r\n"), "without an end");
		end_done(&c);
	}
	/* A server that dies with something unread resets the connection. */
	begin(&c, &o, "POST /p HTTP/1.1\r\n" HOST "Content-Length: 6\r\n\r\n");
	say(&c, "abc");
	ok(is_ready(o.fd, POLLIN, WAIT_MS),
	   "a request of which some is unread");
	say(&o, "HTTP/1.1 200 OK\r\n\r\n12345");
	ok(get_head(&c, false) && get(&c, 5), "an answer of any length");
	end_done(&o);
	ok(is_over(&c) && !strstr(c.in.p, "0\r\n\r\n"),
	   "is not whole after a reset");
	end_done(&c);
}

static void test_no_answer(void)
{
	const char *path = srv.proxy.path;
	struct end c, o;

	srv.proxy.path = "/nonexistent";
	client(&c, "GET /p HTTP/1.1\r\n" HOST "\r\n");
	fails(&c, 502, "no server");
	srv.proxy.path = NULL;
	srv.proxy.addr = "127.0.0.1";
	srv.proxy.port = 1;
	client(&c, "POST /p HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc");
	fails(&c, 502, "no server on a port");
	srv.proxy.addr = "nonsense";
	client(&c, "GET /p HTTP/1.1\r\n" HOST "\r\n");
	fails(&c, 502, "no address");
	srv.proxy.path = path;
	srv.proxy.reply_ms = HUNG_MS;
	begin(&c, &o, "GET /p HTTP/1.1\r\n" HOST "\r\n");
	say(&o, "HTTP/1.1 200 OK\r\n");
	fails(&c, 504, "one that hangs");
	ok(is_over(&o), "and is left");
	end_done(&o);
	srv.proxy.reply_ms = 0;
	begin(&c, &o, "GET /p HTTP/1.1\r\n" HOST "\r\n");
	end_done(&c);
	ok(is_over(&o), "a client that does not wait");
	end_done(&o);
}

/* Write until nobody takes more. */
static size_t flood(int fd)
{
	static char block[65536];
	size_t sent = 0;
	ssize_t n;

	memset(block, 'x', sizeof(block));
	while (sent < FLOOD && is_ready(fd, POLLOUT, STALL_MS)) {
		n = send(fd, block, MIN(sizeof(block), FLOOD - sent),
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			break;
		sent += n;
	}
	return sent;
}

static void test_back_pressure(void)
{
	autofree char *head = xasprintf("POST /p HTTP/1.1\r\n" HOST
					"Content-Length: %d\r\n\r\n",
					FLOOD);
	autofree char *answer = xasprintf(
		"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", FLOOD);
	struct end c, o;
	size_t n, got = 0;

	begin(&c, &o, head);
	n = flood(c.fd);
	ok(n < BOUND, "who uploads waits for the other server");
	while (got < n && more(&o) > 0)
		got = o.in.len;
	is_int(got, n, "and nothing is lost");
	ok(is_ready(c.fd, POLLOUT, WAIT_MS) && flood(c.fd) > 0,
	   "it goes on then");
	end_done(&c);
	ok(is_over(&o), "a client that leaves meanwhile");
	end_done(&o);

	begin(&c, &o, "GET /p HTTP/1.1\r\n" HOST "\r\n");
	say(&o, answer);
	ok(get_head(&c, false), "a large answer");
	n = flood(o.fd);
	ok(n < BOUND, "the other server waits for the client");
	for (got = c.in.len; got < n && more(&c) > 0;)
		got = c.in.len;
	is_int(got, n, "and nothing is lost");
	ok(is_ready(o.fd, POLLOUT, WAIT_MS) && flood(o.fd) > 0,
	   "it goes on then");
	end_done(&c);
	ok(is_over(&o) || errno == EPIPE, "a client that leaves meanwhile");
	end_done(&o);

	begin_ws(&c, &o);
	ok(flood(o.fd) < BOUND && flood(c.fd) < BOUND,
	   "so it is with WebSockets, both ways");
	end_done(&o);
	end_done(&c);
}

/* An answer to a request that is still being sent. */
static void test_early_answer(void)
{
	struct end c, o;

	begin(&c, &o, "POST /p HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\n1");
	say(&o, "HTTP/1.1 413 Too much\r\nContent-Length: 2\r\n\r\nno");
	ok(get_head(&c, false) && c.head.status == 413, "an early answer");
	say(&c, "23");
	ok(get(&c, 2) && is_over(&c), "ends the connection");
	end_done(&o);
	end_done(&c);
	begin(&c, &o,
	      "POST /p HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	say(&c, "nonsense\r\n");
	ok(get_head(&c, false) && c.head.status == 400, "a broken request");
	ok(is_over(&o), "is over for the other server, too");
	end_done(&o);
	end_done(&c);
}

int main(void)
{
	scratch_init();
	start();
	test_heads();
	test_host();
	test_bodies();
	test_events();
	test_without_body();
	test_upgrade();
	test_bad_answers();
	test_cut_answers();
	test_no_answer();
	test_back_pressure();
	test_early_answer();
	stop();
	is_int(srv.ended, srv.begun, "all that began has ended");
	return tap_done();
}
