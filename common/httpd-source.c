/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are read from somewhere as they leave, in constant memory. */
#include "config.h"

#include <stdlib.h>

#include "common/httpd-private.h"
#include "common/log.h"

#define PIECE (128 * 1024)

/* At most one read is under way; the stream may close meanwhile. */
struct source {
	struct loop *loop;
	struct http_stream *stream; /* NULL once it is closed */
	const struct http_source_ops *ops;
	void *arg;
	bool reading;
	ssize_t n;
	struct sb_err err;
	char data[PIECE];
};

static void source_free(struct source *src)
{
	if (src->ops->free)
		src->ops->free(src->arg);
	free(src);
}

static void read_piece(void *arg)
{
	struct source *src = arg;

	src->n = src->ops->read(src->arg, src->data, sizeof(src->data),
				&src->err);
}

static void piece_read(void *arg)
{
	struct source *src = arg;

	src->reading = false;
	if (!src->stream) {
		source_free(src);
	} else if (src->n > 0) {
		http_stream_write(src->stream, src->data, src->n);
	} else if (src->n == 0) {
		http_stream_end(src->stream);
	} else {
		log_warn("a reply was cut: %s", src->err.msg);
		http_stream_abort(src->stream);
	}
}

static void on_drain(struct http_stream *s, void *arg)
{
	struct source *src = arg;

	if (src->reading)
		return;
	src->reading = true;
	loop_work(src->loop, read_piece, piece_read, src);
}

static void on_close(struct http_stream *s, void *arg)
{
	struct source *src = arg;

	src->stream = NULL;
	if (!src->reading)
		source_free(src);
}

void http_reply_source(struct http_req *req /* takes */, int status,
		       const char *type, uint64_t length,
		       const struct http_source_ops *ops, void *arg /* takes */)
{
	static const struct http_stream_ops stream_ops = {
		.on_drain = on_drain,
		.on_close = on_close,
	};
	struct source *src = xcalloc(1, sizeof(*src));

	src->loop = req->loop;
	src->ops = ops;
	src->arg = arg;
	if (length == HTTP_LENGTH_UNKNOWN)
		src->stream =
			http_stream_begin(req, status, type, &stream_ops, src);
	else
		src->stream = http_stream_begin_sized(req, status, type, length,
						      &stream_ops, src);
}
