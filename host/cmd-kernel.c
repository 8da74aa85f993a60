/* SPDX-License-Identifier: Apache-2.0 */
/* kernel: a connection file for Jupyter clients that speak ZeroMQ. */
#include "config.h"

#include <stdio.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-connfile.h"
#include "host/ctl-daemon.h"
#include "host/ctl-guest.h"
#include "host/ctl-out.h"

struct values {
	const char *kernel, *output;
	bool stop;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "kernel",
	  .letter = 'k',
	  .arg = "KERNEL",
	  .help = "the kernel with this ID, or one of this kind",
	  .kind = OPT_STR,
	  .store = AT(kernel) },
	{ .name = "output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "write this file",
	  .kind = OPT_STR,
	  .store = AT(output) },
	{ .name = "stop",
	  .help = "remove the file and the forwards again",
	  .store = AT(stop) },
	{ 0 },
};

/* All but the key, which is in the file for those who may read it. */
static void print_json(const char *path, json_t *file)
{
	json_object_del(file, "key");
	json_put(file, "connection_file", json_str(path));
	out_json(file);
}

static int make(struct ctl *c, const struct connfile *f, const char *path,
		struct sb_err *err)
{
	autojson json_t *file = NULL;

	if (connfile_make(c, f, path, &file, err) < 0)
		return -1;
	if (c->json) {
		print_json(path, file);
		return 0;
	}
	puts(path);
	out_note("use it with: jupyter console --existing %s", path);
	return 0;
}

static int stop(struct ctl *c, const struct connfile *f, const char *path,
		struct sb_err *err)
{
	autojson json_t *j = NULL;

	if (connfile_remove(c, f, path, err) < 0)
		return -1;
	if (c->json) {
		j = json_object();
		json_put(j, "removed", json_str(path));
		out_json(j);
	}
	return 0;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct values *v = a->values;
	autojson json_t *sandbox = NULL;
	autofree char *path = NULL;
	struct connfile f = { .kernel = v->kernel, .file = v->output };

	/* What is to be removed may belong to one that does not run. */
	if (v->stop ? daemon_sandbox(c, a->argv[0], &sandbox, err)
		    : guest_find(c, a->argv[0], &sandbox, err))
		return -1;
	f.sandbox = sandbox;
	if (connfile_path(&f, &path, err) < 0)
		return -1;
	return v->stop ? stop(c, &f, path, err) : make(c, &f, path, err);
}

const struct cmd cmd_kernel = {
	.name = "kernel",
	.section = "Work inside",
	.args = "NAME",
	.summary = "let Jupyter clients reach a kernel by ZeroMQ",
	.detail = "Five ports are forwarded to the kernel, and the path of a "
		  "connection file for jupyter_client and the like is printed. "
		  "Without --kernel it is the kernel that all share, which is "
		  "started if need be; with the name of a kernelspec, the one "
		  "that all share of that kind. The file lasts as long "
		  "as the sandbox runs, through restarts of the kernel.",
	.examples = "sandboxctl kernel demo\n"
		    "jupyter console --existing $(sandboxctl kernel demo)\n"
		    "sandboxctl kernel demo --stop",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = 1,
	.words = { WORD_SANDBOX },
	.run = run,
};
