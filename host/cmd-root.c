/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all commands. */
#include "config.h"

#include <stdio.h>

#include "host/cmd.h"
#include "host/ctl-help.h"

/* clang-format off */
static const struct cmd *const commands[] = {
	&cmd_up,
	&cmd_ls,
	&cmd_info,
	&cmd_down,
	&cmd_pause,
	&cmd_resume,
	&cmd_ttl,
	&cmd_port,
	&cmd_logs,
	&cmd_exec,
	&cmd_attach,
	&cmd_py,
	&cmd_jupyter,
	&cmd_kernel,
	&cmd_cp,
	&cmd_ssh,
	&cmd_screenshot,
	&cmd_record,
	&cmd_type,
	&cmd_key,
	&cmd_click,
	&cmd_view,
	&cmd_image,
	&cmd_template,
	&cmd_doctor,
	&cmd_daemon,
	&cmd_version,
	&cmd_help,
	&cmd_complete,
	NULL,
};
/* clang-format on */

struct values {
	bool version;
};

static const struct opt opts[] = {
	{ .name = "version",
	  .letter = 'V',
	  .help = "say the version",
	  .store = offsetof(struct values, version) },
	{ 0 },
};

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct values *v = a->values;

	if (v->version)
		return cmd_version.run(c, a, err);
	help_print(&cmd_root, stderr);
	return sb_code_exit(SB_INVALID);
}

const struct cmd cmd_root = {
	.name = "",
	.args = "COMMAND",
	.summary =
		"Disposable computers: boot one, run code in it, throw it away",
	.opts = opts,
	.values = sizeof(struct values),
	.max = CMD_ANY,
	.verbatim = 1,
	.words = { WORD_COMMAND },
	.sub = commands,
	.run = run,
};
