/* SPDX-License-Identifier: Apache-2.0 */
/* down: make sandboxes vanish. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"

struct values {
	bool all, purge;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "all",
	  .letter = 'a',
	  .help = "every sandbox",
	  .store = AT(all) },
	{ .name = "purge",
	  .help = "also what --preserve keeps",
	  .store = AT(purge) },
	{ 0 },
};

/* One sandbox; its fate is printed, or added to done for --json. */
static int down(struct ctl *c, const char *name, bool purge, json_t *done,
		struct sb_err *err)
{
	autofree char *path =
		daemon_path(DAEMON_SANDBOXES, name, purge ? "?purge=true" : "");
	autofree char *text = NULL;
	autojson json_t *reply = NULL;

	if (daemon_call(c, "DELETE", path, NULL, &reply, err))
		return -1;
	json_array_append(done, reply);
	if (!c->json) {
		text = sanitize_line(json_str_or(reply, "name", name));
		puts(text);
	}
	return 0;
}

/* The others still go when one fails; the last failure is the status. */
static int down_names(struct ctl *c, char **names, int n, bool purge,
		      json_t *done)
{
	int status = 0;

	for (int i = 0; i < n; i++) {
		struct sb_err err = { 0 };

		if (down(c, names[i], purge, done, &err) == 0)
			continue;
		out_error(c, &err);
		status = sb_code_exit(err.code);
	}
	return status;
}

/* What is stopped and kept is gone only when purged. */
static int down_all(struct ctl *c, bool purge, json_t *done, struct sb_err *err)
{
	autojson json_t *reply = NULL;
	const json_t *sandbox;
	int status = 0;
	size_t i;

	if (daemon_call(c, "GET", "/v1/sandboxes", NULL, &reply, err))
		return -1;
	json_array_foreach(json_object_get(reply, "sandboxes"), i, sandbox) {
		const char *state = json_str_or(sandbox, "state", "");
		char *id = (char *)json_str_or(sandbox, "id", "");
		int rc;

		if (strcmp(state, "stopping") == 0 ||
		    (strcmp(state, "stopped") == 0 && !purge))
			continue;
		rc = down_names(c, &id, 1, purge, done);
		status = rc ? rc : status;
	}
	return status;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *done = json_array(), *j = json_object();
	const struct values *v = a->values;
	int status;

	if (v->all && a->argc)
		return sb_fail(err, SB_INVALID,
			       "down takes either names or --all");
	if (!v->all && !a->argc) {
		sb_fail(err, SB_INVALID, "down needs a NAME");
		return sb_hint(err, "sandboxctl down --all takes every one");
	}
	if (v->all)
		status = down_all(c, v->purge, done, err);
	else
		status = down_names(c, a->argv, a->argc, v->purge, done);
	if (c->json && status >= 0) {
		json_object_set(j, "sandboxes", done);
		out_json(j);
	}
	return status;
}

const struct cmd cmd_down = {
	.name = "down",
	.alias = "rm",
	.section = "Sandboxes",
	.args = "NAME...",
	.summary = "remove sandboxes",
	.detail = "It answers at once and goes on behind. Works in every "
		  "state. The names of those that go are printed. A sandbox "
		  "with --preserve is stopped and kept, unless --purge is "
		  "given.",
	.examples = "sandboxctl down demo\nsandboxctl down --all --purge",
	.opts = opts,
	.values = sizeof(struct values),
	.max = CMD_ANY,
	.words = { WORD_SANDBOX, WORD_SANDBOX },
	.run = run,
};
