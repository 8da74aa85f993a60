/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sandboxctl does inside a guest, with a guestd that runs here: the
 * object of a sandbox comes from a file in place of sandboxd.
 *   ctl-tool [-jit] [-v VIA] [-w DIR] [-e KEY=VALUE] SANDBOX exec ARG...
 *   ctl-tool [-j] [-v VIA] SANDBOX put|get FROM TO
 *   ctl-tool SANDBOX py ARG...   as sandboxctl py has them
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "host/ctl-args.h"
#include "host/ctl-guest.h"
#include "host/ctl-out.h"
#include "host/ctl-py.h"

#define MAX_FILE 65536

static int run_py(struct ctl *c, const json_t *sandbox, char **argv,
		  struct sb_err *err)
{
	autoargs struct args a = { 0 };
	int argc = 0;

	while (argv[argc])
		argc++;
	if (args_parse(&cmd_py, argc, argv, &a, err) < 0)
		return -1;
	c->json |= a.global.json;
	return py_run(c, a.cmd.argv[0], sandbox, a.cmd.values,
		      a.cmd.argc > 1 ? a.cmd.argv[1] : NULL, err);
}

static int run(struct ctl *c, const json_t *sandbox, const struct guest_opts *o,
	       char **argv, struct sb_err *err)
{
	if (strcmp(argv[0], "exec") == 0)
		return guest_exec(c, sandbox, o, argv + 1, err);
	if (strcmp(argv[0], "py") == 0)
		return run_py(c, sandbox, argv + 1, err);
	return guest_copy(c, sandbox, o->via, argv[0], argv[1], argv[2], err);
}

static void take_option(int opt, struct ctl *c, struct guest_opts *o,
			const char **env)
{
	switch (opt) {
	case 'j':
		c->json = true;
		break;
	case 'i':
		o->input = true;
		break;
	case 't':
		o->tty = o->input = true;
		break;
	case 'v':
		o->via = optarg;
		break;
	case 'w':
		o->dir = optarg;
		break;
	case 'e':
		*env = optarg;
		o->env = (struct strlist){ .v = env, .n = 1 };
		break;
	}
}

int main(int argc, char **argv)
{
	autofree char *text = NULL;
	autojson json_t *sandbox = NULL;
	struct guest_opts o = { 0 };
	struct ctl c = { 0 };
	struct sb_err err = { 0 };
	const char *env;
	size_t len;
	int opt, status;

	while ((opt = getopt(argc, argv, "+jitv:w:e:")) != -1)
		take_option(opt, &c, &o, &env);
	if (argc - optind < 3)
		return 2;
	if (fs_read(argv[optind], MAX_FILE, &text, &len, &err) < 0 ||
	    json_parse(text, len, &sandbox, &err) < 0) {
		out_error(&c, &err);
		return 2;
	}
	status = run(&c, sandbox, &o, argv + optind + 1, &err);
	if (status < 0 || (out_flush(&err) && status == 0)) {
		out_error(&c, &err);
		status = sb_code_exit(err.code);
	}
	return status;
}
