/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The HTTP server core that sandboxd and guestd share: libwebsockets on the
 * daemon's libuv loop, a table of routes, authorisation, problem+json errors,
 * replies that may come later and streams with back-pressure.
 *
 * libwebsockets owns the connections; we read the HTTP/1.1 requests on them
 * ourselves (http1.h), because its own reader loses what we need: it decodes
 * %2F and turns + into a space before we see the path, answers bad requests in
 * HTML, does not read chunked bodies, and spins when a client leaves while its
 * request waits for a reply.
 *
 * All functions belong to the loop's thread.  A handler must in the end reply
 * exactly once (httpd_reply*, httpd_fail or httpd_stream), at once or later;
 * until then it may keep the request.  If the client leaves first, the request
 * stays valid until it is replied to: the reply then goes nowhere.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/httpd-doc.h"
#include "common/loop.h"

struct httpd;
struct http_req;
struct http_stream;
struct http_ws;

typedef void (*http_handler)(struct http_req *req);

enum http_flag {
	HTTP_PUBLIC = 1 << 0,	   /* needs no token */
	HTTP_STREAM_BODY = 1 << 1, /* run at the head: http_body_begin() */
	/* The token may be in the URL, for clients that can send no header:
	 * "?token=T", or "/k/T" before the path. */
	HTTP_URL_TOKEN = 1 << 2,
	/* Others have defined it, and their clients send more than we need:
	 * fields and parameters that are not named are let through. */
	HTTP_LENIENT = 1 << 3,
};

#define HTTP_MAX_ALIASES 4
#define HTTP_MAX_FAILS 6

#define HTTP_ANY "*"

/*
 * One thing that can be asked for.  A path segment in braces matches one
 * non-empty segment: "/v1/sandboxes/{id}", and a last one with dots all that
 * follows: "/files/{rest...}".  Rows end with .run == NULL; the first that
 * matches counts.  HTTP_ANY is for paths that no row before it has, whatever
 * their methods.
 * A route without .out is not described: it takes what it likes.  With
 * HTTP_URL_TOKEN it is one that others have defined, and not in OpenAPI.
 */
struct http_route {
	const char *
		method; /* "GET", "POST", "PUT", "PATCH", "DELETE", or HTTP_ANY */
	const char *path;
	http_handler run;
	unsigned int flags;
	const char *summary; /* one line */
	const char *alias[HTTP_MAX_ALIASES];
	const struct http_field *in;	    /* NULL: takes nothing */
	const struct http_answer *out;	    /* all answers but errors */
	enum sb_code fails[HTTP_MAX_FAILS]; /* beside those of all routes */
	const char *example;		    /* a body, or a query, as JSON */
	const char *text;		    /* what more there is to say */
};

/* Routes of one kind; lists of these end with .rows == NULL. */
struct http_table {
	const char *tag, *text;
	const struct http_route *rows;
};

struct httpd_config {
	const struct http_table *routes;
	void *ctx;	    /* http_ctx() in handlers */
	const char *server; /* Server header: "guestd/0.1" */
	const char *title;  /* of the OpenAPI document, and the next two */
	const char *about;
	const char *version;
	size_t max_body; /* bytes; larger is 413 */
	/* Asked once for each request that came over TCP, unless its route is
	 * public: -1 refuses it with err.  NULL: every request is served. */
	int (*authorize)(void *ctx, struct http_req *req, struct sb_err *err);
	/* Host names under which we are known on TCP, beside localhost and
	 * literal addresses; ends with NULL, may be NULL. */
	const char *const *hosts;
	/* Web origins ("https://lab.example") whose pages may ask, "*" for all;
	 * ends with NULL.  NULL: none but our own.  Borrowed, and looked at
	 * with each request: it may change. */
	const char *const *origins;
	int ws_ping_ms; /* 0: 30 s */
};

struct httpd *httpd_new(struct loop *l, const struct httpd_config *cfg,
			struct sb_err *err);
/* Hear no client any more: for the time in which what handlers use is freed. */
void httpd_stop(struct httpd *h);
/* Closes all connections.  Not from within the loop: after loop_run(). */
void httpd_free(struct httpd *h);

struct httpd_stats {
	unsigned long long requests, client_errors, server_errors;
	unsigned int connections;
};
void httpd_get_stats(const struct httpd *h, struct httpd_stats *ret);

/*
 * Listen on a UNIX socket (made with mode 0600; only the peer with our own
 * uid, or root, is served, and needs no token) or on a TCP address.  port 0
 * picks a free one; *ret_port (may be NULL) tells which.
 */
int httpd_listen_unix(struct httpd *h, const char *path, struct sb_err *err);
int httpd_listen_tcp(struct httpd *h, const char *addr, int port, int *ret_port,
		     struct sb_err *err);

/* What a request says.  Strings are borrowed and live as long as it does. */
void *http_ctx(const struct http_req *req);
const char *http_method(const struct http_req *req);
const char *http_path(const struct http_req *req);
/* As it was sent: path and query, not decoded. */
const char *http_target(const struct http_req *req);
const char *http_param(const struct http_req *req, const char *name);
/* NULL when absent, "" when given without value; percent-decoded. */
const char *http_query(const struct http_req *req, const char *name);
/* The OpenAPI document of the server. */
const char *http_openapi(const struct http_req *req);
/* All query parameters as an object of strings; the caller's. */
json_t *http_query_json(const struct http_req *req);
/* Forget a query parameter, so that no handler sees the secret in it. */
void http_drop_query(struct http_req *req, const char *name);
/*
 * The token of a request: "Authorization: Bearer T" or "token T", as Jupyter's
 * clients send it, or "X-Access-Token: T", as E2B's do, or the one in the URL of
 * a route with HTTP_URL_TOKEN.  NULL when it has none.
 */
const char *http_token(const struct http_req *req);
/* The first header of that name (in lower case), or NULL. */
const char *http_header(const struct http_req *req, const char *name);
const char *http_body(const struct http_req *req, size_t *ret_len);
/* The body as a JSON object; an empty body is an empty object.  A field that
 * the route does not name is refused. */
int http_body_json(const struct http_req *req, json_t **ret,
		   struct sb_err *err);
/* As parse_bool(); a parameter without a value is true. */
int http_query_bool(const struct http_req *req, const char *name, bool *ret,
		    struct sb_err *err);
int http_query_int(const struct http_req *req, const char *name, long long min,
		   long long max, long long *ret, struct sb_err *err);

/*
 * The body of a route with HTTP_STREAM_BODY, piece by piece and without limit;
 * its handler calls this, before it returns, or replies.  on_data must take all bytes; to
 * stop more from coming it calls http_body_pause() and, later and from outside
 * of it, http_body_resume().  on_end runs once after the last byte, on_fail when the body
 * is malformed: err is to be replied.  A reply ends the reading.
 */
struct http_body_ops {
	void (*on_data)(void *arg, const char *data, size_t len);
	void (*on_end)(void *arg);
	void (*on_fail)(void *arg, const struct sb_err *err);
};
void http_body_begin(struct http_req *req, const struct http_body_ops *ops,
		     void *arg);
void http_body_pause(struct http_req *req);
void http_body_resume(struct http_req *req);

/* Call fn once if the client leaves before the reply.  NULL takes it back. */
void http_on_leave(struct http_req *req, void (*fn)(void *arg), void *arg);

/* Replies.  The request must not be touched afterwards. */
void http_reply_json(struct http_req *req, int status, json_t *j /* takes */);
void http_reply(struct http_req *req, int status, const char *type,
		const void *data, size_t len);
void http_reply_empty(struct http_req *req, int status);
/* The problem object of err, and the reply with it. */
json_t *http_problem(const struct sb_err *err);
void http_fail(struct http_req *req, const struct sb_err *err);
/* Add a header to the reply that is to come.  Without a Cache-Control of its
 * own nobody is to keep the reply. */
void http_set_header(struct http_req *req, const char *name, const char *value);

/*
 * Answer with a stream: status and headers go out now, the body piece by
 * piece.  on_drain runs when all that was written has left for the socket,
 * on_close once when the client has left or the stream was ended; either may
 * be NULL.  After on_close the stream is gone.
 */
struct http_stream_ops {
	void (*on_drain)(struct http_stream *s, void *arg);
	void (*on_close)(struct http_stream *s, void *arg);
};
struct http_stream *http_stream_begin(struct http_req *req /* takes */,
				      int status, const char *type,
				      const struct http_stream_ops *ops,
				      void *arg);
/* The same for a body of exactly length bytes; with fewer the connection is
 * cut, so that the client can tell. */
struct http_stream *http_stream_begin_sized(struct http_req *req /* takes */,
					    int status, const char *type,
					    uint64_t length,
					    const struct http_stream_ops *ops,
					    void *arg);
/* Queue bytes (copied).  Returns how many wait; a producer pauses above
 * HTTP_STREAM_HIGH until on_drain. */
#define HTTP_STREAM_HIGH (256 * 1024)
size_t http_stream_write(struct http_stream *s, const void *data, size_t len);
/* One Server-Sent Event; id and event may be NULL. */
size_t http_stream_event(struct http_stream *s, const char *id,
			 const char *event, const char *data);
/* End after what is queued has left. */
void http_stream_end(struct http_stream *s);
/* Cut the connection after that, as the body is not whole. */
void http_stream_abort(struct http_stream *s);

/*
 * Answer with what read gives: at most max bytes each time, 0 at the end, -1
 * on failure.  It runs on a thread of the pool, only when the client has taken
 * what came before.  free runs in the end, on the loop's thread.
 */
struct http_source_ops {
	ssize_t (*read)(void *arg, char *data, size_t max, struct sb_err *err);
	void (*free)(void *arg);
};
#define HTTP_LENGTH_UNKNOWN UINT64_MAX
void http_reply_source(struct http_req *req /* takes */, int status,
		       const char *type, uint64_t length,
		       const struct http_source_ops *ops,
		       void *arg /* takes */);

/*
 * WebSockets.  A route of one is a row like any other with method GET, so the
 * same checks of host, origin and token have passed when its handler runs.
 * Pings, pongs, parts and the closing handshake are done here; a client that
 * has been silent for three pings is cut.
 */
struct http_ws_ops {
	size_t max_message; /* bytes; 0: HTTP_WS_MESSAGE */
	/* One whole message, text being UTF-8; data has a NUL after it. */
	void (*on_message)(struct http_ws *ws, bool text, const char *data,
			   size_t len, void *arg);
	/* All that was sent has left for the socket. */
	void (*on_drain)(struct http_ws *ws, void *arg);
	/* The client has read up to the http_ws_ping() with this number. */
	void (*on_pong)(struct http_ws *ws, uint64_t mark, void *arg);
	/* Once, in the end, never from within a call of ours: the WebSocket is
	 * gone after it. */
	void (*on_close)(struct http_ws *ws, void *arg);
};
#define HTTP_WS_MESSAGE (1024 * 1024)

/* Whether the request can be accepted; else err is to be replied.  For handlers
 * that have something costly to do before. */
int http_ws_check(struct http_req *req, struct sb_err *err);
/* Whether the client offers the subprotocol; the list of all, or NULL. */
bool http_ws_offers(const struct http_req *req, const char *subprotocol);
const char *http_ws_protocols(const struct http_req *req);
/*
 * Answer with 101.  subprotocol (may be NULL) must be one that is offered.
 * NULL when the request asked for no WebSocket; it is answered then, and no
 * callback will run.
 */
struct http_ws *http_ws_accept(struct http_req *req /* takes */,
			       const char *subprotocol,
			       const struct http_ws_ops *ops, void *arg);
/* Queue a message (copied).  Returns how many bytes wait; a producer pauses
 * above HTTP_STREAM_HIGH until on_drain. */
size_t http_ws_send(struct http_ws *ws, bool text, const void *data,
		    size_t len);
/* Ask to be told when the client has read all that was sent before. */
void http_ws_ping(struct http_ws *ws, uint64_t mark);
/* Whether the client has said goodbye, rather than vanished. */
bool http_ws_parted(const struct http_ws *ws);
/* Neither read nor deliver messages until http_ws_resume(). */
void http_ws_pause(struct http_ws *ws);
void http_ws_resume(struct http_ws *ws);
/* Say goodbye after what is queued; no message is delivered any more.  code is
 * an enum ws_code of ws.h, reason may be NULL. */
void http_ws_close(struct http_ws *ws, int code, const char *reason);

/*
 * /v1/openapi.json, made of all tables of the server, and /docs, a page to
 * read it and try it out.  To be listed among the tables.
 */
extern const struct http_route httpd_docs_routes[];

/* What http_problem() makes. */
extern const struct http_schema http_problem_schema, http_openapi_schema;

/* The document as text, made when it is first asked for. */
const char *httpd_openapi(struct httpd *h);
