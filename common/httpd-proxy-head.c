/* SPDX-License-Identifier: Apache-2.0 */
/* The heads of requests that are passed on, and of their answers. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "common/httpd-proxy-private.h"

static bool is_in(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcasecmp(name, *names) == 0)
			return true;
	return false;
}

/* RFC 9110, 7.6.1: what is about the connection, and not about the message. */
static bool is_hop(const struct http1_head *h, const char *name)
{
	static const char *const hop[] = {
		"connection",	     "keep-alive", "proxy-authenticate",
		"proxy-connection",  "te",	   "proxy-authorization",
		"transfer-encoding", "trailer",	   "upgrade",
		"content-length",    "expect",	   NULL
	};

	return is_in(name, hop) || http1_has_token(h, "connection", name);
}

/* What is for us, or what we say better. */
static bool is_ours(const char *name)
{
	static const char *const ours[] = { "authorization",
					    "x-access-token",
					    "host",
					    "x-forwarded-for",
					    "x-forwarded-proto",
					    "x-forwarded-host",
					    "x-forwarded-prefix",
					    "x-forwarded-port",
					    "forwarded",
					    "x-real-ip",
					    "cookie",
					    NULL };

	return is_in(name, ours);
}

bool proxy_is_upgrade(const struct http1_head *h)
{
	return h->minor > 0 && http1_has_token(h, "connection", "upgrade") &&
	       http1_has_token(h, "upgrade", "websocket");
}

static void put(struct buf *out, const char *name, const char *value)
{
	buf_adds(out, name);
	buf_adds(out, ": ");
	buf_adds(out, value);
	buf_adds(out, "\r\n");
}

/* All cookies but one. */
static void put_cookies(struct buf *out, const char *value, const char *drop)
{
	autobuf struct buf b = { 0 };
	size_t n, len = drop ? strlen(drop) : 0;

	for (; *value; value += n + (value[n] == ';')) {
		value += strspn(value, " \t");
		n = strcspn(value, ";");
		if (!n || (len && n > len && value[len] == '=' &&
			   memcmp(value, drop, len) == 0))
			continue;
		if (b.len)
			buf_adds(&b, "; ");
		buf_add(&b, value, n);
	}
	if (b.len)
		put(out, "Cookie", b.p);
}

static void put_fields(struct buf *out, const struct http1_head *h,
		       const struct http_proxy *cfg)
{
	for (size_t i = 0; i < h->nfields; i++) {
		const char *name = h->field[i].name;

		if (strcmp(name, "cookie") == 0 && !cfg->below)
			put_cookies(out, h->field[i].value, cfg->cookie);
		if (is_hop(h, name) || is_ours(name) ||
		    (cfg->host && strcmp(name, "origin") == 0) ||
		    (cfg->below && strcmp(name, "referer") == 0))
			continue;
		put(out, name, h->field[i].value);
	}
}

static void put_forwarded(struct buf *out, const struct http_req *req)
{
	const char *host = http1_get(&req->head, "host");
	char peer[CONN_PEER_LEN];

	conn_peer(req->conn, peer);
	if (*peer)
		put(out, "X-Forwarded-For", peer);
	put(out, "X-Forwarded-Proto", "http");
	if (host)
		put(out, "X-Forwarded-Host", host);
}

static void put_framing(struct buf *out, const struct http_req *req)
{
	const struct http_conn *c = req->conn;

	if (proxy_is_upgrade(&req->head))
		buf_adds(out, "Connection: Upgrade\r\nUpgrade: websocket\r\n");
	else
		buf_adds(out, "Connection: close\r\n");
	if (c->framing == HTTP1_CHUNKED)
		buf_adds(out, "Transfer-Encoding: chunked\r\n");
	else if (c->framing == HTTP1_LENGTH)
		buf_addf(out, "Content-Length: %llu\r\n",
			 (unsigned long long)c->body_left);
}

void proxy_put_request(struct buf *out, const struct http_req *req,
		       const struct http_proxy *cfg)
{
	autofree char *target = cfg->target ? xstrdup(cfg->target)
					    : http_proxy_target(req);
	const char *host = cfg->host ? cfg->host
				     : http1_get(&req->head, "host");

	buf_addf(out, "%s %s HTTP/1.1\r\n", req->head.method, target);
	put(out, "Host", host ? host : "localhost");
	put_fields(out, &req->head, cfg);
	put_forwarded(out, req);
	if (cfg->authorization)
		put(out, "Authorization", cfg->authorization);
	put_framing(out, req);
	buf_adds(out, "\r\n");
}

/* Those that every reply of ours has. */
static bool is_set_here(const char *name)
{
	static const char *const names[] = { "server", "date", "content-type",
					     "x-content-type-options", NULL };

	return is_in(name, names);
}

/* What a browser would heed for all of an origin, or with its credentials. */
static bool is_about_origin(const char *name)
{
	static const char *const names[] = {
		"set-cookie",
		"set-cookie2",
		"www-authenticate",
		"clear-site-data",
		"strict-transport-security",
		"alt-svc",
		"refresh",
		"service-worker-allowed",
		"content-security-policy",
		"content-security-policy-report-only",
		"report-to",
		"reporting-endpoints",
		"nel",
		NULL
	};

	return is_in(name, names) || str_starts(name, "access-control-");
}

static bool is_dot(const char *s)
{
	return *s == '.' || strncasecmp(s, "%2e", 3) == 0;
}

/* Whether a client that follows it stays below what it is put behind.  What
 * some take for a slash or for nothing is refused along with dots, and so is
 * what may have a scheme. */
static bool is_plain_path(const char *s)
{
	bool relative = *s != '/';

	if (is_dot(s))
		return false;
	for (; *s && *s != '?' && *s != '#'; s++)
		if (*s == '\\' || (unsigned char)*s <= ' ' ||
		    (*s == ':' && relative) || (*s == '/' && is_dot(s + 1)))
			return false;
	return true;
}

/* One header of a server that may be hostile.  A client would follow it to
 * any path of ours, with its credentials, and repeat its request there. */
static void take_hostile(struct http_req *req, const char *name,
			 const char *value, const char *below)
{
	autofree char *path = NULL;

	if (is_about_origin(name))
		return;
	if (strcmp(name, "location") == 0 ||
	    strcmp(name, "content-location") == 0) {
		if (!is_plain_path(value))
			return;
		if (*value == '/')
			value = path = xasprintf("%s%s", below, value);
	}
	http_set_header(req, name, value);
}

void proxy_take_headers(struct http_req *req, const struct http1_head *answer,
			const char *below)
{
	req->verbatim = true;
	if (below)
		http_set_header(req, "Content-Security-Policy", "sandbox");
	for (size_t i = 0; i < answer->nfields; i++) {
		const char *name = answer->field[i].name;

		if (is_hop(answer, name) || is_set_here(name))
			continue;
		if (below)
			take_hostile(req, name, answer->field[i].value, below);
		else
			http_set_header(req, name, answer->field[i].value);
	}
}

void proxy_put_upgrade(struct http_req *req, const struct http1_head *answer,
		       const char *below)
{
	proxy_take_headers(req, answer, below);
	reply_begin_head(req, 101, NULL);
	buf_adds(&req->conn->out,
		 "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
}

/* Whether a parameter of the query, "name=value", is for us. */
static bool is_credential(const char *pair, size_t n)
{
	autofree char *name = xstrndup(pair, MIN(n, strcspn(pair, "=")));

	return http1_unescape(name, true) == 0 &&
	       (strcmp(name, "token") == 0 || strcmp(name, "ticket") == 0);
}

char *http_proxy_target(const struct http_req *req)
{
	autobuf struct buf b = { 0 };
	const char *p = req->head.target, *query;
	char sep = '?';
	size_t n;

	if (*p != '/') { /* "http://host/path", as target_parse() knows it */
		p = strchr(p + strlen("http://"), '/');
		if (!p)
			return xstrdup("/");
	}
	if (req->target.token) /* "/k/TOKEN" before the path */
		for (int i = 0; i < 2; i++)
			p += 1 + strcspn(p + 1, "/");
	query = strchr(p, '?');
	buf_add(&b, p, query ? (size_t)(query - p) : strlen(p));
	if (!query)
		return steal(&b.p);
	for (p = query + 1; *p; p += n + (p[n] == '&')) {
		n = strcspn(p, "&");
		if (!n || is_credential(p, n))
			continue;
		buf_add(&b, &sep, 1);
		buf_add(&b, p, n);
		sep = '&';
	}
	return steal(&b.p);
}
