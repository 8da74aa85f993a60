/* SPDX-License-Identifier: Apache-2.0 */
/* What the routes that run something share. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "guest/desktop.h"
#include "guest/run.h"
#include "guest/signame.h"
#include "guest/text.h"

#define DEFAULT_OUTPUT (1024 * 1024)
#define MAX_TIMEOUT_S (7 * 24 * 3600)
#define MAX_ENV 1024

const struct http_field run_fields[] = {
	{ "cwd", HTTP_STR, "Folder to run in; the workspace if not given" },
	{ "env", HTTP_MAP, "Variables to add to the environment",
	  .of = HTTP_STR },
	{ "user", HTTP_STR, "Account to run as", .dflt = "'user'" },
	{ "stdin", HTTP_STR, "What it reads; without, nothing" },
	{ "open_stdin", HTTP_BOOL,
	  "Leave stdin open for /v1/processes/{id}/stdin", .dflt = "false" },
	{ "timeout", HTTP_NUM | HTTP_NULL,
	  "Seconds after which it is killed, with all of its group; 0: never",
	  .max = MAX_TIMEOUT_S, .dflt = "0" },
	{ "max_output", HTTP_INT, "Bytes of each stream to answer with",
	  .max = RUN_MAX_OUTPUT, .dflt = "1048576" },
	{ "background", HTTP_BOOL,
	  "Answer at once; stdin stays open for /v1/processes/{id}/stdin",
	  .dflt = "false" },
	{ 0 },
};

const struct http_field run_status_fields[] = {
	{ "exit_code", HTTP_INT | HTTP_NULL,
	  "128 + the signal's number if one ended it; null while it runs" },
	{ "signal", HTTP_STR | HTTP_NULL, "What ended it, such as SIGKILL" },
	{ "timed_out", HTTP_BOOL, "Whether it was killed for its timeout" },
	{ "truncated", HTTP_BOOL, "Whether there was more output than this" },
	{ "duration_ms", HTTP_INT, "How long it ran" },
	{ 0 },
};

const struct http_field run_result_fields[] = {
	{ "id", HTTP_STR, "Its name in /v1/processes" },
	HTTP_GROUP(run_status_fields),
	{ "stdout", HTTP_STR, "What it wrote to stdout" },
	{ "stderr", HTTP_STR, "What it wrote to stderr" },
	{ "output", HTTP_STR, "Both, in the order in which they came" },
	{ "encoding", HTTP_STR,
	  "There if one of the three is not UTF-8: all are base64 then",
	  .words = "base64", .maybe = true },
	{ 0 },
};

const struct http_field run_started_fields[] = {
	{ "id", HTTP_STR, "Its name in /v1/processes" },
	{ "pid", HTTP_INT, "Its process id, and that of its group" },
	{ 0 },
};

static int parse_timeout(const json_t *body, int64_t *ret, struct sb_err *err)
{
	const json_t *v = json_object_get(body, "timeout");
	double s = json_number_value(v);

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_number(v) || !(s >= 0 && s <= MAX_TIMEOUT_S))
		return sb_fail(err, SB_INVALID,
			       "'timeout' must be a number of seconds from 0 "
			       "(none) to %d",
			       MAX_TIMEOUT_S);
	*ret = (int64_t)ceil(s * 1000);
	return 0;
}

int run_parse_env(const json_t *body, const json_t **ret, struct sb_err *err)
{
	json_t *env = json_object_get(body, "env"), *value;
	const char *name;

	if (!env)
		return 0;
	if (!json_is_object(env) || json_object_size(env) > MAX_ENV)
		return sb_fail(err, SB_INVALID,
			       "'env' must be an object of at most %d names "
			       "and texts",
			       MAX_ENV);
	json_object_foreach(env, name, value) {
		if (!*name || strchr(name, '='))
			return sb_fail(err, SB_INVALID,
				       "'env' has the bad name '%s'", name);
		if (!json_is_string(value))
			return sb_fail(err, SB_INVALID,
				       "'env.%s' must be a string", name);
	}
	*ret = env;
	return 0;
}

int run_parse(const json_t *body, struct run_params *ret, struct sb_err *err)
{
	struct run_params r = { 0 };
	long long max_output = DEFAULT_OUTPUT;

	if (json_get_str(body, "cwd", &r.cwd, err) < 0 ||
	    json_get_str(body, "user", &r.user, err) < 0 ||
	    json_get_str(body, "stdin", &r.stdin_text, err) < 0 ||
	    json_get_int(body, "max_output", 0, RUN_MAX_OUTPUT, &max_output,
			 err) < 0 ||
	    json_get_bool(body, "background", &r.background, err) < 0 ||
	    json_get_bool(body, "open_stdin", &r.open_stdin, err) < 0 ||
	    parse_timeout(body, &r.timeout_ms, err) < 0 ||
	    run_parse_env(body, &r.env, err) < 0)
		return -1;
	if (r.open_stdin && r.stdin_text)
		return sb_fail(err, SB_INVALID,
			       "'stdin' and 'open_stdin' exclude each other");
	r.max_output = max_output;
	*ret = r;
	return 0;
}

int run_as(struct guestd *g, const struct run_params *r, struct spawn_as **ret,
	   struct sb_err *err)
{
	autofree char *file = xasprintf("%s/env", g->run_dir);
	autospawnas struct spawn_as *as = NULL;
	const char *name;
	json_t *value;

	if (spawn_as_new(r->user, &as, err) < 0)
		return -1;
	desktop_put_env(g->desktop, as);
	spawn_as_read_env(as, file);
	json_object_foreach((json_t *)r->env, name, value)
		spawn_as_setenv(as, name, json_string_value(value));
	*ret = steal(&as);
	return 0;
}

const char *run_workspace(const struct guestd *g)
{
	return json_str_or(g->message, "workspace", GUESTD_WORKSPACE);
}

int run_start(struct guestd *g, const struct run_params *r,
	      const struct spawn_as *as, const char *const argv[],
	      const char *command, struct process **ret, struct sb_err *err)
{
	struct process_config cfg = {
		.as = as,
		.argv = argv,
		.command = command,
		.workspace = run_workspace(g),
		.cwd = str_empty(r->cwd) ? NULL : r->cwd,
		.timeout_ms = r->timeout_ms,
		.attached = r->attached,
	};

	if (r->stdin_text) {
		cfg.stdin_mode = PROCESS_STDIN_TEXT;
		cfg.stdin_data = r->stdin_text;
		cfg.stdin_len = strlen(r->stdin_text);
	} else if (r->background || r->open_stdin) {
		cfg.stdin_mode = PROCESS_STDIN_OPEN;
	}
	return process_start(g->processes, &cfg, ret, err);
}

static bool is_truncated(const struct process *p)
{
	const struct output *o = process_output(p);

	return output_kept(o, OUTPUT_MERGED) < output_total(o, OUTPUT_MERGED);
}

void run_put_status(json_t *j, const struct process *p)
{
	struct process_status st;

	process_get_status(p, &st);
	json_put(j, "exit_code",
		 st.running ? json_null() : json_integer(st.exit_code));
	json_put(j, "signal", signame_json(st.signal));
	json_put(j, "timed_out", json_boolean(st.timed_out));
	json_put(j, "truncated", json_boolean(is_truncated(p)));
	json_put(j, "duration_ms", json_integer(st.duration_ms));
}

/* A request that waits for its process. */
struct waiter {
	struct http_req *req;
	struct process *p;
	struct process_watch watch;
	size_t max_output;
	json_t *extra;
};

/*
 * All three are text, or all three are base64: who reads them need not look at
 * each.  A character that the limit cuts goes whole.
 */
static void put_output(json_t *j, const struct process *p, size_t max)
{
	static const char *const names[] = { "stdout", "stderr", "output" };
	const struct output *o = process_output(p);
	struct buf b[OUTPUT_NSTREAMS] = { { 0 } };
	bool base64 = false, cut = false;

	for (int s = 0; s < OUTPUT_NSTREAMS; s++) {
		size_t n = MIN(output_kept(o, s), max);

		b[s].p = xmalloc(n + 1);
		b[s].len = output_read(o, s, 0, b[s].p, n);
		if (b[s].len < output_kept(o, s)) {
			b[s].len = text_whole(b[s].p, b[s].len);
			cut = true;
		}
		base64 = base64 || !text_is_valid(b[s].p, b[s].len);
	}
	for (int s = 0; s < OUTPUT_NSTREAMS; s++) {
		json_put(j, names[s], text_json(b[s].p, b[s].len, base64));
		buf_done(&b[s]);
	}
	if (base64)
		json_put(j, "encoding", json_str("base64"));
	if (cut)
		json_put(j, "truncated", json_true());
}

static void on_change(void *arg)
{
	struct waiter *w = arg;
	struct process_status st;
	json_t *j;

	process_get_status(w->p, &st);
	if (st.running)
		return;
	j = json_object();
	json_put(j, "id", json_str(process_id(w->p)));
	run_put_status(j, w->p);
	put_output(j, w->p, w->max_output);
	json_object_update(j, w->extra);
	http_reply_json(w->req, 200, j);
	process_unwatch(&w->watch);
	process_unref(w->p);
	json_decref(w->extra);
	free(w);
}

void run_reply(struct http_req *req, const struct run_params *r,
	       struct process *p, json_t *extra /* takes */)
{
	struct waiter *w;
	json_t *j;

	if (r->background) {
		j = json_pack("{s:s, s:i}", "id", process_id(p), "pid",
			      (int)process_pid(p));
		json_object_update(j, extra);
		json_decref(extra);
		http_reply_json(req, 202, j);
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->req = req;
	w->p = process_ref(p);
	w->max_output = r->max_output;
	w->extra = extra;
	w->watch.fn = on_change;
	w->watch.arg = w;
	process_watch(p, &w->watch);
}
