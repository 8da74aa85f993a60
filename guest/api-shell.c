/* SPDX-License-Identifier: Apache-2.0 */
/* Routes that run a command of the shell. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "guest/api.h"
#include "guest/run.h"
#include "guest/text.h"

#define MAX_ARGV 16384

static int get_command(const json_t *body, const char **ret, struct sb_err *err)
{
	const char *command = NULL, *cmd = NULL;

	if (json_get_str(body, "command", &command, err) < 0 ||
	    json_get_str(body, "cmd", &cmd, err) < 0)
		return -1;
	if (command && cmd)
		return sb_fail(err, SB_INVALID,
			       "'command' and 'cmd' are the same: give one");
	*ret = command ? command : cmd;
	return 0;
}

/* The bytes of one word of 'argv', in memory that b keeps. */
static int add_word(const json_t *word, bool base64, struct buf *b,
		    struct sb_err *err)
{
	const char *text = json_string_value(word);
	size_t begin = b->len;

	if (!text)
		return sb_fail(err, SB_INVALID,
			       "'argv' must be an array of strings");
	if (!base64)
		buf_adds(b, text);
	else if (text_decode(text, "argv", b, err) < 0)
		return -1;
	if (b->len > begin && memchr(b->p + begin, '\0', b->len - begin))
		return sb_fail(err, SB_INVALID, "a word of 'argv' has a NUL");
	buf_add(b, "", 1);
	return 0;
}

static int check_argv(const json_t *list, const char *encoding,
		      struct sb_err *err)
{
	size_t n = json_array_size(list);

	if (!json_is_array(list) || !n || n > MAX_ARGV)
		return sb_fail(err, SB_INVALID,
			       "'argv' must be an array of 1 to %d strings",
			       MAX_ARGV);
	if (strcmp(encoding, "utf-8") != 0 && strcmp(encoding, "base64") != 0)
		return sb_fail(err, SB_INVALID,
			       "'argv_encoding' must be utf-8 or base64");
	return 0;
}

/* The words of 'argv', kept in words, and the array of them. */
static int get_argv(const json_t *body, struct buf *words, const char ***ret,
		    struct sb_err *err)
{
	const json_t *list = json_object_get(body, "argv");
	const char *encoding = "utf-8", *p;
	size_t n = json_array_size(list);

	if (json_get_str(body, "argv_encoding", &encoding, err) < 0 ||
	    check_argv(list, encoding, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (add_word(json_array_get(list, i),
			     strcmp(encoding, "base64") == 0, words, err) < 0)
			return -1;
	*ret = xcalloc(n + 1, sizeof(**ret));
	p = words->p;
	for (size_t i = 0; i < n; i++, p += strlen(p) + 1)
		(*ret)[i] = p;
	return 0;
}

static int start_argv(struct guestd *g, const json_t *body,
		      const struct run_params *r, const struct spawn_as *as,
		      struct process **ret, struct sb_err *err)
{
	autobuf struct buf words = { 0 }, command = { 0 };
	autofree const char **argv = NULL;

	if (get_argv(body, &words, &argv, err) < 0)
		return -1;
	for (size_t i = 0; argv[i]; i++)
		buf_addf(&command, "%s%s", i ? " " : "", argv[i]);
	return run_start(g, r, as, argv, command.p, ret, err);
}

static int start_command(struct guestd *g, const char *command,
			 const struct run_params *r, const struct spawn_as *as,
			 struct process **ret, struct sb_err *err)
{
	const char *argv[] = { "/bin/bash", "-c", command, NULL };

	if (str_empty(command))
		return sb_fail(err, SB_INVALID, "'command' is missing");
	if (access(argv[0], X_OK) < 0)
		argv[0] = "/bin/sh";
	return run_start(g, r, as, argv, command, ret, err);
}

/* body keeps the strings of *ret_params. */
static int start(struct http_req *req, json_t **body,
		 struct run_params *ret_params, struct process **ret_process,
		 struct sb_err *err)
{
	autospawnas struct spawn_as *as = NULL;
	struct run_params *r = ret_params;
	struct guestd *g = http_ctx(req);
	const char *command = NULL;
	bool has_argv;

	if (http_body_json(req, body, err) < 0 ||
	    get_command(*body, &command, err) < 0 ||
	    run_parse(*body, r, err) < 0 ||
	    json_get_bool(*body, "attached", &r->attached, err) < 0 ||
	    run_as(g, r, &as, err) < 0)
		return -1;
	has_argv = json_object_get(*body, "argv");
	if (has_argv && command)
		return sb_fail(err, SB_INVALID,
			       "'command' and 'argv' exclude each other");
	if (has_argv)
		return start_argv(g, *body, r, as, ret_process, err);
	return start_command(g, command, r, as, ret_process, err);
}

static void post_shell_exec(struct http_req *req)
{
	autojson json_t *body = NULL;
	struct run_params r;
	struct process *p;
	struct sb_err err;

	if (start(req, &body, &r, &p, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	run_reply(req, &r, p, NULL);
	process_unref(p);
}

static void post_shell_stream(struct http_req *req)
{
	autojson json_t *body = NULL;
	struct run_params r;
	struct process *p;
	struct sb_err err;

	if (start(req, &body, &r, &p, &err) < 0) {
		http_fail(req, &err);
		return;
	}
	run_follow(req, p, OUTPUT_MERGED, 0);
	process_unref(p);
}

static const struct http_field exec_in[] = {
	{ "command", HTTP_STR, "What bash -c is to run", .aka = "cmd" },
	{ "argv", HTTP_LIST, "In its place: a program and its arguments",
	  .of = HTTP_STR },
	{ "argv_encoding", HTTP_STR, "How argv is written",
	  .words = "utf-8|base64", .dflt = "'utf-8'" },
	HTTP_GROUP(run_fields),
	{ 0 },
};

static const struct http_field stream_in[] = {
	HTTP_GROUP(exec_in),
	{ "attached", HTTP_BOOL, "It waits for its client, and ends with it",
	  .dflt = "false" },
	{ "format", HTTP_STR, "Events, or frames of bytes", HTTP_QUERY,
	  .words = "events|frames", .dflt = "'events'" },
	{ 0 },
};

static const struct http_schema result_schema = {
	"ShellResult",
	run_result_fields,
	"How a command ended",
	"{'id': 'p1', 'exit_code': 0, 'signal': null, 'timed_out': false,"
	" 'truncated': false, 'duration_ms': 3, 'stdout': 'hello',"
	" 'stderr': '', 'output': 'hello'}",
};

static const struct http_schema started_schema = {
	"ShellStarted",
	run_started_fields,
	"A command in the background",
	"{'id': 'p1', 'pid': 4711}",
};

static const struct http_answer exec_out[] = {
	{ 200, "It has ended, well or not", &result_schema },
	{ 202, "It runs in the background", &started_schema },
	{ 0 },
};

static const struct http_answer stream_out[] = {
	{ 200, "Its output as it comes", .events = run_events },
	{ 0 },
};

/* clang-format off */
const struct http_route shell_routes[] = {
	{ "POST", "/v1/shell/exec", post_shell_exec, 0,
	  "Run a command and answer when it has ended",
	  { "/shell/exec", "/v1/bash/exec" }, exec_in, exec_out, { SB_BUSY },
	  .example = "{'command': 'echo hello', 'timeout': 10}",
	  .text = "A client that leaves does not end the command: it goes on, "
		  "and /v1/processes has its output." },
	{ "POST", "/v1/shell/stream", post_shell_stream, 0,
	  "Run a command and send its output as events",
	  { "/shell/stream", "/v1/bash/exec/stream" }, stream_in, stream_out,
	  { SB_BUSY },
	  .example = "{'command': 'echo hello; echo oops >&2'}",
	  .text = "A stream that broke can be taken up again at "
		  "/v1/processes/{id}/output?follow=true." },
	{ 0 },
};
/* clang-format on */
