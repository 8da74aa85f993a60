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
	static const char *const fields[] = { "command", "cmd", RUN_FIELDS,
					      NULL };
	const char *argv[] = { "/bin/bash", "-c", NULL, NULL };
	autospawnas struct spawn_as *as = NULL;
	struct guestd *g = http_ctx(req);

	if (http_body_json(req, body, err) < 0 ||
	    json_only(*body, fields, err) < 0 ||
	    get_command(*body, &argv[2], err) < 0 ||
	    run_parse(*body, ret_params, err) < 0 ||
	    run_as(g, ret_params, &as, err) < 0)
		return -1;
	if (access(argv[0], X_OK) < 0)
		argv[0] = "/bin/sh";
	return run_start(g, ret_params, as, argv, argv[2], ret_process, err);
}

void post_shell_exec(struct http_req *req)
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

void post_shell_stream(struct http_req *req)
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
