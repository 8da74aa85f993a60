/* SPDX-License-Identifier: Apache-2.0 */
/* attach: a terminal in a sandbox, to leave and to come back to. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-guest.h"
#include "host/ctl-guestd.h"
#include "host/ctl-out.h"
#include "host/ctl-table.h"
#include "host/ctl-terminal.h"

struct values {
	const char *user, *dir;
	bool list, view;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "list",
	  .letter = 'l',
	  .help = "print the terminals that there are",
	  .store = AT(list) },
	{ .name = "view", .help = "look only", .store = AT(view) },
	{ .name = "user",
	  .letter = 'u',
	  .arg = "USER",
	  .help = "whose shell a new terminal runs, such as root",
	  .kind = OPT_STR,
	  .store = AT(user) },
	{ .name = "workdir",
	  .letter = 'w',
	  .arg = "DIR",
	  .help = "begin in this folder, not in the workspace",
	  .kind = OPT_STR,
	  .store = AT(dir) },
	{ 0 },
};

static void print_table(const json_t *list)
{
	struct table *t = table_new(6, "ID", "STATE", "USER", "VIEWERS", "AGE",
				    "COMMAND");
	time_t now = time(NULL), at;
	const json_t *j;
	size_t i;

	json_array_foreach(list, i, j) {
		char age[OUT_SIZE_LEN] = "", viewers[OUT_SIZE_LEN];

		at = out_parse_time(json_str_or(j, "started_at", ""));
		if (at >= 0)
			out_span(now - at, age);
		snprintf(viewers, sizeof(viewers), "%lld",
			 json_int_or(j, "viewers", 0));
		table_row(t, json_str_or(j, "id", NULL),
			  json_str_or(j, "state", NULL),
			  json_str_or(j, "user", NULL), viewers, age,
			  json_str_or(j, "command", NULL));
	}
	table_print(t, stdout);
	table_free(t);
}

static int print_list(struct ctl *c, const struct guestd_at *at,
		      struct sb_err *err)
{
	autohclient struct hclient *h = NULL;
	autojson json_t *reply = NULL;
	const json_t *list;

	if (guestd_open(at, GUESTD_ANSWER_MS, -1, &h, err) < 0 ||
	    hclient_json(h, "GET", "/v1/terminals", NULL, &reply, err) < 0)
		return -1;
	list = json_object_get(reply, "terminals");
	if (c->json)
		out_json(reply);
	else if (json_array_size(list))
		print_table(list);
	else
		fprintf(stderr, "No terminals.\n");
	return 0;
}

static int start(const struct guestd_at *at, const json_t *sandbox,
		 const struct values *v, char **ret_id, struct sb_err *err)
{
	const char *user =
		json_str_or(json_object_get(sandbox, "ssh"), "user", NULL);
	autojson json_t *body = json_object();

	user = v->user ? v->user : user;
	if (user)
		json_put(body, "user", json_str(user));
	if (v->dir)
		json_put(body, "cwd", json_str(v->dir));
	return terminal_new(at, body, ret_id, err);
}

static int use(const struct guestd_at *at, const char *name, const char *id,
	       const struct values *v, struct sb_err *err)
{
	const struct terminal_use u = {
		.id = id,
		.view = v->view,
		.escape = true,
		.input = true,
	};
	int status;

	if (isatty(STDIN_FILENO))
		out_note("terminal %s; Ctrl-] detaches", id);
	if (terminal_use(at, &u, &status, err) < 0)
		return -1;
	if (status >= 0)
		return status;
	out_note("detached; go back with: sandboxctl attach %s %s", name, id);
	return 0;
}

static bool is_id(const char *id)
{
	return *id && strspn(id, "0123456789abcdef") == strlen(id);
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const char *name = a->argv[0], *id = a->argc > 1 ? a->argv[1] : NULL;
	const struct values *v = a->values;
	autoguestd struct guestd_at at = { 0 };
	autojson json_t *sandbox = NULL;
	autofree char *made = NULL;

	if (id && !is_id(id))
		return sb_fail(err, SB_INVALID, "'%s' is not a terminal's ID",
			       id);
	if (v->view && !id && !v->list)
		return sb_fail(err, SB_INVALID,
			       "--view needs the ID of a terminal");
	if (guest_find(c, name, &sandbox, err) ||
	    guestd_find(sandbox, &at, err) < 0)
		return -1;
	if (v->list)
		return print_list(c, &at, err);
	if (c->json)
		return sb_fail(err, SB_INVALID, "--json is for --list only");
	if (!id && start(&at, sandbox, v, &made, err) < 0)
		return -1;
	return use(&at, name, id ? id : made, v, err);
}

const struct cmd cmd_attach = {
	.name = "attach",
	.section = "Work inside",
	.args = "NAME [ID]",
	.summary = "open a terminal in a sandbox, or go back to one",
	.detail =
		"Without ID a new terminal runs the user's shell. Ctrl-] "
		"detaches: the terminal goes on, and attach with its ID shows "
		"it again. A lost connection is taken up where it was. With "
		"--view one looks without typing. What the guest sends goes "
		"to your terminal as it is, escape sequences included. The "
		"exit status is the shell's, or 0 after detaching.",
	.examples = "sandboxctl attach demo\n"
		    "sandboxctl attach demo --list\n"
		    "sandboxctl attach demo 1a2b3c4d5e6f --view",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = 2,
	.words = { WORD_SANDBOX, WORD_OTHER },
	.run = run,
};
