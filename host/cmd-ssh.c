/* SPDX-License-Identifier: Apache-2.0 */
/* ssh: log in to a sandbox with the OpenSSH client. */
#include "config.h"

#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-guest.h"
#include "host/ctl-out.h"
#include "host/ctl-words.h"

/*
 * The user's own configuration is left out: it may name other keys, and the
 * guest's host key is in a file of its own.
 */
static void command(const json_t *ssh, char *const *args, struct words *w)
{
	autofree char *hosts =
		xasprintf("UserKnownHostsFile=%s",
			  json_str_or(ssh, "known_hosts_file", "/dev/null"));
	autofree char *port = xasprintf("%lld", json_int_or(ssh, "port", 22));
	autofree char *target =
		xasprintf("%s@%s", json_str_or(ssh, "user", "user"),
			  json_str_or(ssh, "host", "127.0.0.1"));

	words_add(w, "ssh");
	words_add2(w, "-F", "none");
	words_add2(w, "-i", json_str_or(ssh, "key_file", ""));
	words_add2(w, "-o", "IdentitiesOnly=yes");
	words_add2(w, "-o", hosts);
	words_add2(w, "-o", "StrictHostKeyChecking=yes");
	words_add2(w, "-p", port);
	words_add(w, target);
	words_add_all(w, args);
}

static void print_json(const struct words *w, json_t *ssh)
{
	autojson json_t *j = json_object();
	json_t *argv = json_array();

	for (size_t i = 0; i < w->n; i++)
		json_array_append_new(argv, json_str(w->v[i]));
	json_put(j, "command", argv);
	json_put(j, "ssh", json_incref(ssh));
	out_json(j);
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autowords struct words w = { 0 };
	autojson json_t *sandbox = NULL;
	json_t *ssh;

	if (guest_find(c, a->argv[0], &sandbox, err))
		return -1;
	ssh = json_object_get(sandbox, "ssh");
	command(ssh, a->argv + 1, &w);
	if (c->json) {
		print_json(&w, ssh);
		return 0;
	}
	execvp(w.v[0], w.v);
	sb_fail(err, SB_MISSING, "cannot run ssh: %m");
	return sb_hint(err, "apt-get install openssh-client");
}

const struct cmd cmd_ssh = {
	.name = "ssh",
	.section = "Work inside",
	.args = "NAME [--] [ARG...]",
	.summary = "log in to a sandbox with the OpenSSH client",
	.detail =
		"Each ARG is handed to ssh: options such as -L, or a command. "
		"With --json the command line is printed, not run.",
	.examples = "sandboxctl ssh demo\n"
		    "sandboxctl ssh demo -- -L 3000:localhost:3000 -N",
	.min = 1,
	.max = CMD_ANY,
	.verbatim = 2,
	.words = { WORD_SANDBOX },
	.run = run,
};
