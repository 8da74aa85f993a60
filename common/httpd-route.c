/* SPDX-License-Identifier: Apache-2.0 */
/* Targets, the route tables, and who may ask for what. */
#include "config.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/httpd-private.h"
#include "common/json.h"

static int bad_target(struct sb_err *err, const char *why)
{
	return sb_fail(err, SB_INVALID, "bad request target: %s", why);
}

static int parse_segments(char *path, struct http_target *t, struct sb_err *err)
{
	char *s, *rest = path + 1;

	while ((s = strsep(&rest, "/"))) {
		if (!*s && !rest) /* a slash at the end is nothing */
			break;
		if (t->nsegments == HTTP_MAX_SEGMENTS)
			return bad_target(err, "too many segments");
		if (http1_unescape(s, false) < 0)
			return bad_target(err, "broken %-escape");
		if (strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
			return bad_target(err, "'.' and '..' are not followed");
		t->segment[t->nsegments++] = s;
	}
	return 0;
}

static int parse_query(char *query, struct http_target *t, struct sb_err *err)
{
	char *pair;

	while ((pair = strsep(&query, "&"))) {
		char *name = strsep(&pair, "=");

		if (!*name && !pair)
			continue;
		if (t->nquery == HTTP_MAX_QUERY)
			return bad_target(err, "too many query parameters");
		if (http1_unescape(name, true) < 0)
			return bad_target(err, "broken %-escape");
		if (pair && http1_unescape(pair, true) < 0)
			return sb_fail(err, SB_INVALID,
				       "query parameter '%s' has a broken "
				       "%%-escape or a NUL",
				       name);
		t->query[t->nquery].name = name;
		t->query[t->nquery++].value = pair ? pair : "";
	}
	return 0;
}

int target_parse(const char *target, struct http_target *ret,
		 struct sb_err *err)
{
	struct http_target t = { 0 };
	char *query;

	/* A proxy's form, "http://host/path": the host is in Host as well. */
	if (strncasecmp(target, "http://", 7) == 0) {
		target = strchr(target + 7, '/');
		if (!target)
			target = "/";
	}
	if (target[0] != '/')
		return bad_target(err, "it must begin with '/'");
	if (strchr(target, '#'))
		return bad_target(err, "it must not have a fragment");
	t.text = xstrdup(target);
	query = strchr(t.text, '?');
	if (query)
		*query++ = '\0';
	t.path = xstrdup(t.text);
	if (http1_unescape(t.path, false) < 0)
		bad_target(err, "broken %-escape");
	else if (parse_segments(t.text, &t, err) == 0 &&
		 (!query || parse_query(query, &t, err) == 0)) {
		*ret = t;
		return 0;
	}
	target_done(&t);
	return -1;
}

void target_done(struct http_target *t)
{
	free(t->text);
	free(t->path);
	*t = (struct http_target){ 0 };
}

bool target_take_token(struct http_target *t)
{
	autobuf struct buf path = { 0 };

	if (t->nsegments < 3 || strcmp(t->segment[0], "k") != 0)
		return false;
	t->token = t->segment[1];
	t->nsegments -= 2;
	memmove(t->segment, t->segment + 2,
		t->nsegments * sizeof(t->segment[0]));
	/* Logs and people see the path without the secret. */
	for (size_t i = 0; i < t->nsegments; i++)
		buf_addf(&path, "/%s", t->segment[i]);
	free(t->path);
	t->path = steal(&path.p);
	return true;
}

size_t route_segment(const char **p, size_t last)
{
	*p += last;
	if (**p == '/')
		(*p)++;
	return strcspn(*p, "/");
}

static bool path_matches(const char *path, const struct http_target *t)
{
	size_t i = 0, n = 0;

	while ((n = route_segment(&path, n))) {
		const char *seg = i < t->nsegments ? t->segment[i] : "";

		if (n > 4 && memcmp(path + n - 4, "...}", 4) == 0)
			return true;
		i++;
		if (!*seg)
			return false;
		if (*path != '{' &&
		    (strlen(seg) != n || memcmp(seg, path, n) != 0))
			return false;
	}
	return i == t->nsegments;
}

/* The path or alias of the route that matches, or NULL. */
static const char *route_match(const struct http_route *r,
			       const struct http_target *t)
{
	if (path_matches(r->path, t))
		return r->path;
	for (size_t i = 0; i < HTTP_MAX_ALIASES && r->alias[i]; i++)
		if (path_matches(r->alias[i], t))
			return r->alias[i];
	return NULL;
}

static const struct http_route *
find_in(const struct http_route *rows, const struct http_target *t,
	const char *method, const char **ret_path, struct buf *allow)
{
	for (const struct http_route *r = rows; r->run; r++) {
		const char *path = route_match(r, t);
		bool any;

		if (!path)
			continue;
		any = strcmp(r->method, HTTP_ANY) == 0;
		if (any ? !allow->len : strcmp(r->method, method) == 0) {
			*ret_path = path;
			return r;
		}
		if (any)
			continue;
		buf_addf(allow, "%s%s", allow->len ? ", " : "", r->method);
		if (strcmp(r->method, "GET") == 0)
			buf_adds(allow, ", HEAD");
	}
	return NULL;
}

const struct http_route *route_find(const struct http_table *tables,
				    const struct http_target *t,
				    const char *method, const char **ret_path,
				    struct buf *allow)
{
	const struct http_route *r = NULL;

	if (strcmp(method, "HEAD") == 0)
		method = "GET";
	for (; !r && tables->rows; tables++)
		r = find_in(tables->rows, t, method, ret_path, allow);
	return r;
}

enum http_place route_place(const struct http_route *r,
			    const struct http_field *f)
{
	if (f->place != HTTP_AUTO)
		return f->place;
	return http_word_in(r->method, "POST|PUT|PATCH") &&
			       !(r->flags & HTTP_STREAM_BODY)
		       ? HTTP_AUTO
		       : HTTP_QUERY;
}

bool http_word_in(const char *name, const char *words)
{
	size_t n = strlen(name), len;

	for (; words && *words; words += len + (words[len] == '|')) {
		len = strcspn(words, "|");
		if (len == n && memcmp(words, name, n) == 0)
			return true;
	}
	return false;
}

static bool takes(const struct http_route *r, const struct http_field *fields,
		  enum http_place place, const char *name)
{
	for (const struct http_field *f = fields; f && f->name; f++) {
		if (f->group ? takes(r, f->group, place, name)
			     : route_place(r, f) == place &&
				       (strcmp(f->name, name) == 0 ||
					http_word_in(name, f->aka)))
			return true;
	}
	return false;
}

int route_check_query(const struct http_route *r, const struct http_target *t,
		      struct sb_err *err)
{
	if (!r->out || r->flags & HTTP_LENIENT)
		return 0;
	for (size_t i = 0; i < t->nquery; i++)
		if (!takes(r, r->in, HTTP_QUERY, t->query[i].name))
			return sb_fail(err, SB_INVALID,
				       "unknown parameter '%.100s'",
				       t->query[i].name);
	return 0;
}

int route_check_body(const struct http_route *r, const json_t *body,
		     struct sb_err *err)
{
	const char *key;
	json_t *v;

	if (!r->out || r->flags & HTTP_LENIENT)
		return 0;
	json_object_foreach((json_t *)body, key, v)
		if (!takes(r, r->in, HTTP_AUTO, key))
			return sb_fail(err, SB_INVALID,
				       "unknown field '%.100s'", key);
	return 0;
}

const char *route_param(const char *path, const struct http_target *t,
			const char *name)
{
	size_t n = 0, len = strlen(name);

	for (size_t i = 0; (n = route_segment(&path, n)); i++)
		if (*path == '{' && n == len + 2 &&
		    memcmp(path + 1, name, len) == 0)
			return t->segment[i];
	return NULL;
}

/* Whether the host of a Host header is one of ours or a literal address. */
static bool host_is_ours(const char *value, const char *const *hosts)
{
	autofree char *host = xstrdup(value);
	char *colon = strrchr(host, ':'), *end;
	struct in6_addr a6;
	struct in_addr a4;

	if (host[0] == '[') {
		end = strchr(host, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		*end = '\0';
		return inet_pton(AF_INET6, host + 1, &a6) == 1;
	}
	if (colon)
		*colon = '\0';
	if (strcasecmp(host, "localhost") == 0 ||
	    inet_pton(AF_INET, host, &a4) == 1)
		return true;
	for (; hosts && *hosts; hosts++)
		if (strcasecmp(host, *hosts) == 0)
			return true;
	return false;
}

const char *route_cors_origin(const struct http1_head *head,
			      const struct httpd_config *cfg)
{
	const char *origin = http1_get(head, "origin");

	for (const char *const *o = cfg->origins; origin && o && *o; o++)
		if (strcmp(*o, "*") == 0 || strcasecmp(*o, origin) == 0)
			return origin;
	return NULL;
}

int route_check_origin(const struct http1_head *head,
		       const struct httpd_config *cfg, struct sb_err *err)
{
	const char *host = http1_get(head, "host");
	const char *origin = http1_get(head, "origin");
	const char *sep;

	if (host && !host_is_ours(host, cfg->hosts)) {
		sb_fail(err, SB_DENIED, "we do not serve the host '%.100s'",
			host);
		return sb_hint(err, "use 127.0.0.1 or localhost in the URL");
	}
	if (!origin || route_cors_origin(head, cfg))
		return 0;
	sep = strstr(origin, "://");
	if (!sep || !host || strcasecmp(sep + 3, host) != 0)
		return sb_fail(
			err, SB_DENIED,
			"requests from the web origin '%.100s' are not allowed",
			origin);
	return 0;
}
