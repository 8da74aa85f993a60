/* SPDX-License-Identifier: Apache-2.0 */
/* jupyter: the host's own Jupyter on the kernels of a sandbox. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-checks.h"
#include "host/ctl-connfile.h"
#include "host/ctl-daemon.h"
#include "host/ctl-guest.h"
#include "host/ctl-guestd.h"
#include "host/ctl-link.h"
#include "host/ctl-out.h"
#include "host/ctl-words.h"

#define LAB "/lab" /* of guestd: JupyterLab in the sandbox itself */
#define CONSOLE "console"

struct values {
	bool url, browser;
	const char *kernel;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "url",
	  .help = "only print the gateway's URL",
	  .store = AT(url) },
	{ .name = "browser",
	  .help = "print a link to the sandbox's own JupyterLab, good for one "
		  "minute",
	  .store = AT(browser) },
	{ .name = "kernel",
	  .letter = 'k',
	  .arg = "KERNEL",
	  .help = "the console, on this kernel, as sandboxctl kernel has it",
	  .kind = OPT_STR,
	  .store = AT(kernel) },
	{ 0 },
};

/* In the order in which one is chosen. */
static const struct app {
	const char *name, *program, *remedy;
	bool gateway; /* or a connection file */
} apps[] = {
	{ "lab", "jupyter-lab", "pip install jupyterlab", true },
	{ "notebook", "jupyter-notebook", "apt-get install jupyter-notebook",
	  true },
	{ CONSOLE, "jupyter-console", "apt-get install jupyter-console",
	  false },
};

static bool is_app(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(apps); i++)
		if (strcmp(name, apps[i].name) == 0)
			return true;
	return false;
}

/* The one of that name, or the first that is installed. */
static int choose(const char *name, const struct app **ret, struct sb_err *err)
{
	const struct app *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(apps); i++) {
		if (name && strcmp(name, apps[i].name) != 0)
			continue;
		first = first ? first : &apps[i];
		if (checks_has_program(apps[i].program)) {
			*ret = &apps[i];
			return 0;
		}
	}
	if (name)
		sb_fail(err, SB_MISSING, "%s is not installed", first->program);
	else
		sb_fail(err, SB_MISSING, "no Jupyter is installed");
	return sb_hint(err, "%s, or give the URL (--url) to another client",
		       first->remedy);
}

/* The port for Jupyter's clients, or guestd's own, which does the same. */
static char *gateway_of(const json_t *sandbox, const struct guestd_at *at)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(sandbox, "ports"), i, p)
		if (strcmp(json_str_or(p, "name", ""), "jupyter") == 0)
			return xasprintf("http://%s:%lld", at->host,
					 json_int_or(p, "host", 0));
	return xasprintf("http://%s:%d", at->host, at->port);
}

/* The command line; ps shows it, so the token is not in it. */
static int command(struct ctl *c, const struct app *app, const char *gateway,
		   const struct connfile *f, char *const *args, struct words *w,
		   struct sb_err *err)
{
	autojson json_t *file = NULL;
	autofree char *path = NULL;

	words_add(w, app->program);
	if (app->gateway) {
		words_add2(w, "--gateway-url", gateway);
	} else {
		if (connfile_path(f, &path, err) < 0 ||
		    connfile_make(c, f, path, &file, err) < 0)
			return -1;
		words_add2(w, "--existing", path);
	}
	words_add_all(w, args);
	return 0;
}

static void print_json(const char *url, const char *gateway,
		       const struct words *w)
{
	autojson json_t *j = json_object();
	json_t *argv = json_array();

	for (size_t i = 0; i < w->n; i++)
		json_array_append_new(argv, json_str(w->v[i]));
	json_put(j, "url", json_str(url));
	json_put(j, "gateway_url", json_str(gateway));
	json_put(j, "command", argv);
	out_json(j);
}

static int print_link(struct ctl *c, const struct guestd_at *at,
		      struct sb_err *err)
{
	autohclient struct hclient *h = NULL;
	autofree char *url = NULL;

	if (guestd_reach(at, -1, &h, err) < 0)
		return -1;
	/* It may have to be started. */
	hclient_set_timeout(h, DAEMON_CALL_MS);
	if (hclient_send_bytes(h, "GET", LAB, NULL, 0, err) < 0) {
		if (err->code != SB_NOTFOUND)
			return -1;
		sb_fail(err, SB_MISSING, "this sandbox has no JupyterLab");
		return sb_hint(err, "use an image that has it, or run: "
				    "sandboxctl jupyter NAME lab");
	}
	if (link_make(at, h, LAB, LAB "?ticket=", &url, err) < 0)
		return -1;
	link_print(c, url);
	return 0;
}

/* Become it: signals and the terminal are its own. */
static int become(const struct app *app, const struct words *w,
		  const char *token, struct sb_err *err)
{
	if (app->gateway)
		setenv("JUPYTER_GATEWAY_AUTH_TOKEN", token, 1);
	fflush(stdout);
	execvp(w->v[0], w->v);
	sb_fail(err, SB_MISSING, "cannot run %s: %m", w->v[0]);
	return sb_hint(err, "%s", app->remedy);
}

static int start(struct ctl *c, const struct cmd_args *a,
		 const struct guestd_at *at, const struct connfile *f,
		 struct sb_err *err)
{
	const struct values *v = a->values;
	bool named = a->argc > 1 && a->argv[1][0] != '-';
	const char *name = named ? a->argv[1] : v->kernel ? CONSOLE : NULL;
	autofree char *gateway = gateway_of(f->sandbox, at);
	autofree char *url = xasprintf("%s/k/%s/", gateway, at->token);
	autowords struct words w = { 0 };
	const struct app *app = NULL;

	if (!c->json)
		puts(url);
	if (!v->url && (choose(name, &app, err) < 0 ||
			command(c, app, gateway, f, a->argv + (named ? 2 : 1),
				&w, err) < 0))
		return -1;
	if (c->json)
		print_json(url, gateway, &w);
	if (c->json || v->url)
		return 0;
	return become(app, &w, at->token, err);
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct values *v = a->values;
	autoguestd struct guestd_at at = { 0 };
	autojson json_t *sandbox = NULL;
	struct connfile f = { .kernel = v->kernel };

	if (a->argc > 1 && a->argv[1][0] != '-' && !is_app(a->argv[1]))
		return sb_fail(err, SB_INVALID,
			       "'%s' is not lab, notebook or console",
			       a->argv[1]);
	if (v->kernel && a->argc > 1 && is_app(a->argv[1]) &&
	    strcmp(a->argv[1], CONSOLE) != 0)
		return sb_fail(err, SB_INVALID,
			       "--kernel is for the console; in %s the "
			       "notebook chooses its kernel",
			       a->argv[1]);
	if (guest_find(c, a->argv[0], &sandbox, err) ||
	    guestd_find(sandbox, &at, err) < 0)
		return -1;
	if (v->browser)
		return print_link(c, &at, err);
	f.sandbox = sandbox;
	return start(c, a, &at, &f, err);
}

const struct cmd cmd_jupyter = {
	.name = "jupyter",
	.section = "Work inside",
	.args = "NAME [lab|notebook|console] [-- ARG...]",
	.summary = "use the kernels of a sandbox from Jupyter",
	.detail = "Prints the URL of the sandbox's kernel gateway, with the "
		  "token in it, and starts this host's JupyterLab, notebook or "
		  "console on it: the one that is named, else the first of "
		  "these that is installed. Notebooks are files of the host, "
		  "their code runs in the sandbox. Each ARG is handed to it. "
		  "With --json its command line is printed, not run.",
	.examples = "sandboxctl jupyter demo\n"
		    "sandboxctl jupyter demo notebook -- --no-browser\n"
		    "sandboxctl jupyter demo --url",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = CMD_ANY,
	.verbs = "lab|notebook|console",
	.words = { WORD_SANDBOX, WORD_OTHER },
	.run = run,
};
