/* SPDX-License-Identifier: Apache-2.0 */
/* The server's WebSockets, with a blocking client over a real socket. */
#include "config.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/httpd.h"
#include "common/json.h"
#include "common/ws.h"
#include "tests/unit/tap.h"

#define WAIT_MS 10000
#define FLOOD (8 << 20)
#define BLOCK (64 << 10)
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="

/* The server, on a thread of its own. */
static struct {
	struct loop *loop;
	struct httpd *httpd;
	int port;
	int event_fd; /* counts the on_close */
	struct http_ws *held;
	size_t sent, most_waiting;
	pthread_t thread;
} srv;

static void closed(struct http_ws *ws, void *arg)
{
	uint64_t one = 1;

	if (write(srv.event_fd, &one, sizeof(one)) < 0)
		abort();
}

static bool was_closed(void)
{
	struct pollfd p = { .fd = srv.event_fd, .events = POLLIN };
	uint64_t n;

	return poll(&p, 1, WAIT_MS) == 1 &&
	       read(srv.event_fd, &n, sizeof(n)) == sizeof(n);
}

static void echo(struct http_ws *ws, bool text, const char *data, size_t len,
		 void *arg)
{
	if (text && strcmp(data, "close") == 0)
		http_ws_close(ws, 4001, "as you wish");
	else
		http_ws_send(ws, text, data, len);
}

static void get_echo(struct http_req *req)
{
	static const struct http_ws_ops ops = { .max_message = 1000,
						.on_message = echo,
						.on_close = closed };

	http_ws_accept(req, http_ws_offers(req, "two") ? "two" : NULL, &ops,
		       NULL);
}

static void flood(struct http_ws *ws, void *arg)
{
	static char block[BLOCK];
	size_t waiting = 0;

	while (srv.sent < FLOOD && waiting <= HTTP_STREAM_HIGH) {
		waiting = http_ws_send(ws, false, block, sizeof(block));
		srv.sent += sizeof(block);
		srv.most_waiting = MAX(srv.most_waiting, waiting);
	}
	if (srv.sent >= FLOOD)
		http_ws_close(ws, WS_NORMAL, NULL);
}

static void get_flood(struct http_req *req)
{
	static const struct http_ws_ops ops = { .on_drain = flood,
						.on_close = closed };

	srv.sent = srv.most_waiting = 0;
	flood(http_ws_accept(req, NULL, &ops, NULL), NULL);
}

/* Stops after each message, until it is told to go on. */
static void hold(struct http_ws *ws, bool text, const char *data, size_t len,
		 void *arg)
{
	srv.held = ws;
	http_ws_pause(ws);
	http_ws_send(ws, text, data, len);
}

static void get_hold(struct http_req *req)
{
	static const struct http_ws_ops ops = { .on_message = hold,
						.on_close = closed };

	http_ws_accept(req, NULL, &ops, NULL);
}

static void get_go_on(struct http_req *req)
{
	http_ws_resume(srv.held);
	http_reply_empty(req, 204);
}

static int authorize(void *ctx, struct http_req *req, struct sb_err *err)
{
	const char *token = http_token(req);

	if (token && strcmp(token, "good") == 0)
		return 0;
	return sb_fail(err, SB_AUTH, "the token is missing or wrong");
}

static const struct http_route routes[] = {
	{ "GET", "/echo", get_echo, HTTP_PUBLIC, NULL, { NULL } },
	{ "GET", "/secret", get_echo, 0, NULL, { NULL } },
	{ "GET", "/flood", get_flood, HTTP_PUBLIC, NULL, { NULL } },
	{ "GET", "/hold", get_hold, HTTP_PUBLIC, NULL, { NULL } },
	{ "GET", "/go-on", get_go_on, HTTP_PUBLIC, NULL, { NULL } },
	{ NULL, NULL, NULL, 0, NULL, { NULL } },
};

static const struct http_table tables[] = { { .rows = routes }, { 0 } };

static void *serve(void *arg)
{
	loop_run(srv.loop);
	return NULL;
}

static void start_server(int ping_ms)
{
	struct httpd_config cfg = {
		.routes = tables,
		.server = "test",
		.max_body = 1000,
		.authorize = authorize,
		.ws_ping_ms = ping_ms,
	};
	struct sb_err err = { 0 };

	srv.event_fd = eventfd(0, EFD_CLOEXEC);
	srv.loop = loop_new();
	srv.httpd = httpd_new(srv.loop, &cfg, &err);
	if (!ok(srv.httpd && httpd_listen_tcp(srv.httpd, "127.0.0.1", 0,
					      &srv.port, &err) == 0,
		"a server"))
		exit(1);
	pthread_create(&srv.thread, NULL, serve, NULL);
}

static void stop_posted(void *arg)
{
	loop_stop(srv.loop);
}

static void stop_server(void)
{
	loop_post(srv.loop, stop_posted, NULL);
	pthread_join(srv.thread, NULL);
	httpd_free(srv.httpd);
	loop_free(srv.loop);
	close(srv.event_fd);
}

/* A client. */
struct client {
	int fd;
	struct ws_reader reader;
	struct buf in;
	struct http1_head head;
};

static ssize_t more(struct client *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	char data[4096];
	ssize_t n = -1;

	if (poll(&p, 1, WAIT_MS) == 1)
		n = read(c->fd, data, sizeof(data));
	if (n > 0)
		buf_add(&c->in, data, n);
	return n;
}

static void client_done(struct client *c)
{
	close(c->fd);
	http1_head_done(&c->head);
	ws_reader_done(&c->reader);
	buf_done(&c->in);
}

/* Ask for path with more headers and bytes after them; the status. */
static int ask(struct client *c, const char *path, const char *headers,
	       const char *after, size_t after_len)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(srv.port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	autobuf struct buf b = { 0 };
	struct sb_err err;
	ssize_t n;

	*c = (struct client){ .reader = { .client = true,
					  .max_message = FLOOD } };
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	buf_addf(&b, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", path,
		 srv.port, headers);
	buf_add(&b, after, after_len);
	if (connect(c->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    fs_write_all(c->fd, b.p, b.len) < 0)
		abort();
	while ((n = http1_head_len(c->in.p, c->in.len, &err)) == 0)
		if (more(c) <= 0)
			return -1;
	if (n < 0 || http1_parse_reply(c->in.p, n, &c->head, &err) < 0)
		return -1;
	buf_drop(&c->in, n);
	return c->head.status;
}

#define UPGRADE                                         \
	"Upgrade: websocket\r\nConnection: Upgrade\r\n" \
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " KEY "\r\n"

static void open_ws(struct client *c, const char *path, const char *headers)
{
	autofree char *all = xasprintf(UPGRADE "%s", headers);
	struct sb_err err = { 0 };

	ask(c, path, all, NULL, 0);
	is_int(ws_check_reply(&c->head, KEY, &err), 0, "the handshake");
}

static void send_frame(struct client *c, enum ws_opcode op, bool end,
		       const char *text)
{
	autobuf struct buf b = { 0 };

	ws_put_frame(&b, op, end, true, text, strlen(text));
	if (fs_write_all(c->fd, b.p, b.len) < 0)
		abort();
}

/* The next event that is no ping; op WS_MORE at the end of the connection. */
static void next_event(struct client *c, struct ws_event *ret)
{
	struct sb_err err;
	ssize_t n;

	for (;;) {
		while (!c->in.len)
			if (more(c) <= 0) {
				*ret = (struct ws_event){ .data = "" };
				return;
			}
		n = ws_read(&c->reader, c->in.p, c->in.len, ret, &err);
		if (n < 0)
			abort();
		buf_drop(&c->in, n);
		if (ret->op && ret->op != WS_PING)
			return;
	}
}

static void test_echo(void)
{
	struct client c;
	struct ws_event ev;

	open_ws(&c, "/echo", "Sec-WebSocket-Protocol: one, two\r\n");
	is_str(http1_get(&c.head, "sec-websocket-protocol"), "two",
	       "the subprotocol");
	send_frame(&c, WS_TEXT, true, "hello");
	next_event(&c, &ev);
	ok(ev.op == WS_TEXT && strcmp(ev.data, "hello") == 0, "an echo");
	send_frame(&c, WS_BINARY, false, "in ");
	send_frame(&c, WS_PING, true, "now");
	send_frame(&c, WS_MORE, true, "parts");
	next_event(&c, &ev);
	ok(ev.op == WS_PONG && strcmp(ev.data, "now") == 0, "a pong");
	next_event(&c, &ev);
	ok(ev.op == WS_BINARY && strcmp(ev.data, "in parts") == 0, "parts");
	send_frame(&c, WS_CLOSE, true, "\x03\xe8");
	next_event(&c, &ev);
	ok(ev.op == WS_CLOSE && ev.code == WS_NORMAL, "a goodbye");
	next_event(&c, &ev);
	is_int(ev.op, WS_MORE, "and the end");
	client_done(&c);
	ok(was_closed(), "the handler knows");
}

static void test_server_closes(void)
{
	struct client c;
	struct ws_event ev;

	open_ws(&c, "/echo", "");
	ok(!http1_get(&c.head, "sec-websocket-protocol"), "no subprotocol");
	send_frame(&c, WS_TEXT, true, "close");
	send_frame(&c, WS_TEXT, true, "too late");
	next_event(&c, &ev);
	ok(ev.op == WS_CLOSE && ev.code == 4001 &&
		   strcmp(ev.data, "as you wish") == 0,
	   "the server's goodbye");
	send_frame(&c, WS_CLOSE, true, "\x0f\xa1");
	next_event(&c, &ev);
	is_int(ev.op, WS_MORE, "the end");
	client_done(&c);
	ok(was_closed(), "the handler knows");
}

static void fails_with(const char *frame, size_t len, int code,
		       const char *what)
{
	struct client c;
	struct ws_event ev;

	open_ws(&c, "/echo", "");
	if (fs_write_all(c.fd, frame, len) < 0)
		abort();
	next_event(&c, &ev);
	ok(ev.op == WS_CLOSE && ev.code == code, what);
	next_event(&c, &ev);
	is_int(ev.op, WS_MORE, "the end");
	client_done(&c);
	ok(was_closed(), "the handler knows");
}

static void test_broken(void)
{
	fails_with("\x81\x01x", 3, WS_PROTOCOL, "an unmasked frame");
	fails_with("\x82\xfe\x03\xe9....", 8, WS_TOO_BIG, "a large message");
	fails_with("\x81\x81\0\0\0\0\xff", 7, WS_NOT_UTF8, "bad text");
}

static void test_refused(void)
{
	static const struct {
		const char *path, *headers;
		int status;
		const char *what;
	} t[] = {
		{ "/echo", "", 426, "plain HTTP" },
		{ "/echo", UPGRADE "Origin: http://evil.example\r\n", 403,
		  "another site" },
		{ "/secret", UPGRADE, 401, "no token" },
		{ "/secret", UPGRADE "Authorization: Bearer good\r\n", 101,
		  "with the token" },
		{ "/nothing", UPGRADE "Authorization: Bearer good\r\n", 404,
		  "no such route" },
		{ "/echo",
		  "Upgrade: websocket\r\nConnection: Upgrade\r\n"
		  "Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: " KEY "\r\n",
		  400, "an old version" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct client c;

		is_int(ask(&c, t[i].path, t[i].headers, NULL, 0), t[i].status,
		       t[i].what);
		client_done(&c);
	}
	ok(was_closed(), "the one that was let in has left");
}

static void test_early_frame(void)
{
	autobuf struct buf b = { 0 };
	struct client c;
	struct ws_event ev;

	ws_put(&b, WS_TEXT, true, "early", 5);
	is_int(ask(&c, "/echo", UPGRADE, b.p, b.len), 101, "a hasty client");
	next_event(&c, &ev);
	is_str(ev.data, "early", "is served");
	client_done(&c);
	ok(was_closed(), "a client that just leaves");
}

static void test_flood(void)
{
	struct client c;
	struct ws_event ev = { 0 };
	size_t n = 0;

	open_ws(&c, "/flood", "");
	do {
		next_event(&c, &ev);
		n += ev.op == WS_BINARY ? ev.len : 0;
	} while (ev.op == WS_BINARY);
	is_int(n, FLOOD, "a flood comes whole");
	ok(srv.most_waiting > HTTP_STREAM_HIGH &&
		   srv.most_waiting <= HTTP_STREAM_HIGH + 2 * BLOCK,
	   "its queue was bounded");
	client_done(&c);
	ok(was_closed(), "its end is told");
}

static void test_pause(void)
{
	struct client c, other;
	struct ws_event ev;

	open_ws(&c, "/hold", "");
	send_frame(&c, WS_TEXT, true, "one");
	send_frame(&c, WS_TEXT, true, "two");
	next_event(&c, &ev);
	is_str(ev.data, "one", "one message");
	is_int(ask(&other, "/go-on", "", NULL, 0), 204, "resumed");
	next_event(&c, &ev);
	is_str(ev.data, "two", "and the next");
	client_done(&other);
	is_int(ask(&other, "/go-on", "", NULL, 0), 204, "resumed again");
	client_done(&other);
	client_done(&c);
	ok(was_closed(), "the end");
}

/* Answers no ping: the connection ends. */
static void test_silent(void)
{
	struct client c;
	struct ws_event ev;

	open_ws(&c, "/echo", "");
	next_event(&c, &ev);
	is_int(ev.op, WS_MORE, "a silent client is cut");
	client_done(&c);
	ok(was_closed(), "the handler knows");
}

int main(void)
{
	start_server(0);
	test_echo();
	test_server_closes();
	test_broken();
	test_refused();
	test_early_frame();
	test_flood();
	test_pause();
	stop_server();
	start_server(20);
	test_silent();
	stop_server();
	return tap_done();
}
