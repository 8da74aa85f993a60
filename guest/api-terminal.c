/* SPDX-License-Identifier: Apache-2.0 */
/* Routes about terminals. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/static.h"
#include "guest/api.h"
#include "guest/run.h"
#include "guest/signame.h"
#include "guest/terminal-view.h"

#define DEFAULT_COLS 80
#define DEFAULT_ROWS 24
#define MAX_ARGS 256

/* What is to run: strings are the body's. */
struct program {
	const char *argv[MAX_ARGS + 1];
	const char *command; /* for people */
};

static int parse_argv(const json_t *argv, struct program *ret,
		      struct sb_err *err)
{
	size_t n = json_array_size(argv);

	for (size_t i = 0; i < n && i < MAX_ARGS; i++)
		ret->argv[i] = json_string_value(json_array_get(argv, i));
	for (size_t i = 0; i < MAX_ARGS && i < n; i++)
		if (!ret->argv[i])
			n = 0;
	if (n == 0 || n > MAX_ARGS || !*ret->argv[0])
		return sb_fail(err, SB_INVALID,
			       "'argv' must be an array of 1 to %d strings",
			       MAX_ARGS);
	ret->command = ret->argv[0];
	return 0;
}

static const char *find_shell(const struct spawn_as *as)
{
	const char *shell = spawn_as_getenv(as, "SHELL");

	if (shell && shell[0] == '/' && access(shell, X_OK) == 0 &&
	    !str_ends(shell, "/nologin") && !str_ends(shell, "/false"))
		return shell;
	return access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
}

/* A command of the shell, an argv, or just the shell. */
static int find_program(const json_t *body, const struct spawn_as *as,
			struct program *ret, struct sb_err *err)
{
	const json_t *argv = json_object_get(body, "argv");
	const char *command = NULL;

	if (json_get_str(body, "command", &command, err) < 0)
		return -1;
	if (command && argv)
		return sb_fail(err, SB_INVALID,
			       "give either 'command' or 'argv'");
	if (argv)
		return parse_argv(argv, ret, err);
	ret->argv[0] = ret->command = find_shell(as);
	if (!str_empty(command)) {
		ret->argv[1] = "-c";
		ret->argv[2] = ret->command = command;
	}
	return 0;
}

static int get_size(const json_t *body, int *cols, int *rows,
		    struct sb_err *err)
{
	long long c = *cols, r = *rows;

	if (json_get_int(body, "cols", 1, TERMINAL_MAX_SIZE, &c, err) < 0 ||
	    json_get_int(body, "rows", 1, TERMINAL_MAX_SIZE, &r, err) < 0)
		return -1;
	*cols = (int)c;
	*rows = (int)r;
	return 0;
}

static int start(struct guestd *g, const json_t *body, struct terminal **ret,
		 struct sb_err *err)
{
	struct terminal_config cfg = { .cols = DEFAULT_COLS,
				       .rows = DEFAULT_ROWS };
	autospawnas struct spawn_as *as = NULL;
	struct program p = { 0 };
	struct run_params r;

	if (run_parse(body, &r, err) < 0 || run_as(g, &r, &as, err) < 0 ||
	    get_size(body, &cfg.cols, &cfg.rows, err) < 0)
		return -1;
	if (!json_object_get(r.env, "TERM"))
		spawn_as_setenv(as, "TERM", "xterm-256color");
	if (find_program(body, as, &p, err) < 0)
		return -1;
	cfg.as = as;
	cfg.argv = p.argv;
	cfg.command = p.command;
	cfg.workspace = run_workspace(g);
	cfg.cwd = str_empty(r.cwd) ? NULL : r.cwd;
	return terminal_start(g->terminals, &cfg, ret, err);
}

static struct terminal *find(struct http_req *req, const char *id,
			     struct sb_err *err)
{
	const struct guestd *g = http_ctx(req);
	struct terminal *t = terminal_find(g->terminals, id);

	if (!t) {
		sb_fail(err, SB_NOTFOUND, "there is no terminal '%s'", id);
		sb_hint(err, "The last %d that ended are kept.",
			TERMINAL_MAX_ENDED);
	}
	return t;
}

static json_t *terminal_json(const struct terminal *t)
{
	const struct scrollback *out = terminal_output(t);
	struct terminal_status st;
	char iso[CLOCK_ISO_LEN];
	json_t *j = json_object();

	terminal_get_status(t, &st);
	clock_iso(st.started_wall_ms, iso);
	json_put(j, "id", json_str(st.id));
	json_put(j, "pid", json_integer(st.pid));
	json_put(j, "command", json_str(st.command));
	json_put(j, "user", json_str(st.user));
	json_put(j, "cols", json_integer(st.cols));
	json_put(j, "rows", json_integer(st.rows));
	json_put(j, "state", json_str(st.running ? "running" : "ended"));
	json_put(j, "started_at", json_str(iso));
	json_put(j, "viewers", json_integer(st.viewers));
	json_put(j, "output_start", json_integer((json_int_t)out->start));
	json_put(j, "output_bytes", json_integer((json_int_t)out->end));
	json_put(j, "exit_code",
		 st.running ? json_null() : json_integer(st.exit_code));
	json_put(j, "signal", signame_json(st.signal));
	return j;
}

static void post_terminal(struct http_req *req)
{
	autojson json_t *body = NULL;
	struct terminal *t;
	struct sb_err err;

	if (http_body_json(req, &body, &err) < 0 ||
	    start(http_ctx(req), body, &t, &err) < 0)
		http_fail(req, &err);
	else
		http_reply_json(req, 201, terminal_json(t));
}

static void get_terminals(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	json_t *list = json_array();
	struct terminal *t = NULL;

	while ((t = terminal_next(g->terminals, t)))
		json_array_append_new(list, terminal_json(t));
	http_reply_json(req, 200, json_pack("{s:o}", "terminals", list));
}

static void get_terminal(struct http_req *req)
{
	struct sb_err err;
	struct terminal *t = find(req, http_param(req, "id"), &err);

	if (t)
		http_reply_json(req, 200, terminal_json(t));
	else
		http_fail(req, &err);
}

/* One that has ended already is as dead as was asked for. */
static void delete_terminal(struct http_req *req)
{
	struct sb_err err;
	struct terminal *t = find(req, http_param(req, "id"), &err);

	if (t) {
		terminal_kill(t);
		http_reply_empty(req, 204);
	} else {
		http_fail(req, &err);
	}
}

/* The query of a WebSocket as the body that POST would have. */
static int query_body(struct http_req *req, json_t **ret, struct sb_err *err)
{
	static const char *const texts[] = { "command", "cwd", "user" };
	static const char *const sizes[] = { "cols", "rows" };
	autojson json_t *j = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!str_empty(http_query(req, texts[i])))
			json_put(j, texts[i],
				 json_str(http_query(req, texts[i])));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		long long n = 0;

		if (http_query_int(req, sizes[i], 1, TERMINAL_MAX_SIZE, &n,
				   err) < 0)
			return -1;
		if (n)
			json_put(j, sizes[i], json_integer(n));
	}
	*ret = steal(&j);
	return 0;
}

/* The terminal of that id, in the size that the viewer has. */
static int open_old(struct http_req *req, const char *id, const json_t *body,
		    bool writable, struct terminal **ret, struct sb_err *err)
{
	struct terminal *t = find(req, id, err);
	struct terminal_status st;

	if (!t)
		return -1;
	terminal_get_status(t, &st);
	if (writable && st.running &&
	    (get_size(body, &st.cols, &st.rows, err) < 0 ||
	     (terminal_resize(t, st.cols, st.rows, err) < 0 &&
	      err->code != SB_CONFLICT)))
		return -1;
	*ret = t;
	return 0;
}

static int parse_view(const struct http_req *req, struct terminal_view *ret,
		      struct sb_err *err)
{
	long long offset = -1;
	bool view = false;

	if (http_query_bool(req, "view", &view, err) < 0 ||
	    http_query_int(req, "offset", 0, INT64_MAX, &offset, err) < 0)
		return -1;
	ret->writable = !view;
	ret->from_offset = offset >= 0;
	ret->offset = offset >= 0 ? (uint64_t)offset : 0;
	return 0;
}

static int open_view(struct http_req *req, struct terminal **ret,
		     struct terminal_view *ret_view, struct sb_err *err)
{
	const char *id = http_query(req, "id");
	autojson json_t *body = NULL;

	if (http_ws_check(req, err) < 0 || parse_view(req, ret_view, err) < 0 ||
	    query_body(req, &body, err) < 0)
		return -1;
	if (!str_empty(id)) {
		if (open_old(req, id, body, ret_view->writable, ret, err) < 0)
			return -1;
		return terminal_view_check(*ret, ret_view, err);
	}
	if (!ret_view->writable || ret_view->from_offset)
		return sb_fail(err, SB_INVALID,
			       "'view' and 'offset' need the 'id' of a "
			       "terminal");
	return start(http_ctx(req), body, ret, err);
}

static void get_terminal_ws(struct http_req *req)
{
	struct terminal_view view;
	struct terminal *t;
	struct sb_err err;

	if (open_view(req, &t, &view, &err) < 0)
		http_fail(req, &err);
	else
		terminal_view(req, t, &view);
}

static void get_terminal_page(struct http_req *req)
{
	const struct guestd *g = http_ctx(req);
	const char *name = static_name(req, "/terminal");

	if (name)
		static_reply(g->terminal_page, req, name);
}

#define SIZE                                                                  \
	{                                                                     \
		"cols",                                                       \
		HTTP_INT,                                                     \
		"Columns",                                                    \
		.min = 1,                                                     \
		.max = TERMINAL_MAX_SIZE,                                     \
		.dflt = "80"                                                  \
	},                                                                    \
	{                                                                     \
		"rows", HTTP_INT, "Rows", .min = 1, .max = TERMINAL_MAX_SIZE, \
					  .dflt = "24"                        \
	}
#define PROGRAM                                                              \
	{ "command", HTTP_STR, "For the shell; without, the shell itself" }, \
		{ "cwd", HTTP_STR,                                           \
		  "Folder to begin in; the workspace if not given" },        \
	{                                                                    \
		"user", HTTP_STR, "Account to run as", .dflt = "'user'"      \
	}
#define TERMINAL_ID                                                        \
	{                                                                  \
		"id", HTTP_STR, "The id that its start was answered with", \
			HTTP_PATH                                          \
	}

static const struct http_field id_in[] = { TERMINAL_ID, { 0 } };

static const struct http_field start_in[] = {
	PROGRAM,
	{ "argv", HTTP_LIST, "A program and its arguments, without a shell",
	  .of = HTTP_STR },
	{ "env", HTTP_MAP, "Variables to add to the environment",
	  .of = HTTP_STR },
	SIZE,
	{ 0 },
};

static const struct http_field ws_in[] = {
	{ "id", HTTP_STR, "One that is there; else a new one is opened" },
	{ "view", HTTP_BOOL, "Only look", .dflt = "false" },
	{ "offset", HTTP_INT, "First byte of its output to be sent",
	  .max = HTTP_NO_MAX },
	PROGRAM,
	SIZE,
	{ 0 },
};

static const struct http_schema terminal_schema = {
	"Terminal",
	(const struct http_field[]){
		{ "id", HTTP_STR, "Its name here" },
		{ "pid", HTTP_INT, "Its process id" },
		{ "command", HTTP_STR, "What was asked for" },
		{ "user", HTTP_STR, "The account that it runs as" },
		{ "cols", HTTP_INT, "Columns" },
		{ "rows", HTTP_INT, "Rows" },
		{ "state", HTTP_STR, "Whether it still runs",
		  .words = "running|ended" },
		{ "started_at", HTTP_STR, "When it began" },
		{ "viewers", HTTP_INT, "How many look at it" },
		{ "output_start", HTTP_INT, "First byte that is still kept" },
		{ "output_bytes", HTTP_INT, "Bytes printed so far" },
		{ "exit_code", HTTP_INT | HTTP_NULL, "null while it runs" },
		{ "signal", HTTP_STR | HTTP_NULL, "What ended it" },
		{ 0 } },
	"A program on a terminal of its own",
	"{'id': 't1', 'pid': 4711, 'command': '/bin/bash', 'user': 'user',"
	" 'cols': 80, 'rows': 24, 'state': 'running',"
	" 'started_at': '2026-01-02T03:04:05.678Z', 'viewers': 1,"
	" 'output_start': 0, 'output_bytes': 120, 'exit_code': null,"
	" 'signal': null}",
};

static const struct http_schema list_schema = {
	"TerminalList",
	(const struct http_field[]){ { "terminals", HTTP_LIST, "All of them",
				       .schema = &terminal_schema },
				     { 0 } },
	"Terminals",
	NULL,
};

static const struct http_answer list_out[] = {
	{ 200, "The terminals", &list_schema },
	{ 0 },
};
static const struct http_answer start_out[] = {
	{ 201, "The new terminal", &terminal_schema },
	{ 0 },
};
static const struct http_answer terminal_out[] = {
	{ 200, "The terminal", &terminal_schema },
	{ 0 },
};
static const struct http_answer delete_out[] = {
	{ 204, "It is dead" },
	{ 0 },
};
static const struct http_answer ws_out[] = {
	{ 101, "The WebSocket: what it prints comes in binary messages, what "
	       "is sent in binary messages is typed; text messages are JSON" },
	{ 0 },
};

static const struct http_field page_in[] = {
	{ "If-None-Match", HTTP_STR, "An ETag: 304 if the file has it still",
	  HTTP_HEADER },
	{ "id", HTTP_STR, "One that is there; else a new one is opened" },
	{ "view", HTTP_BOOL, "Only look", .dflt = "false" },
	PROGRAM,
	{ "ticket", HTTP_STR, "What the page is to come in with" },
	{ 0 },
};
static const struct http_field page_file_in[] = {
	{ "file", HTTP_STR, "Its name", HTTP_PATH },
	{ "If-None-Match", HTTP_STR, "An ETag: 304 if the file has it still",
	  HTTP_HEADER },
	{ 0 },
};

/* clang-format off */
const struct http_route terminal_routes[] = {
	{ "GET", "/v1/terminals", get_terminals, 0,
	  "Open and recently ended terminals", .out = list_out },
	{ "POST", "/v1/terminals", post_terminal, 0, "Open a terminal",
	  { NULL }, start_in, start_out, { SB_BUSY },
	  .example = "{'command': 'echo hello', 'cols': 100}" },
	{ "GET", "/v1/terminals/{id}", get_terminal, 0, "One terminal",
	  { NULL }, id_in, terminal_out, { SB_NOTFOUND } },
	{ "DELETE", "/v1/terminals/{id}", delete_terminal, 0,
	  "Hang up on a terminal and kill all that runs in it", { NULL },
	  id_in, delete_out, { SB_NOTFOUND } },
	{ "GET", "/v1/terminal/ws", get_terminal_ws, 0,
	  "WebSocket of a terminal, a new one if no id is given", { NULL },
	  ws_in, ws_out, { SB_NOTFOUND, SB_UPGRADE, SB_BUSY } },
	{ "GET", "/terminal", get_terminal_page, HTTP_PUBLIC,
	  "The page of a terminal, for browsers", { NULL },
	  page_in, static_page_out, { SB_NOTFOUND } },
	{ "GET", "/terminal/{file}", get_terminal_page, HTTP_PUBLIC,
	  "A file that this page is made of", { NULL },
	  page_file_in, static_file_out, { SB_NOTFOUND } },
	{ 0 },
};
/* clang-format on */
