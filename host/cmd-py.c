/* SPDX-License-Identifier: Apache-2.0 */
/* py: run Python code in a sandbox. */
#include "config.h"

#include "common/json.h"
#include "host/cmd.h"
#include "host/ctl-py.h"

#define AT(field) offsetof(struct py_opts, field)

static const struct opt opts[] = {
	{ .name = "file",
	  .letter = 'f',
	  .arg = "FILE",
	  .help = "run this file of the host",
	  .kind = OPT_STR,
	  .store = AT(file) },
	{ .name = "out",
	  .letter = 'o',
	  .arg = "DIR",
	  .help = "save pictures and HTML in this folder",
	  .kind = OPT_STR,
	  .store = AT(out) },
	{ .name = "timeout",
	  .arg = "TIME",
	  .help = "interrupt the code after this time",
	  .kind = OPT_SECONDS,
	  .store = AT(timeout) },
	{ .name = "kernel",
	  .letter = 'k',
	  .arg = "KERNEL",
	  .help = "a kernel by its kind or its id",
	  .kind = OPT_STR,
	  .store = AT(kernel) },
	{ .name = "reset",
	  .help = "start the kernel anew first",
	  .store = AT(reset) },
	{ .name = "fresh",
	  .help = "run it in a python3 of its own, without state",
	  .store = AT(fresh) },
	GUEST_OPTS,
	{ 0 },
};

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *sandbox = NULL;

	if (guest_find(c, a->argv[0], &sandbox, err))
		return -1;
	return py_run(c, a->argv[0], sandbox, a->values,
		      a->argc > 1 ? a->argv[1] : NULL, err);
}

const struct cmd cmd_py = {
	.name = "py",
	.section = "Work inside",
	.args = "NAME [CODE|-]",
	.summary = "run Python code in a sandbox",
	.detail =
		"The code is CODE, a file (-f), or what comes from stdin, at "
		"most 8 MiB. Without any, on a terminal, it opens a REPL: "
		"Tab completes, Ctrl-C interrupts, Ctrl-D leaves.\n"
		"It runs in a kernel that lasts: what one call defines, the "
		"next can use. The value of the last expression is shown. "
		"Pictures are saved with -o. The exit status is 1 after an "
		"exception, else that of sys.exit().\n"
		"--fresh runs it in a new python3 that knows nothing of "
		"earlier calls and takes code of any size; --user, --workdir, "
		"--env and --via ssh mean the same.",
	.examples = "sandboxctl py demo 'x = 6 * 7'\n"
		    "sandboxctl py demo 'x'\n"
		    "sandboxctl py demo\n"
		    "sandboxctl py demo -f plot.py -o pictures\n"
		    "echo 'print(1)' | sandboxctl py demo -",
	.opts = opts,
	.values = sizeof(struct py_opts),
	.min = 1,
	.max = 2,
	.words = { WORD_SANDBOX },
	.run = run,
};
