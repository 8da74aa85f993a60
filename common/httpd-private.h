/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the files of the HTTP server share:
 *   httpd.c        the server: libwebsockets, listening, shutdown
 *   httpd-conn.c   a connection: reading requests, writing what is queued
 *   httpd-admit.c  whether a request is served at all
 *   httpd-route.c  the route table, targets, what a request may do
 *   httpd-req.c    what handlers ask a request
 *   httpd-reply.c  replies and streams
 *   httpd-openapi.c, httpd-schema.c  what the route tables say, as OpenAPI
 *   httpd-docs.c   the page for it
 *   httpd-ticket.c one-time tickets in place of a token
 *   httpd-source.c replies that are read from somewhere as they leave
 *   httpd-ws.c     WebSockets
 *   httpd-raw.c    connections whose bytes are no longer ours to read
 *   httpd-proxy*.c requests that others answer
 */

#include <jansson.h>
#include <sys/queue.h>

#include "common/http1.h"
#include "common/httpd.h"
#include "common/ws.h"

struct lws;
struct lws_context;
struct lws_vhost;
struct listener;

#define HTTP_MAX_SEGMENTS 16
#define HTTP_MAX_QUERY 32

/* The decoded target of a request. */
struct http_target {
	char *text;	   /* owns what the pointers point into */
	char *path;	   /* decoded, for people and logs */
	const char *token; /* that was before it, or NULL */
	size_t nsegments;
	const char *segment[HTTP_MAX_SEGMENTS];
	size_t nquery;
	struct {
		const char *name, *value;
	} query[HTTP_MAX_QUERY];
};

int target_parse(const char *target, struct http_target *ret,
		 struct sb_err *err);
void target_done(struct http_target *t);
/* Take "/k/TOKEN" away from the path; false when it does not begin so. */
bool target_take_token(struct http_target *t);

/*
 * The route for a target and method, and which of its paths matched.  NULL
 * when there is none; allow then lists the methods that the path has.
 */
const struct http_route *route_find(const struct http_table *tables,
				    const struct http_target *t,
				    const char *method, const char **ret_path,
				    struct buf *allow);
/*
 * Step through a route's path: the next segment's start and length in *p and
 * the return value; 0 at the end.
 */
size_t route_segment(const char **p, size_t last);
/* Where a field of the route is given: HTTP_AUTO is a JSON body. */
enum http_place route_place(const struct http_route *r,
			    const struct http_field *f);
/* Refuse what the route does not name. */
int route_check_query(const struct http_route *r, const struct http_target *t,
		      struct sb_err *err);
int route_check_body(const struct http_route *r, const json_t *body,
		     struct sb_err *err);
/* The segment that stands for {name} in path, or NULL. */
const char *route_param(const char *path, const struct http_target *t,
			const char *name);
/* Whether a page of another site may have sent this (DNS rebinding, CSRF). */
int route_check_origin(const struct http1_head *head,
		       const struct httpd_config *cfg, struct sb_err *err);
/* The Origin that is to be told that it may read the reply, or NULL. */
const char *route_cors_origin(const struct http1_head *head,
			      const struct httpd_config *cfg);

/*
 * From the head on, a request belongs to its connection; from the call of its
 * handler on, to the handler, until that replies.  conn is NULL once the client
 * has left.
 */
struct http_req {
	struct http_conn *conn;
	struct loop *loop;
	void *ctx;
	int64_t began_ms;
	struct http1_head head;
	struct http_target target;
	const struct http_route *route;
	const char *route_path;
	struct buf body;
	struct buf headers; /* for the reply */
	bool has_cache_control;
	bool running; /* the handler has it */
	bool is_head;
	bool keep;     /* the connection, after the reply */
	bool verbatim; /* the reply is another's: nothing is added to it */
	void (*on_leave)(void *arg);
	void *on_leave_arg;
	const struct http_body_ops *body_ops; /* takes the body as it comes */
	void *body_arg;
	bool paused;
};

void req_free(struct http_req *req);
/* Find its route, unless it is to be refused; how its body is framed is known. */
int req_admit(struct http_req *req, struct sb_err *err);

struct http_stream {
	LIST_ENTRY(http_stream) next; /* those with heartbeats */
	struct http_conn *conn;	      /* NULL once the client has left */
	const struct http_stream_ops *ops;
	void *arg;
	bool chunked, events, ended;
	bool sized;
	uint64_t left; /* of a sized body, to be written */
};

/* Queue the head of a reply, up to the fields that frame its body. */
void reply_begin_head(struct http_req *req, int status, const char *type);

/* Called by the connection. */
void stream_drained(struct http_stream *s);
void stream_gone(struct http_stream *s);

struct http_ws {
	LIST_ENTRY(http_ws) next; /* those that are pinged */
	struct http_conn *conn;	  /* NULL once the client has left */
	const struct http_ws_ops *ops;
	void *arg;
	struct ws_reader reader;
	int64_t heard_ms;
	bool paused;  /* by its owner */
	bool waiting; /* for on_drain */
	bool closing; /* our last frame is queued */
	bool ended;   /* nothing that the peer sends counts any more */
	bool parted;  /* the peer said goodbye */
};

/* Called by the connection. */
void ws_rx(struct http_ws *ws, const char *data, size_t len);
void ws_drained(struct http_ws *ws);
void ws_gone(struct http_ws *ws);

/*
 * A connection that is bytes and no more, after the head of a reply that has
 * been queued (101).  A producer pauses above HTTP_STREAM_HIGH until on_drain.
 */
struct http_raw_ops {
	void (*on_data)(void *arg, const char *data, size_t len);
	void (*on_drain)(void *arg);
	/* Once, in the end, never from within a call of ours. */
	void (*on_close)(void *arg);
};
struct http_raw {
	struct http_conn *conn; /* NULL once the client has left */
	const struct http_raw_ops *ops;
	void *arg;
	bool paused, ended;
};
/* The request is over; its client may have left. */
struct http_raw *http_raw_begin(struct http_req *req /* takes */,
				const struct http_raw_ops *ops, void *arg);
size_t http_raw_write(struct http_raw *r, const void *data, size_t len);
void http_raw_pause(struct http_raw *r, bool pause);
/* End after what is queued has left. */
void http_raw_end(struct http_raw *r);

/* Called by the connection. */
void raw_rx(struct http_raw *r, const char *data, size_t len);
void raw_drained(struct http_raw *r);
void raw_gone(struct http_raw *r);

/*
 * HEAD: waiting for a request or reading its head.  BODY: reading its body.
 * BUSY: a handler has it, or its reply is being sent.  LINGER: answered and
 * shut down, reading what the client still sends so that the reply is not lost
 * to a reset.  WS, RAW: a WebSocket, or bytes, for the rest of its life.
 * HEAD → BODY → BUSY → HEAD …, BUSY → WS or RAW, and → LINGER from all.
 */
enum conn_state {
	CONN_HEAD,
	CONN_BODY,
	CONN_BUSY,
	CONN_WS,
	CONN_RAW,
	CONN_LINGER
};

struct http_conn {
	LIST_ENTRY(http_conn) next;
	struct httpd *h;
	struct lws *wsi;
	enum conn_state state;
	bool local; /* came over the UNIX socket */
	bool rx_off;
	bool in_rx;  /* within conn_rx(), which writes what it can */
	bool kicked; /* meanwhile */
	int timeout; /* to be set at its end */
	bool close;  /* when what is queued has left */
	bool unread; /* the body was not read to its end */
	struct buf in, out;
	size_t out_sent;
	struct http_req *req;
	struct http_stream *stream;
	struct http_ws *ws;
	struct http_raw *raw;
	enum http1_body framing;
	uint64_t body_left;
	struct http1_chunked chunked;
};

void conn_open(struct http_conn *c);
int conn_rx(struct http_conn *c, const char *data, size_t len);
int conn_writable(struct http_conn *c);
void conn_closed(struct http_conn *c);
/* How many queued bytes have not left. */
size_t conn_pending(const struct http_conn *c);
/* The handler takes the body, or more of it. */
void conn_accept_body(struct http_conn *c);
void conn_read_on(struct http_conn *c);
/* Something was put into out, or close was set. */
void conn_kick(struct http_conn *c);
/* From now on it is a WebSocket. */
void conn_begin_ws(struct http_conn *c, struct http_ws *ws);
void conn_begin_raw(struct http_conn *c, struct http_raw *raw);
/* Its address as text, "" over a UNIX socket. */
#define CONN_PEER_LEN 64
void conn_peer(const struct http_conn *c, char out[CONN_PEER_LEN]);
/* Cut it after so many seconds, 0 for at once. */
void conn_cut(struct http_conn *c, int seconds);

struct httpd {
	struct loop *loop;
	struct httpd_config cfg;
	bool stopped;
	struct lws_context *lws;
	struct lws_vhost *vhost;
	LIST_HEAD(, listener) listeners;
	LIST_HEAD(, http_conn) conns;
	LIST_HEAD(, http_stream) event_streams;
	struct loop_timer *heartbeat;
	LIST_HEAD(, http_ws) websockets;
	struct loop_timer *ws_beat;
	struct httpd_stats stats;
	char *openapi; /* when it was asked for */
};

/* What httpd-schema.c makes of fields and schemas; the caller's. */
json_t *schema_field(const struct http_field *f);
json_t *schema_object(const struct http_field *fields);
json_t *schema_ref(const struct http_schema *s);
/* Add parameters and requestBody of r under one of its paths. */
void openapi_request(json_t *op, const struct http_route *r, const char *path);
/* JSON that is written with ' for "; the caller's. */
json_t *schema_json(const char *text);
