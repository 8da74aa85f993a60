/* SPDX-License-Identifier: Apache-2.0 */
/* pause and resume: hold a sandbox's processors. */
#include "config.h"

#include <stdio.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"

static int post(struct ctl *c, const char *name, const char *verb,
		struct sb_err *err)
{
	autofree char *path = daemon_path(DAEMON_SANDBOXES, name, verb);
	autojson json_t *sandbox = NULL;
	autofree char *state = NULL;

	if (daemon_call(c, "POST", path, NULL, &sandbox, err))
		return -1;
	if (c->json) {
		out_json(sandbox);
		return 0;
	}
	state = sanitize_line(json_str_or(sandbox, "state", "?"));
	printf("%s is %s.\n", name, state);
	return 0;
}

static int run_pause(struct ctl *c, const struct cmd_args *a,
		     struct sb_err *err)
{
	return post(c, a->argv[0], "/pause", err);
}

static int run_resume(struct ctl *c, const struct cmd_args *a,
		      struct sb_err *err)
{
	return post(c, a->argv[0], "/resume", err);
}

const struct cmd cmd_pause = {
	.name = "pause",
	.section = "Sandboxes",
	.args = "NAME",
	.summary = "stop a sandbox's processors; its memory stays",
	.examples = "sandboxctl pause demo",
	.min = 1,
	.max = 1,
	.words = { WORD_SANDBOX },
	.run = run_pause,
};

const struct cmd cmd_resume = {
	.name = "resume",
	.section = "Sandboxes",
	.args = "NAME",
	.summary = "let a paused sandbox go on",
	.examples = "sandboxctl resume demo",
	.min = 1,
	.max = 1,
	.words = { WORD_SANDBOX },
	.run = run_resume,
};
