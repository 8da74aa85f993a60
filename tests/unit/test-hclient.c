/* SPDX-License-Identifier: Apache-2.0 */
/* The client against servers that lie. */
#include "config.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/hclient.h"
#include "common/json.h"
#include "common/sse.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

static int listen_fd;
static char *sock;

/* Answers one request with these bytes, then closes. */
static void *answer(void *bytes)
{
	int fd = accept(listen_fd, NULL, NULL);
	char block[4096];

	if (fd < 0 || read(fd, block, sizeof(block)) < 0 ||
	    fs_write_all(fd, bytes, strlen(bytes)) < 0)
		abort();
	shutdown(fd, SHUT_WR);
	while (read(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	return NULL;
}

static void start_listening(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	sock = xasprintf("%s/sock", scratch_dir);
	strcpy(sa.sun_path, sock);
	listen_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listen_fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(listen_fd, 8) < 0)
		abort();
}

static const struct {
	const char *what, *bytes;
	enum sb_code code; /* SB_OK: no error */
} cases[] = {
	{ "a reply", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", SB_OK },
	{ "one without a length", "HTTP/1.1 200 OK\r\n\r\n{}", SB_OK },
	{ "a chunked one",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	  "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
	  SB_OK },
	{ "one after an interim one",
	  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
	  SB_OK },
	{ "nothing", "", SB_SYSTEM },
	{ "half a head", "HTTP/1.1 200 OK\r\nX: y", SB_SYSTEM },
	{ "half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
	  SB_SYSTEM },
	{ "no HTTP", "220 mail.example ESMTP\r\n\r\n", SB_GUEST },
	{ "a body beyond the limit",
	  "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}",
	  SB_GUEST },
	{ "a chunk beyond the limit",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\nx",
	  SB_GUEST },
	{ "two lengths",
	  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
	  SB_GUEST },
	{ "no JSON", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nfoo",
	  SB_GUEST },
	{ "an error without a problem",
	  "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", SB_GUEST },
	{ "an error that claims to be none",
	  "HTTP/1.1 500 No\r\nContent-Length: 13\r\n\r\n{\"code\":\"ok\"}",
	  SB_GUEST },
	{ "a problem",
	  "HTTP/1.1 409 No\r\nContent-Length: 19\r\n\r\n{\"code\":\"conflict\"}",
	  SB_CONFLICT },
};

static void test_replies(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hclient *c = NULL;
		struct sb_err err = { 0 };
		json_t *j = NULL;
		pthread_t t;
		int r;

		pthread_create(&t, NULL, answer, (void *)cases[i].bytes);
		if (hclient_open_unix(sock, 10000, &c, &err) < 0)
			abort();
		r = hclient_json(c, "GET", "/", NULL, &j, &err);
		if (cases[i].code == SB_OK)
			ok(r == 0, cases[i].what);
		else
			ok(r < 0 && err.code == cases[i].code, cases[i].what);
		json_decref(j);
		hclient_free(c);
		pthread_join(t, NULL);
	}
}

static void test_open(void)
{
	struct hclient *c = NULL;
	struct sb_err err;

	ok(hclient_open_unix("/nonexistent/sock", 100, &c, &err) < 0,
	   "no such socket");
	ok(hclient_open_tcp("127.0.0.1", 1, 1000, &c, &err) < 0,
	   "nobody listens");
}

static int take_event(void *arg, const char *event, const char *data)
{
	buf_addf(arg, "%s=%s;", event, data);
	return strcmp(event, "stop") == 0;
}

static void test_sse(void)
{
	static const char text[] = ": comment\r\nid: 4\nevent:a\ndata:1\n\n"
				   "data: 2\r\ndata\r\n\r\nevent: empty\n\n"
				   "event: stop\ndata: x\n\ndata: never\n\n";
	autobuf struct buf b = { 0 };
	struct sse *s = sse_new(take_event, &b);
	struct sb_err err;
	char *block;
	int r = 0;

	for (size_t i = 0; i < strlen(text) && r == 0; i++)
		r = sse_feed(s, text + i, 1, &err);
	is_int(r, 1, "the handler ends the stream");
	is_str(b.p, "a=1;message=2\n;stop=x;", "events");
	sse_free(s);

	s = sse_new(take_event, &b);
	block = xcalloc(1, SSE_MAX_EVENT);
	memset(block, 'x', SSE_MAX_EVENT);
	is_int(sse_feed(s, block, SSE_MAX_EVENT, &err), 0, "a long line");
	is_int(sse_feed(s, block, 1, &err), -1, "a longer one");
	free(block);
	sse_free(s);
}

int main(void)
{
	scratch_init();
	start_listening();
	test_replies();
	test_open();
	test_sse();
	close(listen_fd);
	free(sock);
	return tap_done();
}
