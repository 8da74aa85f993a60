/* SPDX-License-Identifier: Apache-2.0 */
/* What another server answers, on its way to the client. */
#include "config.h"

#include <string.h>

#include "common/httpd-proxy-private.h"

#define READ_SIZE (64 * 1024)
#define MAX_INTERIM 8 /* answers of 1xx before the one that counts */

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b);

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *b)
{
	/* One for all: what is read is handed on at once. */
	static __thread char data[READ_SIZE];

	*b = uv_buf_init(data, sizeof(data));
}

void pass_read_on(struct pass *p, bool on)
{
	if (p->closing)
		return;
	if (on)
		uv_read_start(&p->there.stream, on_alloc, on_read);
	else
		uv_read_stop(&p->there.stream);
}

static void on_stream_drain(struct http_stream *s, void *arg)
{
	pass_read_on(arg, true);
}

static void on_stream_close(struct http_stream *s, void *arg)
{
	pass_leave(arg);
}

static const struct http_stream_ops stream_ops = { on_stream_drain,
						   on_stream_close };

static void on_raw_data(void *arg, const char *data, size_t len)
{
	struct pass *p = arg;

	pass_send(p, data, len);
	if (pass_is_full(p)) {
		p->stalled = true;
		http_raw_pause(p->raw, true);
	}
}

static void on_raw_drain(void *arg)
{
	pass_read_on(arg, true);
}

static void on_raw_close(void *arg)
{
	pass_leave(arg);
}

static const struct http_raw_ops raw_ops = { on_raw_data, on_raw_drain,
					     on_raw_close };

static void end_answer(struct pass *p)
{
	http_stream_end(p->stream);
	pass_hang_up(p);
}

static void take_body(struct pass *p, const char *data, size_t len)
{
	autobuf struct buf plain = { 0 };
	struct sb_err err;

	if (p->framing == HTTP1_CHUNKED) {
		if (http1_chunked_feed(&p->chunks, data, len, &plain, SIZE_MAX,
				       &err) < 0) {
			pass_cut(p, "sent a malformed body");
			return;
		}
		data = plain.p;
		len = plain.len;
	} else if (p->framing == HTTP1_LENGTH) {
		len = MIN(len, p->left);
		p->left -= len;
	}
	if (len && http_stream_write(p->stream, data, len) > HTTP_STREAM_HIGH)
		pass_read_on(p, false);
	if (p->framing == HTTP1_CHUNKED	 ? p->chunks.done
	    : p->framing == HTTP1_LENGTH ? !p->left
					 : false)
		end_answer(p);
}

/* Hand the client over to what answers it. */
static void begin_answer(struct pass *p, struct http1_head *h)
{
	struct http_req *req = steal(&p->req);
	const char *type = http1_get(h, "content-type");

	http_on_leave(req, NULL, NULL);
	loop_timer_clear(p->timer);
	if (h->status == 101) {
		if (req->conn)
			proxy_put_upgrade(req, h, p->below);
		p->raw = http_raw_begin(req, &raw_ops, p);
		return;
	}
	proxy_take_headers(req, h, p->below);
	if (h->status == 204 || h->status == 304) {
		pass_leave(p);
		http_reply(req, h->status, type, NULL, 0);
	} else if (p->framing == HTTP1_LENGTH) {
		p->stream = http_stream_begin_sized(req, h->status, type,
						    p->left, &stream_ops, p);
	} else {
		p->stream =
			http_stream_begin(req, h->status, type, &stream_ops, p);
	}
}

/* Whether an answer of this status can be passed on, or only be skipped. */
static bool check_status(struct pass *p, const struct http1_head *h,
			 bool *ret_skip)
{
	*ret_skip = h->status >= 100 && h->status < 200 && h->status != 101;
	if (*ret_skip)
		return ++p->interim <= MAX_INTERIM;
	return h->status == 101 ? p->upgrade && p->sent
				: h->status >= 200 && h->status < 600;
}

static void take_head(struct pass *p)
{
	struct http1_head h = { 0 };
	struct sb_err err;
	ssize_t n = http1_head_len(p->head.p, p->head.len, &err);
	bool is_head = strcmp(p->req->head.method, "HEAD") == 0, skip = false;
	int r = (int)MIN(n, 0);

	if (n == 0)
		return;
	if (r == 0)
		r = http1_parse_reply(p->head.p, n, &h, &err);
	if (r == 0)
		r = http1_framing(&h, &p->framing, &p->left, &err);
	if (r < 0 || !check_status(p, &h, &skip)) {
		http1_head_done(&h);
		pass_refuse(p, SB_GUEST, "sent what is no answer");
		return;
	}
	buf_drop(&p->head, n);
	if (!skip)
		begin_answer(p, &h);
	http1_head_done(&h);
	if (skip)
		take_head(p);
	else if (p->raw)
		http_raw_write(p->raw, p->head.p, p->head.len);
	else if (p->stream && is_head)
		end_answer(p);
	else if (p->stream)
		take_body(p, p->head.p, p->head.len);
	if (!p->req)
		buf_done(&p->head);
}

/* Only an end that was meant ends an answer of no known length. */
static void on_eof(struct pass *p, bool meant)
{
	if (meant && p->stream && p->framing == HTTP1_NO_LENGTH)
		end_answer(p);
	else
		pass_cut(p, "ended the connection");
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct pass *p = s->data;

	if (n < 0) {
		on_eof(p, n == UV_EOF);
	} else if (p->req) {
		buf_add(&p->head, b->base, n);
		/* Each may hold interim answers, or the last reference. */
		p->refs++;
		take_head(p);
		pass_unref(p);
	} else if (p->stream) {
		take_body(p, b->base, n);
	} else if (p->raw &&
		   http_raw_write(p->raw, b->base, n) > HTTP_STREAM_HIGH) {
		pass_read_on(p, false);
	}
}
