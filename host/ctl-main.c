/* SPDX-License-Identifier: Apache-2.0 */
/* From the command line to a command and its exit status. */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/ctl-args.h"
#include "host/ctl-daemon.h"
#include "host/ctl-help.h"
#include "host/ctl-main.h"
#include "host/ctl-out.h"
#include "host/ctl.h"

static int count(char **argv)
{
	int n = 0;

	while (argv[n])
		n++;
	return n;
}

/* An error in the command line is told in the form that it asks for. */
static bool wants_json(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--json") == 0)
			return true;
	return false;
}

static int dispatch(struct ctl *c, const struct cmd *cmd, char **argv,
		    struct sb_err *err)
{
	autoargs struct args a = { 0 };
	const struct cmd *sub;

	if (args_parse(cmd, count(argv), argv, &a, err)) {
		c->json |= wants_json(argv);
		return -1;
	}
	c->json |= a.global.json;
	if (a.global.help) {
		help_print(cmd, stdout);
		return 0;
	}
	if (cmd->run && (!cmd->sub || !a.cmd.argc))
		return cmd->run(c, &a.cmd, err);
	if (!a.cmd.argc) {
		help_print(cmd, stderr);
		return sb_code_exit(SB_INVALID);
	}
	if (cmd_lookup(cmd, a.cmd.argv[0], &sub, err))
		return -1;
	return dispatch(c, sub, a.cmd.argv + 1, err);
}

int ctl_main(const struct cmd *root, char **argv)
{
	struct sb_err err = { 0 };
	struct ctl c = { 0 };
	int status;

	status = dispatch(&c, root, argv + 1, &err);
	if (status < 0 || (out_flush(&err) && status == 0)) {
		out_error(&c, &err);
		status = sb_code_exit(err.code);
	}
	daemon_close(&c);
	return status;
}
