/* SPDX-License-Identifier: Apache-2.0 */
/* Server and client against each other, over a real socket. */
#include "config.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hclient.h"
#include "common/httpd.h"
#include "common/json.h"
#include "common/log.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define STREAM_BYTES (8 << 20)
#define BLOCK (64 << 10)

/* The server, on a thread of its own. */
static struct {
	struct loop *loop;
	struct httpd *httpd;
	int port;
	int event_fd; /* counts what the client cannot see */
	struct http_req *held;
	size_t sent, most_waiting;
	char *sock;
	pthread_t thread;
} srv;

static void note(void *arg)
{
	uint64_t one = 1;

	if (write(srv.event_fd, &one, sizeof(one)) < 0)
		abort();
}

static bool noted(void)
{
	struct pollfd p = { .fd = srv.event_fd, .events = POLLIN };
	uint64_t n;

	return poll(&p, 1, 10000) == 1 &&
	       read(srv.event_fd, &n, sizeof(n)) == sizeof(n);
}

static void get_hello(struct http_req *req)
{
	http_reply_json(req, 200,
			json_pack("{s:s, s:s?}", "id", http_param(req, "id"),
				  "q", http_query(req, "q")));
}

static void post_echo(struct http_req *req)
{
	struct sb_err err;
	json_t *j;

	if (http_body_json(req, &j, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 201, j);
}

static void get_error(struct http_req *req)
{
	struct sb_err err;

	sb_fail(&err, SB_CONFLICT, "it is taken");
	sb_hint(&err, "take another");
	http_fail(req, &err);
}

static void reply_late(void *req)
{
	http_reply_json(req, 200, json_pack("{s:b}", "late", 1));
}

static void work_nothing(void *arg)
{
}

static void get_broken(struct http_req *req)
{
	struct sb_err err;

	sb_fail(&err, SB_SYSTEM, "it broke");
	http_fail(req, &err);
}

static void get_late(struct http_req *req)
{
	loop_work(srv.loop, work_nothing, reply_late, req);
}

/* Answers only once its client has left. */
static void get_held(struct http_req *req)
{
	srv.held = req;
	http_on_leave(req, note, NULL);
}

static void get_release(struct http_req *req)
{
	http_reply_json(srv.held, 200, json_object());
	http_reply_empty(req, 204);
}

static void pump(struct http_stream *s, void *arg)
{
	static char block[BLOCK];

	while (srv.sent < STREAM_BYTES) {
		size_t waiting = http_stream_write(s, block, sizeof(block));

		srv.sent += sizeof(block);
		if (waiting > srv.most_waiting)
			srv.most_waiting = waiting;
		if (waiting > HTTP_STREAM_HIGH)
			return;
	}
	http_stream_end(s);
}

static void stream_closed(struct http_stream *s, void *arg)
{
	note(NULL);
}

static void get_stream(struct http_req *req)
{
	static const struct http_stream_ops ops = { pump, stream_closed };

	srv.sent = srv.most_waiting = 0;
	pump(http_stream_begin(req, 200, "application/octet-stream", &ops,
			       NULL),
	     NULL);
}

static void get_events(struct http_req *req)
{
	static const struct http_stream_ops ops = { NULL, stream_closed };
	bool end = http_query(req, "end");
	struct http_stream *s =
		http_stream_begin(req, 200, "text/event-stream", &ops, NULL);

	http_stream_event(s, "1", "state", "one");
	http_stream_event(s, NULL, NULL, "two\nlines");
	if (end)
		http_stream_end(s);
}

static void get_body(struct http_req *req)
{
	char *data = xcalloc(1, 100000);

	http_reply(req, 200, "application/octet-stream", data, 100000);
	free(data);
}

static int authorize(void *ctx, struct http_req *req, struct sb_err *err)
{
	const char *token = http_token(req), *q = http_query(req, "q");
	bool good = (token && strcmp(token, "good") == 0) ||
		    (q && strcmp(q, "good") == 0);

	http_drop_query(req, "q");
	return good ? 0 : sb_fail(err, SB_AUTH, "no");
}

static const struct http_route routes[] = {
	{ "GET", "/hello/{id}", get_hello, 0, NULL, { NULL } },
	{ "POST", "/echo", post_echo, 0, NULL, { NULL } },
	{ "GET", "/error", get_error, 0, NULL, { NULL } },
	{ "GET", "/broken", get_broken, 0, NULL, { NULL } },
	{ "GET", "/late", get_late, 0, NULL, { NULL } },
	{ "GET", "/held", get_held, 0, NULL, { NULL } },
	{ "GET", "/release", get_release, 0, NULL, { NULL } },
	{ "GET", "/stream", get_stream, 0, NULL, { NULL } },
	{ "GET", "/events", get_events, 0, NULL, { NULL } },
	{ "GET", "/body", get_body, 0, NULL, { NULL } },
	{ NULL, NULL, NULL, 0, NULL, { NULL } },
};

static const struct http_table tables[] = { { .rows = routes }, { 0 } };

static void *serve(void *arg)
{
	loop_run(srv.loop);
	return NULL;
}

static void start_server(void)
{
	static const struct httpd_config cfg = {
		.routes = tables,
		.server = "test",
		.max_body = 1000,
		.authorize = authorize,
	};
	struct sb_err err = { 0 };
	struct stat st;

	srv.sock = xasprintf("%s/sock", scratch_dir);
	srv.event_fd = eventfd(0, EFD_CLOEXEC);
	srv.loop = loop_new();
	srv.httpd = httpd_new(srv.loop, &cfg, &err);
	if (!ok(srv.httpd != NULL, "a server"))
		exit(1);
	ok(httpd_listen_unix(srv.httpd, srv.sock, &err) == 0, "listens");
	ok(stat(srv.sock, &st) == 0 && (st.st_mode & 07777) == 0600,
	   "the socket is ours alone");
	ok(httpd_listen_tcp(srv.httpd, "127.0.0.1", 0, &srv.port, &err) == 0 &&
		   srv.port > 0,
	   "listens on TCP, too");
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
	ok(access(srv.sock, F_OK) < 0, "the socket is gone with the server");
	free(srv.sock);
	close(srv.event_fd);
}

static struct hclient *connect_client(void)
{
	struct hclient *c = NULL;

	if (hclient_open_unix(srv.sock, 10000, &c, NULL) < 0)
		abort();
	return c;
}

static void test_json(void)
{
	struct hclient *c = connect_client();
	autojson json_t *body = json_pack("{s:i}", "x", 1);
	autojson json_t *large = json_object();
	struct sb_err err;
	json_t *j = NULL;

	ok(hclient_json(c, "GET", "/hello/a%20b?q=x", NULL, &j, &err) == 0,
	   "a request");
	is_str(json_str_or(j, "id", ""), "a b", "its parameter");
	is_str(json_str_or(j, "q", ""), "x", "its query");
	json_decref(j);
	ok(hclient_json(c, "POST", "/echo", body, &j, &err) == 0,
	   "another on the same connection");
	is_int(json_int_or(j, "x", 0), 1, "its body");
	json_decref(j);
	ok(hclient_json(c, "GET", "/late", NULL, &j, &err) == 0,
	   "a reply that comes later");
	json_decref(j);
	ok(hclient_json(c, "GET", "/error", NULL, &j, &err) < 0, "an error");
	is_int(err.code, SB_CONFLICT, "its code");
	is_str(err.msg, "it is taken", "its message");
	is_str(err.hint, "take another", "its hint");
	ok(hclient_json(c, "GET", "/nothing", NULL, &j, &err) < 0 &&
		   err.code == SB_NOTFOUND,
	   "no such route");
	json_put(large, "x", json_sprintf("%1000d", 1));
	ok(hclient_json(c, "POST", "/echo", large, &j, &err) < 0 &&
		   err.code == SB_LIMIT,
	   "a body that is too large");
	hclient_free(c);
}

static void test_token(void)
{
	struct hclient *c = NULL;
	struct sb_err err;
	json_t *j = NULL;

	ok(hclient_open_tcp("127.0.0.1", srv.port, 10000, &c, &err) == 0,
	   "over TCP");
	ok(hclient_json(c, "GET", "/hello/x", NULL, &j, &err) < 0 &&
		   err.code == SB_AUTH,
	   "a token is needed");
	hclient_set_token(c, "bad");
	ok(hclient_json(c, "GET", "/hello/x", NULL, &j, &err) < 0 &&
		   err.code == SB_AUTH,
	   "the right one");
	hclient_set_token(c, "good");
	ok(hclient_json(c, "GET", "/hello/x", NULL, &j, &err) == 0, "this one");
	json_decref(j);
	hclient_set_token(c, NULL);
	ok(hclient_json(c, "GET", "/hello/x?a=1&q=good&b=2", NULL, &j, &err) ==
		   0,
	   "or a query parameter");
	ok(json_is_null(json_object_get(j, "q")),
	   "which the handler does not see");
	json_decref(j);
	hclient_free(c);
}

/* What failed on our side is logged, without what may be a secret. */
static void test_log(void)
{
	autofree char *path = xasprintf("%s/log", scratch_dir), *text = NULL;
	struct hclient *c = connect_client();
	struct sb_err err;
	json_t *j = NULL;

	if (log_open(path, true, &err) < 0)
		abort();
	ok(hclient_json(c, "GET", "/error", NULL, &j, &err) < 0 &&
		   hclient_json(c, "GET", "/broken?t=secret", NULL, &j, &err) <
			   0,
	   "two errors");
	hclient_free(c);
	fs_read(path, 4096, &text, NULL, NULL);
	ok(text && strstr(text, "\"level\":\"warn\"") &&
		   strstr(text, "\"method\":\"GET\",\"path\":\"/broken\","
				"\"status\":500,\"ms\":"),
	   "the one that is ours is logged");
	ok(text && !strstr(text, "/error"), "the other is not");
	ok(text && !strstr(text, "secret"), "and no query");
}

static void test_leaving(void)
{
	struct hclient *c = connect_client();
	struct sb_err err;
	json_t *j = NULL;

	hclient_set_timeout(c, 200);
	ok(hclient_json(c, "GET", "/held", NULL, &j, &err) < 0 &&
		   err.code == SB_TIMEOUT,
	   "a server that does not answer");
	hclient_free(c);
	ok(noted(), "the server sees the client leave");
	c = connect_client();
	ok(hclient_json(c, "GET", "/release", NULL, &j, &err) == 0 && !j,
	   "and may reply to it all the same");
	hclient_free(c);
}

static int count_bytes(void *arg, const char *data, size_t len)
{
	*(size_t *)arg += len;
	return 0;
}

static int stop_at_once(void *arg, const char *data, size_t len)
{
	return 1;
}

static void test_stream(void)
{
	struct hclient *c = connect_client();
	struct hclient_reply r = { 0 };
	struct sb_err err;
	size_t n = 0;

	ok(hclient_stream(c, "/stream", count_bytes, &n, &err) == 0,
	   "a stream");
	is_int(n, STREAM_BYTES, "comes whole");
	ok(noted(), "its end is told");
	ok(srv.most_waiting > HTTP_STREAM_HIGH &&
		   srv.most_waiting <= HTTP_STREAM_HIGH + 2 * BLOCK,
	   "its queue was bounded");
	ok(hclient_stream(c, "/stream", stop_at_once, NULL, &err) == 0,
	   "a client that has enough");
	hclient_free(c);
	ok(noted(), "is noticed");
	c = connect_client();
	ok(hclient_request(c, "GET", "/body", NULL, 1000, &r, &err) < 0 &&
		   err.code == SB_GUEST,
	   "a reply larger than the client wants");
	ok(hclient_request(c, "GET", "/body", NULL, 1 << 20, &r, &err) < 0,
	   "spoils its connection");
	hclient_free(c);
	c = connect_client();
	ok(hclient_stream(c, "/error", count_bytes, &n, &err) < 0 &&
		   err.code == SB_CONFLICT,
	   "an error in place of a stream");
	hclient_free(c);
}

static int take_event(void *arg, const char *event, const char *data)
{
	buf_addf(arg, "%s=%s;", event, data);
	return 0;
}

static int end_events(void *arg, const char *event, const char *data)
{
	return 1;
}

static void test_events(void)
{
	struct hclient *c = connect_client();
	autobuf struct buf b = { 0 };
	struct sb_err err;
	int fd = eventfd(1, EFD_CLOEXEC);

	ok(hclient_events(c, "/events?end", take_event, &b, &err) == 0,
	   "events");
	is_str(b.p, "state=one;message=two\nlines;", "as they were sent");
	ok(noted(), "their end is told");
	hclient_set_cancel(c, fd);
	ok(hclient_events(c, "/events", take_event, &b, &err) < 0 &&
		   err.code == SB_CANCELLED,
	   "a wait can be cancelled");
	hclient_free(c);
	ok(noted(), "which ends the stream");
	c = connect_client();
	ok(hclient_events(c, "/events", end_events, NULL, &err) == 0,
	   "a client that wants no more");
	hclient_free(c);
	ok(noted(), "is noticed");
	close(fd);
}

int main(void)
{
	scratch_init();
	start_server();
	test_json();
	test_token();
	test_log();
	test_leaving();
	test_stream();
	test_events();
	stop_server();
	return tap_done();
}
