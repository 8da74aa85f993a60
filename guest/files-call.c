/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to an operation on files, and back. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/base64.h"
#include "guest/files-call.h"
#include "guest/guestd.h"

char *file_absolute(const struct guestd *g, const char *path)
{
	const char *workspace =
		json_str_or(g->message, "workspace", GUESTD_WORKSPACE);
	char *s;
	size_t n;

	if (path[0] == '/')
		s = xstrdup(path);
	else if (strcmp(path, "~") == 0 || str_starts(path, "~/"))
		s = xasprintf("/home/" GUESTD_USER "%s", path + 1);
	else
		s = xasprintf("%s/%s", workspace, path);
	/* "a/" is the folder "a". */
	n = strlen(s);
	while (n > 1 && s[n - 1] == '/')
		s[--n] = '\0';
	return s;
}

/* The path under one of the keys, or its bytes under KEY_base64. */
static int take_path(const struct http_req *req, const json_t *args,
		     const char *const keys[], char **ret, struct sb_err *err)
{
	const char *path = NULL, *code = NULL;
	autofree char *decoded = NULL;
	size_t len;

	for (size_t i = 0; !path && keys[i]; i++) {
		path = http_query(req, keys[i]); /* may be any bytes */
		if (!path && json_get_str(args, keys[i], &path, err) < 0)
			return -1;
	}
	if (!path) {
		autofree char *key = xasprintf("%s_base64", keys[0]);

		if (json_get_str(args, key, &code, err) < 0)
			return -1;
		if (!code)
			return 0;
		decoded = base64_decode(code, strlen(code), &len);
		if (!decoded || strlen(decoded) != len)
			return sb_fail(err, SB_INVALID,
				       "'%s' is not the base64 of a path", key);
		path = decoded;
	}
	if (!*path || strlen(path) >= PATH_MAX)
		return sb_fail(err, SB_INVALID,
			       "'%s' is empty or longer than a path can be",
			       keys[0]);
	*ret = file_absolute(http_ctx(req), path);
	return 0;
}

static int take_user(struct file_call *c, struct sb_err *err)
{
	const char *user = GUESTD_USER;

	if (json_get_str(c->args, "user", &user, err) < 0)
		return -1;
	c->as_root = strcmp(user, "root") == 0;
	if (!c->as_root && strcmp(user, GUESTD_USER) != 0)
		return sb_fail(err, SB_INVALID,
			       "'user' must be " GUESTD_USER " or root");
	return 0;
}

int file_call_parse(struct file_call *c, const struct http_req *req,
		    struct sb_err *err)
{
	static const char *const paths[] = { "path", "file", "source", "src",
					     NULL };
	static const char *const targets[] = { "destination", "target", "to",
					       "dst", NULL };
	autojson json_t *query = http_query_json(req);

	*c = (struct file_call){ 0 };
	if (http_body_json(req, &c->args, err) < 0)
		return -1;
	json_object_update_missing(c->args, query);
	if (take_path(req, c->args, paths, &c->path, err) < 0 ||
	    take_path(req, c->args, targets, &c->target, err) < 0 ||
	    take_user(c, err) < 0) {
		file_call_done(c);
		return -1;
	}
	return 0;
}

void file_call_done(struct file_call *c)
{
	free(c->path);
	free(c->target);
	json_decref(c->args);
	*c = (struct file_call){ 0 };
}

struct call {
	struct http_req *req;
	struct file_call call;
	file_op op;
	json_t *answer;
	int rc;
	struct sb_err err;
};

static void run(void *arg)
{
	struct call *c = arg;

	files_enter(c->call.as_root);
	c->rc = c->op(&c->call, &c->answer, &c->err);
	files_leave();
}

static void reply(void *arg)
{
	struct call *c = arg;

	if (c->rc < 0)
		http_fail(c->req, &c->err);
	else
		http_reply_json(c->req, 200, c->answer);
	file_call_done(&c->call);
	free(c);
}

static void call_run(struct http_req *req, file_op op, const char *dflt)
{
	const struct guestd *g = http_ctx(req);
	struct call *c = xcalloc(1, sizeof(*c));

	c->req = req;
	c->op = op;
	c->rc = file_call_parse(&c->call, req, &c->err);
	if (c->rc == 0 && !c->call.path && dflt)
		c->call.path = file_absolute(g, dflt);
	if (c->rc == 0 && !c->call.path)
		c->rc = sb_fail(&c->err, SB_INVALID, "'path' is missing");
	if (c->rc < 0)
		reply(c);
	else
		loop_work(g->loop, run, reply, c);
}

void file_call_run(struct http_req *req /* takes */, file_op op)
{
	call_run(req, op, NULL);
}

void file_call_run_in(struct http_req *req /* takes */, file_op op)
{
	call_run(req, op, "");
}
