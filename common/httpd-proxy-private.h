/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the files of the proxy share:
 *   httpd-proxy.c         the life of a request, and its way to the other server
 *   httpd-proxy-answer.c  the way back
 *   httpd-proxy-head.c    the heads of both
 */

#include "common/httpd-private.h"
#include "common/httpd-proxy.h"

/*
 * One request under way.  It ends with both of its sides: ours is the request,
 * then the stream or the connection that answers it; the other server's is the
 * handle.
 */
struct pass {
	struct http_req *req; /* until it is answered */
	struct http_stream *stream;
	struct http_raw *raw;
	union {
		uv_stream_t stream;
		uv_pipe_t pipe;
		uv_tcp_t tcp;
	} there;
	uv_connect_t connect;
	bool closing; /* the other side */
	int refs;
	struct loop_timer *timer;
	int reply_ms;
	bool check_uid; /* of the other side */
	uid_t uid;
	char *name, *hint, *below;
	void (*on_end)(void *arg);
	void *arg;

	struct buf head;       /* of the request; then of the answer */
	bool upgrade, chunked; /* what the request is */
	bool sent;	       /* the request, all of it */
	bool stalled;	       /* the client is to wait with its body */
	int interim;
	enum http1_body framing; /* of the answer */
	uint64_t left;
	struct http1_chunked chunks;
};

void pass_unref(struct pass *p);
/* Let go of the other server. */
void pass_hang_up(struct pass *p);
/* Our side is over. */
void pass_leave(struct pass *p);
/* The answer is that there is none. */
void pass_refuse(struct pass *p, enum sb_code code, const char *what);
/* The answer, or the WebSocket, is cut off. */
void pass_cut(struct pass *p, const char *why);
/* Towards the other server; whoever sends pauses while it is full. */
void pass_send(struct pass *p, const char *data, size_t len);
bool pass_is_full(const struct pass *p);
/* From the other server: take its answer as it comes, or wait with that. */
void pass_read_on(struct pass *p, bool on);

/* The head of the request for the other server. */
void proxy_put_request(struct buf *out, const struct http_req *req,
		       const struct http_proxy *cfg);
/* Whether the client wants a WebSocket. */
bool proxy_is_upgrade(const struct http1_head *h);
/* Take over the headers of the other server's answer; below as in http_proxy. */
void proxy_take_headers(struct http_req *req, const struct http1_head *answer,
			const char *below);
/* Queue the 101. */
void proxy_put_upgrade(struct http_req *req, const struct http1_head *answer,
		       const char *below);
