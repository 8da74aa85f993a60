/* SPDX-License-Identifier: Apache-2.0 */
/* help: the same as --help. */
#include "config.h"

#include <stdio.h>

#include "host/cmd.h"
#include "host/ctl-help.h"

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct cmd *cmd = &cmd_root;

	for (int i = 0; i < a->argc; i++) {
		if (!cmd->sub)
			return sb_fail(err, SB_INVALID,
				       "'%s' has no commands of its own",
				       cmd->name);
		if (cmd_lookup(cmd, a->argv[i], &cmd, err))
			return -1;
	}
	help_print(cmd, stdout);
	return 0;
}

const struct cmd cmd_help = {
	.name = "help",
	.section = "Host",
	.args = "[COMMAND...]",
	.summary = "explain a command",
	.examples = "sandboxctl help up\nsandboxctl help image build",
	.max = 2,
	.words = { WORD_COMMAND },
	.run = run,
};
