/* SPDX-License-Identifier: Apache-2.0 */
/* What a handler can ask its request. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/httpd-private.h"
#include "common/json.h"

void req_free(struct http_req *req)
{
	if (!req)
		return;
	http1_head_done(&req->head);
	target_done(&req->target);
	buf_done(&req->body);
	buf_done(&req->headers);
	free(req);
}

void *http_ctx(const struct http_req *req)
{
	return req->ctx;
}

const char *http_method(const struct http_req *req)
{
	return req->head.method;
}

const char *http_path(const struct http_req *req)
{
	return req->target.path;
}

const char *http_target(const struct http_req *req)
{
	return req->head.target;
}

const char *http_param(const struct http_req *req, const char *name)
{
	return route_param(req->route_path, &req->target, name);
}

const char *http_query(const struct http_req *req, const char *name)
{
	for (size_t i = 0; i < req->target.nquery; i++)
		if (strcmp(req->target.query[i].name, name) == 0)
			return req->target.query[i].value;
	return NULL;
}

json_t *http_query_json(const struct http_req *req)
{
	json_t *j = json_object();

	for (size_t i = 0; i < req->target.nquery; i++) {
		autojson json_t *key = json_str(req->target.query[i].name);

		json_put(j, json_string_value(key),
			 json_str(req->target.query[i].value));
	}
	return j;
}

void http_drop_query(struct http_req *req, const char *name)
{
	struct http_target *t = &req->target;
	size_t n = 0;

	for (size_t i = 0; i < t->nquery; i++)
		if (strcmp(t->query[i].name, name) != 0)
			t->query[n++] = t->query[i];
	t->nquery = n;
}

const char *http_token(const struct http_req *req)
{
	static const char *const schemes[] = { "Bearer ", "token " };
	const char *auth = http1_get(&req->head, "authorization");

	for (size_t i = 0; auth && i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]);

		if (strncasecmp(auth, schemes[i], n) == 0)
			return auth + n + strspn(auth + n, " ");
	}
	auth = http1_get(&req->head, "x-access-token");
	if (auth || !req->route || !(req->route->flags & HTTP_URL_TOKEN))
		return auth;
	return req->target.token ? req->target.token : http_query(req, "token");
}

const char *http_header(const struct http_req *req, const char *name)
{
	return http1_get(&req->head, name);
}

const char *http_body(const struct http_req *req, size_t *ret_len)
{
	if (ret_len)
		*ret_len = req->body.len;
	return req->body.p ? req->body.p : "";
}

/* curl says that what it sends is a form unless told; so does no form. */
static int check_json_type(const struct http_req *req, struct sb_err *err)
{
	static const char *const known[] = {
		"application/json", "text/json", "text/plain",
		"application/x-www-form-urlencoded", "application/octet-stream"
	};
	const char *type = http_header(req, "content-type");
	size_t n = type ? strcspn(type, "; \t") : 0;

	if (!n || (n > 5 && strncasecmp(type + n - 5, "+json", 5) == 0))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i]) == n && !strncasecmp(type, known[i], n))
			return 0;
	sb_fail(err, SB_FORMAT, "a body of Content-Type '%s' is not read here",
		type);
	return sb_hint(err, "send JSON, as 'Content-Type: application/json'");
}

int http_body_json(const struct http_req *req, json_t **ret, struct sb_err *err)
{
	autojson json_t *j = NULL;

	if (!req->body.len) {
		*ret = json_object();
		return 0;
	}
	if (check_json_type(req, err) < 0)
		return -1;
	if (json_parse(req->body.p, req->body.len, &j, err) < 0)
		return sb_wrap(err, "request body");
	if (!json_is_object(j))
		return sb_fail(err, SB_INVALID,
			       "the request body must be a JSON object");
	if (route_check_body(req->route, j, err) < 0)
		return -1;
	*ret = steal(&j);
	return 0;
}

int http_query_bool(const struct http_req *req, const char *name, bool *ret,
		    struct sb_err *err)
{
	const char *value = http_query(req, name);

	if (!value || parse_bool(*value ? value : "true", ret) == 0)
		return 0;
	return sb_fail(err, SB_INVALID,
		       "query parameter '%s' must be true or false", name);
}

int http_query_int(const struct http_req *req, const char *name, long long min,
		   long long max, long long *ret, struct sb_err *err)
{
	const char *value = http_query(req, name);

	if (!value || parse_num(value, min, max, ret) == 0)
		return 0;
	return sb_fail(
		err, SB_INVALID,
		"query parameter '%s' must be a number from %lld to %lld", name,
		min, max);
}

void http_body_begin(struct http_req *req, const struct http_body_ops *ops,
		     void *arg)
{
	req->body_ops = ops;
	req->body_arg = arg;
	if (req->conn)
		conn_accept_body(req->conn);
}

void http_body_pause(struct http_req *req)
{
	req->paused = true;
}

void http_body_resume(struct http_req *req)
{
	req->paused = false;
	if (req->conn)
		conn_read_on(req->conn);
}

void http_on_leave(struct http_req *req, void (*fn)(void *arg), void *arg)
{
	req->on_leave = fn;
	req->on_leave_arg = arg;
}
