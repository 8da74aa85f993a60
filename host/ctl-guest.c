/* SPDX-License-Identifier: Apache-2.0 */
/* Work inside a guest: which way it is done. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/ctl-copy.h"
#include "host/ctl-daemon.h"
#include "host/ctl-exec.h"
#include "host/ctl-guest.h"
#include "host/ctl-out.h"
#include "host/ctl-words.h"
#include "host/paths.h"

int guest_find(struct ctl *c, const char *name, json_t **ret,
	       struct sb_err *err)
{
	autojson json_t *sandbox = NULL;
	const char *state;

	if (daemon_sandbox(c, name, &sandbox, err))
		return -1;
	state = json_str_or(sandbox, "state", "");
	if (strcmp(state, "ready") == 0 && json_object_get(sandbox, "ssh")) {
		*ret = steal(&sandbox);
		return 0;
	}
	sb_fail(err, SB_CONFLICT, "sandbox '%s' is %s, not ready", name, state);
	if (strcmp(state, "paused") == 0)
		return sb_hint(err, "sandboxctl resume %s", name);
	if (strcmp(state, "stopped") == 0)
		return sb_hint(err, "sandboxctl up %s", name);
	if (strcmp(state, "failed") == 0)
		return sb_hint(err, "sandboxctl info %s says why", name);
	return sb_hint(err, "sandboxctl ls shows when it is");
}

const char *guest_workspace(const json_t *sandbox)
{
	return json_str_or(sandbox, "workspace", GUEST_WORKSPACE);
}

/* What every call of sandboxctl-ssh begins with. */
static void begin(const struct ctl *c, const json_t *sandbox, const char *verb,
		  const char *user, struct words *w)
{
	const json_t *ssh = json_object_get(sandbox, "ssh");
	char port[24];

	snprintf(port, sizeof(port), "%lld", json_int_or(ssh, "port", 0));
	words_add(w, "sandboxctl-ssh");
	words_add(w, verb);
	words_add2(w, "--host", json_str_or(ssh, "host", "127.0.0.1"));
	words_add2(w, "--port", port);
	words_add2(w, "--user", user ? user : json_str_or(ssh, "user", "user"));
	words_add2(w, "--key-file", json_str_or(ssh, "key_file", ""));
	words_add2(w, "--host-key", json_str_or(ssh, "host_key", ""));
	if (c->json)
		words_add(w, "--json");
}

static int become(const struct words *w, struct sb_err *err)
{
	autofree char *helper = paths_ssh_helper();

	fflush(stdout);
	execv(helper, w->v);
	sb_fail(err, SB_MISSING, "cannot run '%s': %m", helper);
	return sb_hint(err, "it is part of sandboxctl: install it again");
}

int guest_check_env(const char *pair, struct sb_err *err)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				      "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t len = strcspn(pair, "=");

	if (!len || strchr("0123456789", pair[0]) ||
	    strspn(pair, letters) != len)
		return sb_fail(err, SB_INVALID,
			       "--env: '%s' is not KEY=VALUE with a name of "
			       "letters, digits and _",
			       pair);
	if (!pair[len] && !getenv(pair))
		return sb_fail(err, SB_INVALID,
			       "--env: '%s' is not set in your environment; "
			       "say %s=VALUE",
			       pair, pair);
	return 0;
}

/* "KEY" takes our own value here, where the user's environment is. */
static void add_env(const struct strlist *env, struct words *w)
{
	for (size_t i = 0; i < env->n; i++) {
		const char *text = env->v[i];
		autofree char *pair = NULL;

		if (!strchr(text, '='))
			pair = xasprintf("%s=%s", text, getenv(text));
		words_add2(w, "--env", pair ? pair : text);
	}
}

static int ssh_exec(struct ctl *c, const json_t *sandbox,
		    const struct guest_opts *o, char *const *argv,
		    struct sb_err *err)
{
	autowords struct words w = { 0 };

	begin(c, sandbox, "exec", o->user, &w);
	add_env(&o->env, &w);
	words_add2(&w, "--workspace", guest_workspace(sandbox));
	if (o->dir)
		words_add2(&w, "--workdir", o->dir);
	if (o->tty)
		words_add(&w, "--tty");
	if (o->input)
		words_add(&w, "--interactive");
	words_add(&w, "--");
	words_add_all(&w, argv);
	return become(&w, err);
}

static bool wants_ssh(const char *via)
{
	return via && strcmp(via, "ssh") == 0;
}

/* Whether to go on with SSH after guestd could not be asked. */
static bool rescue(const char *via, bool again, const struct sb_err *err)
{
	if (!again || (via && strcmp(via, "guestd") == 0))
		return false;
	if (exec_unreachable(err))
		out_note("guestd does not answer (%s); using SSH", err->msg);
	else
		out_note("%s; using SSH", err->msg);
	return true;
}

int guest_exec(struct ctl *c, const json_t *sandbox, const struct guest_opts *o,
	       char *const *argv, struct sb_err *err)
{
	bool again = false;
	int status;

	for (size_t i = 0; i < o->env.n; i++)
		if (guest_check_env(o->env.v[i], err) < 0)
			return -1;
	if (wants_ssh(o->via))
		return ssh_exec(c, sandbox, o, argv, err);
	status = exec_run(c, sandbox, o, argv, &again, err);
	if (status >= 0 || !rescue(o->via, again, err))
		return status;
	return ssh_exec(c, sandbox, o, argv, err);
}

int guest_copy(struct ctl *c, const json_t *sandbox, const char *via,
	       const char *verb, const char *from, const char *to,
	       struct sb_err *err)
{
	autowords struct words w = { 0 };
	bool again = false;
	int status;

	if (!wants_ssh(via)) {
		status = copy_through_guestd(c, sandbox,
					     strcmp(verb, "put") == 0, from, to,
					     &again, err);
		if (status >= 0 || !rescue(via, again, err))
			return status;
	}
	begin(c, sandbox, verb, NULL, &w);
	words_add(&w, "--");
	words_add(&w, from);
	words_add(&w, to);
	return become(&w, err);
}
