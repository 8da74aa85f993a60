/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: whether this host can run sandboxes, and what to do if not. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-checks.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"
#include "host/ctl-term.h"

/* The daemon's own checks; where it does not run, ours must do. */
static void ask_daemon(struct ctl *c, json_t *list)
{
	autojson json_t *reply = NULL;
	struct sb_err err = { 0 };

	if (daemon_call(c, "GET", "/v1/doctor", NULL, &reply, &err)) {
		checks_add(list, "sandboxd", "fail", err.msg, err.hint);
		checks_space(list);
		return;
	}
	checks_add(list, "sandboxd", "ok", "answers", NULL);
	json_array_extend(list, json_object_get(reply, "checks"));
}

static size_t count(const json_t *list, const char *status)
{
	const json_t *check;
	size_t i, n = 0;

	json_array_foreach(list, i, check)
		n += strcmp(json_str_or(check, "status", ""), status) == 0;
	return n;
}

static enum term_colour colour_of(const char *status)
{
	if (strcmp(status, "ok") == 0)
		return TERM_GREEN;
	return strcmp(status, "warn") == 0 ? TERM_YELLOW : TERM_RED;
}

static void print_checks(const json_t *list)
{
	const json_t *check;
	size_t i;

	json_array_foreach(list, i, check) {
		const char *status = json_str_or(check, "status", "?");
		autofree char *word = sanitize_line(status);
		autofree char *name =
			sanitize_line(json_str_or(check, "name", "?"));
		autofree char *detail =
			sanitize_line(json_str_or(check, "detail", ""));
		autofree char *remedy =
			sanitize_line(json_str_or(check, "remedy", ""));

		printf("%s%-4s%s  %-12s  %s\n",
		       term_colour(STDOUT_FILENO, colour_of(status)), word,
		       term_colour(STDOUT_FILENO, TERM_PLAIN), name, detail);
		if (*remedy && strcmp(status, "ok") != 0)
			printf("%*sremedy: %s\n", 20, "", remedy);
	}
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *j = json_object();
	json_t *list = json_array();
	size_t fails, warns;

	json_put(j, "checks", list);
	checks_host(list);
	ask_daemon(c, list);
	fails = count(list, "fail");
	warns = count(list, "warn");
	json_put(j, "ok", json_boolean(!fails));
	if (c->json) {
		out_json(j);
		return fails != 0;
	}
	print_checks(list);
	if (fails)
		printf("\n%zu %s to be mended.\n", fails,
		       fails == 1 ? "problem has" : "problems have");
	else if (warns)
		printf("\nSandboxes will run, with %zu warning%s.\n", warns,
		       warns == 1 ? "" : "s");
	else
		printf("\nAll is well.\n");
	return fails != 0;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.section = "Host",
	.summary = "check whether this host can run sandboxes",
	.detail = "Each problem is shown with its remedy. The exit status is 1 "
		  "if there is one; warnings do not count.",
	.examples = "sandboxctl doctor\n"
		    "sandboxctl doctor --json | jq -r '.checks[] | .status'",
	.run = run,
};
