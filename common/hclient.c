/* SPDX-License-Identifier: Apache-2.0 */
/* A small blocking HTTP/1.1 client that does not trust its server. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/hclient-private.h"
#include "common/json.h"

#define READ_BLOCK (16 * 1024)
#define MAX_INTERIM 8 /* heads of 1xx before the one that counts */

static int wait_for(struct hclient *c, short events, struct sb_err *err)
{
	int64_t deadline = clock_ms() + MAX(c->timeout_ms, 0);
	bool ends = c->timeout_ms >= 0 || c->deadline;

	if (c->deadline && (c->timeout_ms < 0 || c->deadline < deadline))
		deadline = c->deadline;
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = c->fd, .events = events },
			{ .fd = c->cancel_fd, .events = POLLIN },
		};
		int n = poll(fds, ARRAY_SIZE(fds),
			     ends ? clock_left(deadline) : -1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sb_fail(err, SB_SYSTEM, "poll: %m");
		if (fds[1].revents)
			return sb_fail(err, SB_CANCELLED, "cancelled");
		if (n == 0)
			return sb_fail(err, SB_TIMEOUT,
				       "no answer within %d ms", c->timeout_ms);
		return 0;
	}
}

static int connect_to(struct hclient *c, const struct sockaddr *sa,
		      socklen_t len, struct sb_err *err)
{
	socklen_t size = sizeof(int);
	int failure = 0;

	if (connect(c->fd, sa, len) == 0)
		return 0;
	/* A UNIX socket's full backlog shows as EAGAIN, at once. */
	if (errno != EINPROGRESS)
		return sb_fail(err, errno == EAGAIN ? SB_BUSY : SB_SYSTEM,
			       "cannot connect: %m");
	if (wait_for(c, POLLOUT, err) < 0)
		return -1;
	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &failure, &size);
	errno = failure;
	return failure ? sb_fail(err, SB_SYSTEM, "cannot connect: %m") : 0;
}

static struct hclient *client_new(int family, int timeout_ms, char *host)
{
	struct hclient *c = xcalloc(1, sizeof(*c));

	c->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	c->cancel_fd = -1;
	c->timeout_ms = timeout_ms;
	c->host = host;
	return c;
}

int hclient_open_unix(const char *path, int timeout_ms, struct hclient **ret,
		      struct sb_err *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct hclient *c;

	if (strlen(path) >= sizeof(sa.sun_path))
		return sb_fail(err, SB_INVALID,
			       "the socket path '%s' is longer than %zu bytes",
			       path, sizeof(sa.sun_path) - 1);
	strcpy(sa.sun_path, path);
	c = client_new(AF_UNIX, timeout_ms, xstrdup("localhost"));
	if (connect_to(c, (struct sockaddr *)&sa, sizeof(sa), err) < 0) {
		hclient_free(c);
		return sb_wrap(err, "'%s'", path);
	}
	*ret = c;
	return 0;
}

int hclient_open_tcp(const char *host, int port, int timeout_ms,
		     struct hclient **ret, struct sb_err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	autofree char *service = xasprintf("%d", port);
	struct hclient *c;
	int on = 1, r;

	r = getaddrinfo(host, service, &hints, &ai);
	if (r != 0)
		return sb_fail(err, SB_SYSTEM, "cannot look up '%s': %s", host,
			       gai_strerror(r));
	c = client_new(ai->ai_family, timeout_ms,
		       strchr(host, ':') ? xasprintf("[%s]:%d", host, port)
					 : xasprintf("%s:%d", host, port));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	r = connect_to(c, ai->ai_addr, ai->ai_addrlen, err);
	freeaddrinfo(ai);
	if (r < 0) {
		sb_wrap(err, "%s", c->host);
		hclient_free(c);
		return -1;
	}
	*ret = c;
	return 0;
}

void hclient_free(struct hclient *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	buf_done(&c->in);
	free(c->host);
	free(c->token);
	free(c);
}

void hclient_set_token(struct hclient *c, const char *token)
{
	free(c->token);
	c->token = xstrdup0(token);
}

void hclient_set_cancel(struct hclient *c, int fd)
{
	c->cancel_fd = fd;
}

void hclient_set_timeout(struct hclient *c, int timeout_ms)
{
	c->timeout_ms = timeout_ms;
}

void hclient_set_deadline(struct hclient *c, int ms)
{
	c->deadline = clock_ms() + ms;
}

static int send_all(struct hclient *c, const char *data, size_t len,
		    struct sb_err *err)
{
	while (len) {
		ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);

		if (n >= 0) {
			data += n;
			len -= n;
		} else if (errno == EPIPE || errno == ECONNRESET) {
			/* It may have answered before it closed: read on. */
			return 0;
		} else if (errno != EAGAIN && errno != EINTR) {
			return sb_fail(err, SB_SYSTEM, "cannot send: %m");
		} else if (wait_for(c, POLLOUT, err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Wait for bytes and read a block of them; *ret_eof at the end. */
static int receive(struct hclient *c, bool *ret_eof, struct sb_err *err)
{
	char block[READ_BLOCK];

	for (;;) {
		ssize_t n = recv(c->fd, block, sizeof(block), 0);

		if (n >= 0) {
			*ret_eof = n == 0;
			buf_add(&c->in, block, n);
			return 0;
		}
		if (errno != EAGAIN && errno != EINTR)
			return sb_fail(err, SB_SYSTEM,
				       "the server broke the connection: %m");
		if (wait_for(c, POLLIN, err) < 0)
			return -1;
	}
}

int hclient_send_request(struct hclient *c, const char *method,
			 const char *path, const char *type, const void *body,
			 size_t len, struct sb_err *err)
{
	autobuf struct buf b = { 0 };

	if (c->used_up)
		return sb_fail(err, SB_SYSTEM,
			       "the server has closed the connection");
	if (path[strcspn(path, " \r\n\t")])
		return sb_fail(err, SB_INVALID, "bad request path");
	buf_addf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, c->host);
	if (c->token)
		buf_addf(&b, "Authorization: Bearer %s\r\n", c->token);
	if (c->more)
		buf_adds(&b, c->more);
	if (type)
		buf_addf(&b,
			 "Content-Type: %s\r\n"
			 "Content-Length: %zu\r\n",
			 type, len);
	else if (strcmp(method, "GET") != 0)
		buf_adds(&b, "Content-Length: 0\r\n");
	buf_adds(&b, "\r\n");
	buf_add(&b, body, len);
	return send_all(c, b.p, b.len, err);
}

static int bad_reply(struct sb_err *err)
{
	err->code = SB_GUEST;
	return sb_wrap(err, "bad answer of the server");
}

/* One head; interim ones (100 Continue) are passed over. */
static int read_head(struct hclient *c, struct reply *r, struct sb_err *err)
{
	int interim = 0;

	for (;;) {
		ssize_t n = http1_head_len(c->in.p, c->in.len, err);
		bool eof = false;
		int bad;

		if (n < 0)
			return bad_reply(err);
		if (n == 0) {
			if (receive(c, &eof, err) < 0)
				return -1;
			if (eof)
				return sb_fail(
					err, SB_SYSTEM,
					"the server closed the connection without an answer");
			continue;
		}
		bad = http1_parse_reply(c->in.p, n, &r->head, err);
		buf_drop(&c->in, n);
		if (bad < 0)
			return bad_reply(err);
		if (r->head.status >= 200 || r->head.status == 101)
			return 0;
		http1_head_done(&r->head);
		if (++interim > MAX_INTERIM) {
			sb_fail(err, SB_GUEST, "it has no end of heads");
			return bad_reply(err);
		}
	}
}

int hclient_begin_reply(struct hclient *c, struct reply *r, struct sb_err *err)
{
	bool bodyless;

	if (read_head(c, r, err) < 0)
		return -1;
	if (http1_framing(&r->head, &r->framing, &r->left, err) < 0)
		return bad_reply(err);
	bodyless = r->head.status == 204 || r->head.status == 304;
	r->done = bodyless || (r->framing == HTTP1_LENGTH && !r->left);
	c->used_up = (r->framing == HTTP1_NO_LENGTH && !bodyless) ||
		     r->head.minor == 0 ||
		     http1_has_token(&r->head, "connection", "close");
	return 0;
}

/* Move what has come of the body to out, which may grow to max bytes. */
static int take_body(struct hclient *c, struct reply *r, struct buf *out,
		     size_t max, struct sb_err *err)
{
	bool known = r->framing == HTTP1_LENGTH;
	uint64_t want = known ? r->left : c->in.len;
	ssize_t n = MIN(want, c->in.len);

	if (r->framing == HTTP1_CHUNKED) {
		n = http1_chunked_feed(&r->chunked, c->in.p, c->in.len, out,
				       max, err);
		if (n < 0)
			return bad_reply(err);
		r->done = r->chunked.done;
	} else if (want > max || out->len > max - want) {
		sb_fail(err, SB_LIMIT, "longer than %zu bytes", max);
		return bad_reply(err);
	} else {
		buf_add(out, c->in.p, n);
		r->left -= known ? n : 0;
		r->done = known && !r->left;
	}
	buf_drop(&c->in, n);
	return 0;
}

int hclient_read_body(struct hclient *c, struct reply *r, struct buf *out,
		      size_t max, struct sb_err *err)
{
	bool eof = false;

	if (!c->in.len && receive(c, &eof, err) < 0)
		return -1;
	if (!eof)
		return take_body(c, r, out, max, err);
	r->done = true;
	if (r->framing == HTTP1_NO_LENGTH)
		return 0;
	return sb_fail(err, SB_SYSTEM,
		       "the server broke off in the middle of its answer");
}

void hclient_end_reply(struct reply *r)
{
	http1_head_done(&r->head);
}

int hclient_failed(struct hclient *c)
{
	c->used_up = true;
	return -1;
}

/* One request and its whole reply. */
static int exchange(struct hclient *c, const char *method, const char *path,
		    const char *type, const void *body, size_t len, size_t max,
		    struct hclient_reply *ret, struct sb_err *err)
{
	autoreply struct reply r = { 0 };
	autobuf struct buf b = { 0 };

	if (hclient_send_request(c, method, path, type, body, len, err) < 0 ||
	    hclient_begin_reply(c, &r, err) < 0)
		return hclient_failed(c);
	if (strcmp(method, "HEAD") == 0)
		r.done = true;
	while (!r.done)
		if (hclient_read_body(c, &r, &b, max, err) < 0)
			return hclient_failed(c);
	buf_add(&b, "", 0);
	ret->status = r.head.status;
	ret->type = xstrdup0(http1_get(&r.head, "content-type"));
	ret->len = b.len;
	ret->body = steal(&b.p);
	return 0;
}

int hclient_request(struct hclient *c, const char *method, const char *path,
		    const json_t *body, size_t max, struct hclient_reply *ret,
		    struct sb_err *err)
{
	autofree char *text = body ? json_print(body) : NULL;

	return exchange(c, method, path, text ? "application/json" : NULL, text,
			text ? strlen(text) : 0, max, ret, err);
}

void hclient_reply_done(struct hclient_reply *r)
{
	free(r->type);
	free(r->body);
	*r = (struct hclient_reply){ 0 };
}
#define autoreplied __attribute__((cleanup(hclient_reply_done)))

int hclient_problem(int status, const char *body, size_t len,
		    struct sb_err *err)
{
	autojson json_t *j = NULL;
	const char *code, *hint;

	if (len)
		json_parse(body, len, &j, NULL);
	code = json_str_or(j, "code", NULL);
	if (!code)
		return sb_fail(err, SB_GUEST,
			       "the server answered with status %d", status);
	sb_fail(err, sb_code_of_name(code), "%s",
		json_str_or(j, "message", "the server gave no reason"));
	if (err->code == SB_OK)
		err->code = SB_GUEST;
	hint = json_str_or(j, "remediation", NULL);
	return hint ? sb_hint(err, "%s", hint) : -1;
}

int hclient_json(struct hclient *c, const char *method, const char *path,
		 const json_t *body, json_t **ret, struct sb_err *err)
{
	autoreplied struct hclient_reply r = { 0 };
	json_t *j = NULL;

	if (hclient_request(c, method, path, body, HCLIENT_MAX_JSON, &r, err) <
	    0)
		return -1;
	if (r.status >= 400)
		return hclient_problem(r.status, r.body, r.len, err);
	if (r.len && json_parse(r.body, r.len, &j, err) < 0)
		return bad_reply(err);
	if (ret)
		*ret = j;
	else
		json_decref(j);
	return 0;
}

int hclient_send_bytes(struct hclient *c, const char *method, const char *path,
		       const void *data, size_t len, struct sb_err *err)
{
	autoreplied struct hclient_reply r = { 0 };

	if (exchange(c, method, path, "application/octet-stream", data, len,
		     HCLIENT_MAX_JSON, &r, err) < 0)
		return -1;
	if (r.status >= 400)
		return hclient_problem(r.status, r.body, r.len, err);
	return 0;
}
