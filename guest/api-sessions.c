/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jupyter's sessions: which notebook has which kernel.  Kernels outlive guestd;
 * without its session the next page would start another one for the notebook.
 * So each change is written down, for the next guestd.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "guest/api.h"
#include "guest/guestd.h"
#include "guest/kernel.h"

#define MAX_SESSIONS 1000
#define MAX_TEXT (PATH_MAX - 1)
#define MAX_STATE (16 * 1024 * 1024) /* some more than all of these */

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

static char *state_file(const struct guestd *g)
{
	return xasprintf("%s/sessions.json", g->run_dir);
}

/* That it cannot be written is no reason to refuse what was asked for. */
static void save(struct guestd *g)
{
	autofree char *path = state_file(g), *text = NULL;
	autojson json_t *list = json_array();
	const struct jupyter_session *s;
	struct sb_err err;

	TAILQ_FOREACH(s, &sessions_of(g)->all, next) {
		json_t *j = json_object();

		json_put(j, "id", json_str(s->id));
		json_put(j, "path", json_str(s->path));
		json_put(j, "name", json_str(s->name));
		json_put(j, "type", json_str(s->type));
		json_put(j, "kernel", json_str(s->kernel));
		json_array_append_new(list, j);
	}
	text = json_print(list);
	if (fs_write_atomic(path, text, strlen(text), 0600, &err) < 0)
		log_warn("Jupyter's sessions: %s", err.msg);
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
	int before = all->n;

	for (s = TAILQ_FIRST(&all->all); s; s = next) {
		next = TAILQ_NEXT(s, next);
		if (kernel_of(g, s))
			json_array_append_new(list, model(g, s));
		else
			forget(all, s);
	}
	if (all->n != before)
		save(g);
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

/* Clients of Jupyter's say null for what they do not give. */
static int get(const json_t *j, const char *key, const char **ret,
	       struct sb_err *err)
{
	if (json_is_null(json_object_get(j, key)))
		return 0;
	if (json_get_str(j, key, ret, err) < 0)
		return -1;
	if (*ret && strlen(*ret) > MAX_TEXT)
		return sb_fail(err, SB_INVALID, "'%s' is longer than %d bytes",
			       key, MAX_TEXT);
	return 0;
}

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
	if (get(*ret, "path", &f->path, err) < 0 ||
	    get(*ret, "name", &f->name, err) < 0 ||
	    get(*ret, "type", &f->type, err) < 0 ||
	    get(kernel, "id", &f->kernel_id, err) < 0)
		return -1;
	return get(kernel, "name", &f->kernel_name, err);
}

static int get_kernel_for(struct guestd *g, const struct fields *f,
			  const char *path, struct kernel **ret,
			  struct sb_err *err)
{
	struct kernel_config cfg = { .name = f->kernel_name, .cwd = path };

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

static struct jupyter_session *add(struct guestd *g, const char *id,
				   const struct fields *f)
{
	struct jupyter_sessions *all = sessions_of(g);
	struct jupyter_session *s = xcalloc(1, sizeof(*s));

	if (all->n == MAX_SESSIONS)
		forget(all, TAILQ_FIRST(&all->all));
	strcpy(s->id, id);
	s->path = xstrdup(f->path);
	s->name = xstrdup(f->name ? f->name : "");
	s->type = xstrdup(f->type);
	strcpy(s->kernel, f->kernel_id);
	TAILQ_INSERT_TAIL(&all->all, s, next);
	all->n++;
	return s;
}

static struct jupyter_session *add_new(struct guestd *g, struct fields *f,
				       const struct kernel *k)
{
	char id[KERNEL_ID_LEN + 1];
	struct jupyter_session *s;

	kernel_new_id(id);
	f->kernel_id = kernel_id(k);
	s = add(g, id, f);
	save(g);
	return s;
}

/* A session of an earlier guestd, if its kernel is still there. */
static void load_one(struct guestd *g, const json_t *j)
{
	const char *id = json_str_or(j, "id", "");
	const struct fields f = {
		.path = json_str_or(j, "path", NULL),
		.name = json_str_or(j, "name", NULL),
		.type = json_str_or(j, "type", NULL),
		.kernel_id = json_str_or(j, "kernel", ""),
	};
	struct kernel *k;

	if (strlen(id) != KERNEL_ID_LEN || !f.path || !f.type)
		log_warn("Jupyter's sessions: one is not whole");
	else if (gateway_find(g->gateway, f.kernel_id, &k, NULL) == 0)
		add(g, id, &f);
}

void jupyter_sessions_load(struct guestd *g)
{
	autofree char *path = state_file(g), *text = NULL;
	autojson json_t *list = NULL;
	const json_t *j;
	struct sb_err err;
	size_t i, len;

	if (fs_read(path, MAX_STATE, &text, &len, &err) < 0 ||
	    json_parse(text, len, &list, &err) < 0) {
		if (err.code != SB_NOTFOUND)
			log_warn("Jupyter's sessions: %s", err.msg);
		return;
	}
	if (!json_is_array(list))
		log_warn("Jupyter's sessions: '%s' is not a list", path);
	json_array_foreach(list, i, j)
		load_one(g, j);
	if (json_array_size(list))
		log_info("of %zu sessions %d have a kernel still",
			 json_array_size(list), sessions_of(g)->n);
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
	if (!s && get_kernel_for(g, &f, f.path, &k, &err) < 0) {
		if (err.code == SB_NOTFOUND || err.code == SB_MISSING)
			fail_501(req, &err);
		else
			http_fail(req, &err);
		return;
	}
	if (!s)
		s = add_new(g, &f, k);
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

static bool has_session(struct guestd *g, const struct kernel *k)
{
	const struct jupyter_session *s;

	TAILQ_FOREACH(s, &sessions_of(g)->all, next)
		if (strcmp(s->kernel, kernel_id(k)) == 0)
			return true;
	return false;
}

/* The one that it had ends, as with Jupyter's server: no notebook leads to it
 * any more, and clients do not end it themselves. */
static int change_kernel(struct guestd *g, struct jupyter_session *s,
			 const struct fields *f, struct sb_err *err)
{
	struct kernel *k, *old = kernel_of(g, s);

	if (!f->kernel_id && !f->kernel_name)
		return 0;
	if (get_kernel_for(g, f, s->path, &k, err) < 0)
		return -1;
	strcpy(s->kernel, kernel_id(k));
	if (old && !has_session(g, old) && !kernel_is_shared(old))
		kernel_stop(old);
	return 0;
}

void patch_session(struct http_req *req)
{
	struct guestd *g = http_ctx(req);
	struct jupyter_session *s = find(req);
	autojson json_t *body = NULL;
	struct fields f = { 0 };
	struct sb_err err;

	if (!s)
		return;
	if (parse(req, &body, &f, &err) < 0 ||
	    change_kernel(g, s, &f, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	set(&s->path, f.path);
	set(&s->name, f.name);
	set(&s->type, f.type);
	save(g);
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
	save(g);
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
