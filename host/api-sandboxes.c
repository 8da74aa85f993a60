/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/sandboxes: making, seeing and ending sandboxes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/api.h"
#include "host/api-util.h"
#include "host/lifecycle.h"
#include "host/template.h"

#define MAX_TTL (10LL * 365 * 86400)

int api_find(struct http_req *req, struct sandbox **ret)
{
	struct sb_err err;

	if (daemon_find(http_ctx(req), http_param(req, "id"), ret, &err) == 0)
		return 0;
	http_fail(req, &err);
	return -1;
}

/* Defaults, then the template, then the body. */
static int read_spec(struct daemon *d, const json_t *body, struct spec *spec,
		     struct sb_err *err)
{
	const char *name = d->cfg.default_template;

	if (json_get_str(body, "template", &name, err) < 0 ||
	    template_load(name, d->template_dirs, spec, err) < 0 ||
	    spec_from_json(body, spec, err) < 0)
		return -1;
	return spec_check(spec, err);
}

void api_sandbox_create(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	autojson json_t *body = NULL;
	autospec struct spec spec;
	struct sandbox *sb;
	struct sb_err err;
	bool wait = true;

	spec_init(&spec);
	if (http_body_json(req, &body, &err) < 0 ||
	    http_query_bool(req, "wait", &wait, &err) < 0 ||
	    read_spec(d, body, &spec, &err) < 0 ||
	    lifecycle_up(d, &spec, http_header(req, "idempotency-key"), &sb,
			 &err) < 0)
		http_fail(req, &err);
	else if (wait)
		lifecycle_wait(sb, req);
	else
		http_reply_json(req, 202, sandbox_json(sb));
}

/* "key" or "key=value" against the labels. */
static bool label_matches(const struct sandbox *sb, const char *label)
{
	const char *eq = strchr(label, '=');
	autofree char *key = eq ? xstrndup(label, eq - label) : xstrdup(label);
	const char *value = spec_vars_get(&sb->spec.labels, key);

	return value && (!eq || strcmp(value, eq + 1) == 0);
}

void api_sandbox_list(struct http_req *req)
{
	struct daemon *d = http_ctx(req);
	const char *label = http_query(req, "label");
	const char *state = http_query(req, "state");
	json_t *list = json_array(), *o = json_object();
	struct sandbox *sb;

	TAILQ_FOREACH(sb, &d->sandboxes, entry) {
		if (label && !label_matches(sb, label))
			continue;
		if (state && strcmp(state, sandbox_state_name(sb->state)) != 0)
			continue;
		json_array_append_new(list, sandbox_json(sb));
	}
	json_put(o, "sandboxes", list);
	http_reply_json(req, 200, o);
}

void api_sandbox_get(struct http_req *req)
{
	struct sandbox *sb;

	if (api_find(req, &sb) == 0)
		http_reply_json(req, 200, sandbox_json(sb));
}

void api_sandbox_delete(struct http_req *req)
{
	struct sandbox *sb;
	struct sb_err err;
	bool purge = false;
	json_t *o;

	if (api_find(req, &sb) < 0)
		return;
	if (http_query_bool(req, "purge", &purge, &err) < 0 ||
	    lifecycle_down(http_ctx(req), sb, purge, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	o = json_object();
	json_put(o, "id", json_string(sb->id));
	json_put(o, "name", json_str(sb->name));
	json_put(o, "state", json_string(sandbox_state_name(sb->state)));
	http_reply_json(req, 202, o);
}

void api_sandbox_pause(struct http_req *req)
{
	struct sandbox *sb;

	if (api_find(req, &sb) == 0)
		lifecycle_pause(http_ctx(req), sb, true, req);
}

void api_sandbox_resume(struct http_req *req)
{
	struct sandbox *sb;

	if (api_find(req, &sb) == 0)
		lifecycle_pause(http_ctx(req), sb, false, req);
}

static int read_ttl(const json_t *body, long long *ret, struct sb_err *err)
{
	static const char *const keys[] = { "ttl", NULL };
	const json_t *v = json_object_get(body, "ttl");

	if (json_only(body, keys, err) < 0)
		return -1;
	if (json_is_string(v) && parse_duration(json_string_value(v), ret) == 0)
		return 0;
	if (json_is_string(v) || !v)
		return sb_fail(err, SB_INVALID,
			       "'ttl' must be seconds or a duration such as "
			       "\"15m\"; 0 means for ever");
	return json_get_int(body, "ttl", 0, MAX_TTL, ret, err);
}

void api_sandbox_ttl(struct http_req *req)
{
	autojson json_t *body = NULL;
	struct sandbox *sb;
	long long ttl;
	struct sb_err err;

	if (api_find(req, &sb) < 0)
		return;
	if (http_body_json(req, &body, &err) < 0 ||
	    read_ttl(body, &ttl, &err) < 0 ||
	    lifecycle_ttl(http_ctx(req), sb, ttl, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 200, sandbox_json(sb));
}
