/* SPDX-License-Identifier: Apache-2.0 */
/* The route that runs code of a language. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "guest/api.h"
#include "guest/code-state.h"
#include "guest/run.h"
#include "guest/toolchain.h"

/* A folder that goes when the process in it has ended. */
struct folder {
	struct loop *loop;
	struct process *p;
	struct process_watch watch;
	char path[sizeof("/tmp/sandbox-code-XXXXXX")];
};

/* What came in, and what it is run with; the strings are body's. */
struct code {
	json_t *body;
	const char *text;
	struct toolchain tc;
	struct run_params params;
	bool stateful;
	struct spawn_as *as;
};

static void remove_folder(void *arg)
{
	const struct folder *f = arg;
	struct sb_err err;

	if (fs_remove_tree(f->path, &err) < 0)
		log_warn("%s", err.msg);
}

static void on_change(void *arg)
{
	struct folder *f = arg;
	struct process_status st;

	process_get_status(f->p, &st);
	if (st.running)
		return;
	process_unwatch(&f->watch);
	process_unref(f->p);
	loop_work(f->loop, remove_folder, free, f);
}

/* The folder becomes the account's when all in it is. */
static int fill_folder(struct folder *f, const struct code *c, const char *file,
		       struct sb_err *err)
{
	if (fs_write_atomic(file, c->text, strlen(c->text), 0600, err) < 0 ||
	    spawn_as_own(c->as, file, err) < 0)
		return -1;
	return spawn_as_own(c->as, f->path, err);
}

static int start_in(struct folder *f, struct guestd *g, const struct code *c,
		    struct process **ret, struct sb_err *err)
{
	const struct toolchain *tc = &c->tc;
	autofree char *file = xasprintf("%s/main.%s", f->path, tc->extension);
	autofree char *title = xasprintf("%s code", tc->name);
	autobuf struct buf script = { 0 };
	const char *argv[] = { "/bin/sh", "-c", NULL, NULL };

	buf_addf(&script, "DIR=%s\nFILE=%s\n", f->path, file);
	if (tc->compile)
		buf_addf(&script, "{ %s\n} </dev/null || exit\n", tc->compile);
	buf_addf(&script, "%s\n", tc->run);
	argv[2] = script.p;
	if (fill_folder(f, c, file, err) < 0)
		return -1;
	return run_start(g, &c->params, c->as, argv, title, ret, err);
}

static int start(struct guestd *g, const struct code *c, struct process **ret,
		 struct sb_err *err)
{
	struct folder *f = xcalloc(1, sizeof(*f));

	strcpy(f->path, "/tmp/sandbox-code-XXXXXX");
	f->loop = g->loop;
	if (!mkdtemp(f->path)) {
		sb_fail(err, sb_code_of_errno(errno),
			"cannot make a folder in /tmp: %m");
		free(f);
		return -1;
	}
	if (start_in(f, g, c, ret, err) < 0) {
		remove_folder(f);
		free(f);
		return -1;
	}
	f->p = process_ref(*ret);
	f->watch.fn = on_change;
	f->watch.arg = f;
	process_watch(f->p, &f->watch);
	return 0;
}

static int check_needs(const struct code *c, struct sb_err *err)
{
	const json_t *need;
	size_t i;

	json_array_foreach(c->tc.needs, i, need) {
		const char *name = json_string_value(need);
		autofree char *path = name ? spawn_as_find(c->as, name) : NULL;

		if (path)
			continue;
		sb_fail(err, SB_MISSING,
			"language '%s' needs '%s', which is not installed here",
			c->tc.name, name ? name : "?");
		return sb_hint(err, "Image '%s' has it: use a sandbox of that.",
			       c->tc.image);
	}
	return 0;
}

static int parse(struct http_req *req, struct code *c, struct sb_err *err)
{
	struct guestd *g = http_ctx(req);
	const char *language = NULL;

	if (http_body_json(req, &c->body, err) < 0 ||
	    json_get_str(c->body, "code", &c->text, err) < 0 ||
	    json_get_str(c->body, "language", &language, err) < 0 ||
	    json_get_bool(c->body, "stateful", &c->stateful, err) < 0 ||
	    run_parse(c->body, &c->params, err) < 0)
		return -1;
	if (!c->text || str_empty(language))
		return sb_fail(err, SB_INVALID, "'%s' is missing",
			       c->text ? "language" : "code");
	if (toolchain_load(g->languages_file, language, &c->tc, err) < 0 ||
	    (!c->stateful && run_as(g, &c->params, &c->as, err) < 0))
		return -1;
	return c->stateful ? 0 : check_needs(c, err);
}

static void post_code(struct http_req *req)
{
	struct code c = { 0 };
	struct process *p = NULL;
	struct sb_err err;
	int r = parse(req, &c, &err);

	if (r == 0 && c.stateful)
		r = code_state_run(req, &c.tc, &c.params, c.text, &err);
	else if (r == 0)
		r = start(http_ctx(req), &c, &p, &err);
	if (r < 0) {
		http_fail(req, &err);
	} else if (p) {
		run_reply(req, &c.params, p,
			  json_pack("{s:s}", "language", c.tc.name));
		process_unref(p);
	}
	spawn_as_free(c.as);
	toolchain_done(&c.tc);
	json_decref(c.body);
}

static const struct http_field code_in[] = {
	{ "code", HTTP_STR, "The program", .must = true },
	{ "language", HTTP_STR,
	  "python, javascript, typescript, go, rust, bash and whatever else "
	  "languages.yaml has",
	  .must = true },
	{ "stateful", HTTP_BOOL,
	  "Run it in a kernel in which variables stay; for python and bash",
	  .dflt = "false" },
	HTTP_GROUP(run_fields),
	{ 0 },
};

static const struct http_schema result_schema = {
	"CodeResult",
	(const struct http_field[]){
		HTTP_GROUP(run_result_fields),
		{ "language", HTTP_STR, "Its name in the table" },
		{ 0 } },
	"How code ended, its compiler included",
	"{'id': 'p2', 'exit_code': 0, 'signal': null, 'timed_out': false,"
	" 'truncated': false, 'duration_ms': 40, 'stdout': '42',"
	" 'stderr': '', 'output': '42', 'language': 'python'}",
};

static const struct http_schema started_schema = {
	"CodeStarted",
	(const struct http_field[]){
		HTTP_GROUP(run_started_fields),
		{ "language", HTTP_STR, "Its name in the table" },
		{ 0 } },
	"Code in the background",
	"{'id': 'p2', 'pid': 4711, 'language': 'python'}",
};

static const struct http_answer code_out[] = {
	{ 200, "It has ended, well or not", &result_schema },
	{ 202, "It runs in the background", &started_schema },
	{ 0 },
};

/* clang-format off */
const struct http_route code_routes[] = {
	{ "POST", "/v1/code/execute", post_code, 0,
	  "Run code of a language and answer when it has ended",
	  { "/code/execute" }, code_in, code_out,
	  { SB_MISSING, SB_BUSY, SB_NOSPACE, SB_NOTFOUND, SB_DENIED },
	  .example = "{'code': 'echo $((6 * 7))', 'language': 'bash'}" },
	{ 0 },
};
/* clang-format on */
