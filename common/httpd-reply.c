/* SPDX-License-Identifier: Apache-2.0 */
/* Replies and streams. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/clock.h"
#include "common/httpd-private.h"
#include "common/json.h"
#include "common/log.h"

#define HEARTBEAT_MS 15000

#define TYPICAL_HEAD 512 /* bytes */

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = {
		/* clang-format off */
		{ 101, "Switching Protocols" },
		{ 200, "OK" },
		{ 201, "Created" },
		{ 202, "Accepted" },
		{ 204, "No Content" },
		{ 206, "Partial Content" },
		{ 301, "Moved Permanently" },
		{ 302, "Found" },
		{ 303, "See Other" },
		{ 304, "Not Modified" },
		{ 307, "Temporary Redirect" },
		{ 308, "Permanent Redirect" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 409, "Conflict" },
		{ 410, "Gone" },
		{ 413, "Content Too Large" },
		{ 415, "Unsupported Media Type" },
		{ 416, "Range Not Satisfiable" },
		{ 422, "Unprocessable Content" },
		{ 424, "Failed Dependency" },
		{ 426, "Upgrade Required" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
		{ 507, "Insufficient Storage" },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Status";
}

static void count(struct httpd *h, int status)
{
	h->stats.requests++;
	if (status >= 500)
		h->stats.server_errors++;
	else if (status >= 400)
		h->stats.client_errors++;
}

/* The text of a second is made once. */
static const char *date_text(void)
{
	static char text[40];
	static time_t made;
	time_t now = time(NULL);
	struct tm tm;

	if (now == made)
		return text;
	made = now;
	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	return text;
}

/* Without the query, which may hold a credential.  A 503 is no fault: it asks
 * the client to try again. */
static void log_request(const struct http_req *req, int status)
{
	enum log_level level = status >= 500 && status != 503 ? LOG_LEVEL_WARN
							      : LOG_LEVEL_DEBUG;
	json_t *j;

	if (level > log_get_level())
		return;
	j = json_object();
	json_put(j, "method", json_str(req->head.method));
	json_put(j, "path", json_str(req->target.path));
	json_put(j, "status", json_integer(status));
	json_put(j, "ms", json_integer(clock_ms() - req->began_ms));
	log_fields(level, j, "request");
}

/* printf() would take a tenth of the time of a small reply. */
static void add_line(struct buf *out, const char *name, const char *value)
{
	buf_adds(out, name);
	buf_adds(out, value);
	buf_add(out, "\r\n", 2);
}

void reply_begin_head(struct http_req *req, int status, const char *type)
{
	const char code[] = { '0' + status / 100, '0' + status / 10 % 10,
			      '0' + status % 10, ' ', '\0' };
	struct http_conn *c = req->conn;
	struct buf *out = &c->out;

	buf_reserve(out, TYPICAL_HEAD);
	buf_adds(out, "HTTP/1.1 ");
	add_line(out, code, reason(status));
	add_line(out, "Server: ", c->h->cfg.server);
	add_line(out, "Date: ", date_text());
	if (type)
		add_line(out, "Content-Type: ", type);
	if (!req->has_cache_control && !req->verbatim)
		buf_adds(out, "Cache-Control: no-store\r\n");
	buf_adds(out, "X-Content-Type-Options: nosniff\r\n");
	buf_add(out, req->headers.p, req->headers.len);
	count(c->h, status);
	log_request(req, status);
}

static void end_head(struct http_req *req)
{
	struct http_conn *c = req->conn;

	c->close = !req->keep || c->unread;
	add_line(&c->out, "Connection: ", c->close ? "close" : "keep-alive");
	buf_add(&c->out, "\r\n", 2);
}

/* The connection does not wait for this request any more. */
static void detach(struct http_req *req)
{
	req->conn->req = NULL;
	conn_kick(req->conn);
	req_free(req);
}

void http_reply(struct http_req *req, int status, const char *type,
		const void *data, size_t len)
{
	bool bodyless = status == 204 || status == 304;

	if (!req->conn) {
		req_free(req);
		return;
	}
	reply_begin_head(req, status, type);
	if (!bodyless)
		buf_addf(&req->conn->out, "Content-Length: %zu\r\n", len);
	end_head(req);
	if (!bodyless && !req->is_head)
		buf_add(&req->conn->out, data, len);
	detach(req);
}

void http_reply_empty(struct http_req *req, int status)
{
	http_reply(req, status, NULL, NULL, 0);
}

void http_reply_json(struct http_req *req, int status, json_t *j /* takes */)
{
	autofree char *text = json_print(j);

	json_decref(j);
	http_reply(req, status, "application/json", text, strlen(text));
}

json_t *http_problem(const struct sb_err *err)
{
	int status = sb_code_http(err->code);
	json_t *j = json_pack("{s:s, s:s, s:i, s:s}", "type", "about:blank",
			      "title", reason(status), "status", status, "code",
			      sb_code_name(err->code));

	json_put(j, "detail", json_str(err->msg));
	json_put(j, "message", json_str(err->msg));
	/* Where Jupyter's clients look. */
	json_put(j, "reason", json_str(reason(status)));
	if (err->hint[0])
		json_put(j, "remediation", json_str(err->hint));
	return j;
}

void http_fail(struct http_req *req, const struct sb_err *err)
{
	autojson json_t *j = http_problem(err);
	autofree char *text = json_print(j);

	http_reply(req, sb_code_http(err->code), "application/problem+json",
		   text, strlen(text));
}

void http_set_header(struct http_req *req, const char *name, const char *value)
{
	/* A line break would let a value forge more headers. */
	if (value[strcspn(value, "\r\n")])
		return;
	buf_addf(&req->headers, "%s: %s\r\n", name, value);
	if (strcasecmp(name, "Cache-Control") == 0)
		req->has_cache_control = true;
}

static void beat(void *arg)
{
	struct httpd *h = arg;
	struct http_stream *s;

	LIST_FOREACH(s, &h->event_streams, next)
		if (!s->ended && !conn_pending(s->conn))
			http_stream_write(s, ":\n\n", 3);
	if (!LIST_EMPTY(&h->event_streams))
		loop_timer_set(h->heartbeat, HEARTBEAT_MS);
}

static void stream_free(struct http_stream *s)
{
	if (s->ops && s->ops->on_close)
		s->ops->on_close(s, s->arg);
	free(s);
}

static void stream_free_posted(void *s)
{
	stream_free(s);
}

static void watch_events(struct httpd *h, struct http_stream *s)
{
	s->events = true;
	if (!h->heartbeat)
		h->heartbeat = loop_timer_new(h->loop, beat, h);
	if (LIST_EMPTY(&h->event_streams))
		loop_timer_set(h->heartbeat, HEARTBEAT_MS);
	LIST_INSERT_HEAD(&h->event_streams, s, next);
}

static struct http_stream *begin_stream(struct http_req *req /* takes */,
					int status, const char *type,
					bool sized, uint64_t length,
					const struct http_stream_ops *ops,
					void *arg)
{
	struct http_stream *s = xcalloc(1, sizeof(*s));

	s->ops = ops;
	s->arg = arg;
	s->conn = req->conn;
	s->sized = sized;
	s->left = length;
	if (!s->conn) {
		loop_post(req->loop, stream_free_posted, s);
		req_free(req);
		return s;
	}
	s->chunked = !sized && req->head.minor > 0;
	s->ended = req->is_head;
	req->keep = req->keep && (s->chunked || sized);
	reply_begin_head(req, status, type);
	if (sized)
		buf_addf(&s->conn->out, "Content-Length: %llu\r\n",
			 (unsigned long long)length);
	else if (s->chunked)
		buf_adds(&s->conn->out, "Transfer-Encoding: chunked\r\n");
	end_head(req);
	s->conn->stream = s;
	if (!s->ended && !req->verbatim && type &&
	    str_starts(type, "text/event-stream"))
		watch_events(s->conn->h, s);
	detach(req);
	return s;
}

struct http_stream *http_stream_begin(struct http_req *req /* takes */,
				      int status, const char *type,
				      const struct http_stream_ops *ops,
				      void *arg)
{
	return begin_stream(req, status, type, false, 0, ops, arg);
}

struct http_stream *http_stream_begin_sized(struct http_req *req /* takes */,
					    int status, const char *type,
					    uint64_t length,
					    const struct http_stream_ops *ops,
					    void *arg)
{
	return begin_stream(req, status, type, true, length, ops, arg);
}

size_t http_stream_write(struct http_stream *s, const void *data, size_t len)
{
	if (!s->conn || s->ended)
		return 0;
	if (s->sized) {
		len = MIN(len, s->left);
		s->left -= len;
	}
	if (len && s->chunked)
		buf_addf(&s->conn->out, "%zx\r\n", len);
	buf_add(&s->conn->out, data, len);
	if (len && s->chunked)
		buf_adds(&s->conn->out, "\r\n");
	conn_kick(s->conn);
	return conn_pending(s->conn);
}

size_t http_stream_event(struct http_stream *s, const char *id,
			 const char *event, const char *data)
{
	autobuf struct buf b = { 0 };

	if (id)
		buf_addf(&b, "id: %s\n", id);
	if (event)
		buf_addf(&b, "event: %s\n", event);
	for (;;) {
		size_t n = strcspn(data, "\n");

		buf_addf(&b, "data: %.*s\n", (int)n, data);
		if (!data[n])
			break;
		data += n + 1;
	}
	buf_adds(&b, "\n");
	return http_stream_write(s, b.p, b.len);
}

void http_stream_end(struct http_stream *s)
{
	if (!s->conn || s->ended)
		return;
	s->ended = true;
	if (s->chunked)
		buf_adds(&s->conn->out, "0\r\n\r\n");
	if (s->left)
		s->conn->close = true;
	conn_kick(s->conn);
}

void http_stream_abort(struct http_stream *s)
{
	if (!s->conn || s->ended)
		return;
	s->ended = true;
	s->conn->close = true;
	conn_kick(s->conn);
}

void stream_drained(struct http_stream *s)
{
	if (s->ended) {
		s->conn->stream = NULL;
		stream_gone(s);
	} else if (s->ops && s->ops->on_drain) {
		s->ops->on_drain(s, s->arg);
	}
}

void stream_gone(struct http_stream *s)
{
	if (s->events)
		LIST_REMOVE(s, next);
	s->conn = NULL;
	stream_free(s);
}
