/* SPDX-License-Identifier: Apache-2.0 */
/* Routes that run a command of the shell. */
#include "config.h"

#include <unistd.h>

#include "common/json.h"
#include "guest/api.h"
#include "guest/run.h"

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
	if (str_empty(*ret))
		return sb_fail(err, SB_INVALID, "'command' is missing");
	return 0;
}

/* body keeps the strings of *ret_params. */
static int start(struct http_req *req, json_t **body,
		 struct run_params *ret_params, struct process **ret_process,
		 struct sb_err *err)
{
	const char *argv[] = { "/bin/bash", "-c", NULL, NULL };
	autospawnas struct spawn_as *as = NULL;
	struct guestd *g = http_ctx(req);

	if (http_body_json(req, body, err) < 0 ||
	    get_command(*body, &argv[2], err) < 0 ||
	    run_parse(*body, ret_params, err) < 0 ||
	    run_as(g, ret_params, &as, err) < 0)
		return -1;
	if (access(argv[0], X_OK) < 0)
		argv[0] = "/bin/sh";
	return run_start(g, ret_params, as, argv, argv[2], ret_process, err);
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

static const struct http_field shell_in[] = {
	{ "command", HTTP_STR, "What bash -c is to run", .must = true,
	  .aka = "cmd" },
	HTTP_GROUP(run_fields),
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
	  { "/shell/exec", "/v1/bash/exec" }, shell_in, exec_out, { SB_BUSY },
	  .example = "{'command': 'echo hello', 'timeout': 10}",
	  .text = "A client that leaves does not end the command: it goes on, "
		  "and /v1/processes has its output." },
	{ "POST", "/v1/shell/stream", post_shell_stream, 0,
	  "Run a command and send its output as events",
	  { "/shell/stream", "/v1/bash/exec/stream" }, shell_in, stream_out,
	  { SB_BUSY },
	  .example = "{'command': 'echo hello; echo oops >&2'}",
	  .text = "A stream that broke can be taken up again at "
		  "/v1/processes/{id}/output?follow=true." },
	{ 0 },
};
/* clang-format on */
