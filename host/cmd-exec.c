/* SPDX-License-Identifier: Apache-2.0 */
/* exec: run a command in a sandbox. */
#include "config.h"

#include <unistd.h>

#include "common/json.h"
#include "host/cmd.h"
#include "host/ctl-guest.h"

static const struct opt opts[] = {
	{ .name = "tty",
	  .letter = 't',
	  .help = "run it in a terminal of its own",
	  .store = offsetof(struct guest_opts, tty) },
	{ .name = "interactive",
	  .letter = 'i',
	  .help = "pass our stdin on; else it is empty",
	  .store = offsetof(struct guest_opts, input) },
	GUEST_OPTS,
	{ 0 },
};

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	struct guest_opts o = *(const struct guest_opts *)a->values;
	autojson json_t *sandbox = NULL;

	if (c->json && o.tty)
		return sb_fail(err, SB_INVALID,
			       "--json and --tty do not go together");
	/* A terminal that one cannot type into helps nobody. */
	if (o.tty && isatty(STDIN_FILENO))
		o.input = true;
	if (guest_find(c, a->argv[0], &sandbox, err))
		return -1;
	return guest_exec(c, sandbox, &o, a->argv + 1, err);
}

const struct cmd cmd_exec = {
	.name = "exec",
	.section = "Work inside",
	.args = "NAME [--] COMMAND [ARG...]",
	.summary = "run a command in a sandbox",
	.detail =
		"The exit status is the command's. Arguments arrive exactly as "
		"given: nothing is expanded in the guest unless you call a "
		"shell there. Its folder is " GUEST_WORKSPACE ". "
		"Ctrl-C reaches the command.\n"
		"stdin is passed on only with -i; -t gives the command a "
		"terminal, and takes stdin as well if that is one. On a "
		"terminal and without -t, escape sequences other than colours "
		"are left out of the output. With --json it is collected into "
		"one object.",
	.examples = "sandboxctl exec demo -- uname -a\n"
		    "sandboxctl exec demo -- sh -c 'echo $HOME; ls | wc -l'\n"
		    "sandboxctl exec demo -i -- tar xf - < files.tar\n"
		    "sandboxctl exec demo -t -u root -- bash",
	.opts = opts,
	.values = sizeof(struct guest_opts),
	.min = 2,
	.max = CMD_ANY,
	.verbatim = 2,
	.words = { WORD_SANDBOX },
	.run = run,
};
