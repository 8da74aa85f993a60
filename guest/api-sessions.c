/* SPDX-License-Identifier: Apache-2.0 */
/* Jupyter's sessions: which notebook has which kernel. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/json.h"
#include "guest/api.h"
#include "guest/guestd.h"
#include "guest/kernel.h"

#define MAX_SESSIONS 1000

struct jupyter_session {
	TAILQ_ENTRY(jupyter_session) next;
	char id[KERNEL_ID_LEN + 1];
	char *path, *name, *type;
	char kernel[KERNEL_ID_LEN + 1];
};

struct jupyter_sessions {
	TAILQ_HEAD(, jupyter_session) all;
	int n;
};

static struct jupyter_sessions *sessions_of(struct guestd *g)
{
	if (!g->sessions) {
		g->sessions = xcalloc(1, sizeof(*g->sessions));
		TAILQ_INIT(&g->sessions->all);
	}
	return g->sessions;
}

static void forget(struct jupyter_sessions *all, struct jupyter_session *s)
{
	TAILQ_REMOVE(&all->all, s, next);
	all->n--;
	free(s->path);
	free(s->name);
	free(s->type);
	free(s);
}

void jupyter_sessions_free(struct jupyter_sessions *all)
{
	struct jupyter_session *s;

	if (!all)
		return;
	while ((s = TAILQ_FIRST(&all->all)))
		forget(all, s);
	free(all);
}

static struct kernel *kernel_of(struct guestd *g,
				const struct jupyter_session *s)
{
	struct kernel *k;

	return gateway_find(g->gateway, s->kernel, &k, NULL) == 0 ? k : NULL;
}

static json_t *model(struct guestd *g, const struct jupyter_session *s)
{
	struct kernel *k = kernel_of(g, s);
	json_t *j = json_object();

	json_put(j, "id", json_str(s->id));
	json_put(j, "path", json_str(s->path));
	json_put(j, "name", json_str(s->name));
	json_put(j, "type", json_str(s->type));
	json_put(j, "kernel", k ? kernel_json(k) : json_null());
	if (strcmp(s->type, "notebook") == 0)
		json_put(j, "notebook",
			 json_pack("{s:s, s:s}", "path", s->path, "name",
				   s->name));
	return j;
}

void get_sessions(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	struct jupyter_sessions *all = sessions_of(g);
	struct jupyter_session *s, *next;
	json_t *list = json_array();

	for (s = TAILQ_FIRST(&all->all); s; s = next) {
		next = TAILQ_NEXT(s, next);
		if (kernel_of(g, s))
			json_array_append_new(list, model(g, s));
		else
			forget(all, s);
	}
	http_reply_json(req, 200, list);
}

static void set(char **field, const char *value)
{
	char *old = *field;

	if (value)
		*field = xstrdup(value);
	if (value)
		free(old);
}

/* What Jupyter's server says of a kernel that it cannot start. */
static void fail_501(struct http_req *req, const struct sb_err *err)
{
	http_reply_json(req, 501,
			json_pack("{s:s, s:s, s:s}", "message", err->msg,
				  "short_message", err->msg, "reason",
				  "Not Implemented"));
}

/* Strings that are not given are NULL. */
struct fields {
	const char *path, *name, *type, *kernel_id, *kernel_name;
};

static int parse(struct http_req *req, json_t **ret, struct fields *f,
		 struct sb_err *err)
{
	const json_t *kernel;

	if (http_body_json(req, ret, err) < 0)
		return -1;
	kernel = json_object_get(*ret, "kernel");
	if (kernel && !json_is_null(kernel) && !json_is_object(kernel))
		return sb_fail(err, SB_INVALID, "'kernel' must be an object");
	if (json_is_null(kernel))
		kernel = NULL;
	f->path = json_str_or(*ret, "path", NULL);
	f->name = json_str_or(*ret, "name", NULL);
	f->type = json_str_or(*ret, "type", NULL);
	f->kernel_id = json_str_or(kernel, "id", NULL);
	f->kernel_name = json_str_or(kernel, "name", NULL);
	return 0;
}

static int get_kernel_for(struct guestd *g, const struct fields *f,
			  struct kernel **ret, struct sb_err *err)
{
	struct kernel_config cfg = { .name = f->kernel_name };

	if (!str_empty(f->kernel_id))
		return gateway_find(g->gateway, f->kernel_id, ret, err);
	return gateway_start(g->gateway, &cfg, ret, err);
}

static struct jupyter_session *find_by_path(struct guestd *g, const char *path)
{
	struct jupyter_session *s;

	TAILQ_FOREACH(s, &sessions_of(g)->all, next)
		if (strcmp(s->path, path) == 0 && kernel_of(g, s))
			return s;
	return NULL;
}

static struct jupyter_session *add(struct guestd *g, const struct fields *f,
				   const struct kernel *k)
{
	struct jupyter_sessions *all = sessions_of(g);
	struct jupyter_session *s = xcalloc(1, sizeof(*s));

	if (all->n == MAX_SESSIONS)
		forget(all, TAILQ_FIRST(&all->all));
	kernel_new_id(s->id);
	s->path = xstrdup(f->path);
	s->name = xstrdup(f->name ? f->name : "");
	s->type = xstrdup(f->type);
	strcpy(s->kernel, kernel_id(k));
	TAILQ_INSERT_TAIL(&all->all, s, next);
	all->n++;
	return s;
}

void post_sessions(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	autojson json_t *body = NULL;
	autofree char *location = NULL;
	struct jupyter_session *s;
	struct fields f = { 0 };
	struct kernel *k;
	struct sb_err err;

	if (parse(req, &body, &f, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	if (!f.path || !f.type) {
		sb_fail(&err, SB_INVALID, "'%s' is missing",
			f.path ? "type" : "path");
		http_fail(req, &err);
		return;
	}
	s = find_by_path(g, f.path);
	if (!s && get_kernel_for(g, &f, &k, &err) < 0) {
		if (err.code == SB_NOTFOUND || err.code == SB_MISSING)
			fail_501(req, &err);
		else
			http_fail(req, &err);
		return;
	}
	if (!s)
		s = add(g, &f, k);
	location = xasprintf("/api/sessions/%s", s->id);
	http_set_header(req, "Location", location);
	http_reply_json(req, 201, model(g, s));
}

/* The session of the path; else the request is answered. */
static struct jupyter_session *find(struct http_req *req)
{
	const char *id = http_param(req, "id");
	struct jupyter_session *s;
	struct sb_err err;

	TAILQ_FOREACH(s, &sessions_of(http_ctx(req))->all, next)
		if (strcmp(s->id, id) == 0)
			return s;
	sb_fail(&err, SB_NOTFOUND, "there is no session '%.64s'", id);
	http_fail(req, &err);
	return NULL;
}

void get_session(struct http_req *req)
{
	struct jupyter_session *s = find(req);

	if (s)
		http_reply_json(req, 200, model(http_ctx(req), s));
}

void patch_session(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	struct jupyter_session *s = find(req);
	autojson json_t *body = NULL;
	struct fields f = { 0 };
	struct kernel *k;
	struct sb_err err;
	int r;

	if (!s)
		return;
	r = parse(req, &body, &f, &err);
	if (r == 0 && (f.kernel_id || f.kernel_name)) {
		r = get_kernel_for(g, &f, &k, &err);
		if (r == 0)
			strcpy(s->kernel, kernel_id(k));
	}
	if (r < 0) {
		http_fail(req, &err);
		return;
	}
	set(&s->path, f.path);
	set(&s->name, f.name);
	set(&s->type, f.type);
	http_reply_json(req, 200, model(g, s));
}

void delete_session(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	struct jupyter_session *s = find(req);
	struct kernel *k;

	if (!s)
		return;
	k = kernel_of(g, s);
	forget(sessions_of(g), s);
	if (k) {
		kernel_stop(k);
		http_reply_empty(req, 204);
		return;
	}
	http_reply_json(req, 410,
			json_pack("{s:s, s:s}", "message",
				  "the kernel was ended before the session",
				  "reason", "Gone"));
}
