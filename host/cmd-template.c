/* SPDX-License-Identifier: Apache-2.0 */
/* template: which templates `up` can start from. */
#include "config.h"

#include <stdio.h>

#include "common/json.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-table.h"

static int run_list(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *reply = NULL;
	struct table *t;
	const json_t *e;
	size_t i;

	if (daemon_call(c, "GET", "/v1/templates", NULL, &reply, err))
		return -1;
	if (c->json) {
		out_json(reply);
		return 0;
	}
	t = table_new(3, "NAME", "DESCRIPTION", "FILE");
	json_array_foreach(json_object_get(reply, "templates"), i, e)
		table_row(t, json_str_or(e, "name", NULL),
			  json_str_or(e, "description", NULL),
			  json_str_or(e, "file", NULL));
	table_print(t, stdout);
	table_free(t);
	return 0;
}

static const struct cmd cmd_list = {
	.name = "template list",
	.alias = "ls",
	.summary = "list the templates",
	.examples = "sandboxctl template list",
	.run = run_list,
};

static const struct cmd *const commands[] = { &cmd_list, NULL };

const struct cmd cmd_template = {
	.name = "template",
	.alias = "templates",
	.section = "Images and templates",
	.args = "COMMAND",
	.summary = "see what up can start from",
	.max = CMD_ANY,
	.verbatim = 1,
	.words = { WORD_COMMAND },
	.sub = commands,
};
