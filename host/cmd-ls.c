/* SPDX-License-Identifier: Apache-2.0 */
/* ls: which sandboxes there are. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-request.h"
#include "host/ctl-sanitize.h"
#include "host/ctl-table.h"

struct values {
	bool all, quiet;
	struct strlist labels;
};

#define AT(field) offsetof(struct values, field)

static const struct opt opts[] = {
	{ .name = "all",
	  .letter = 'a',
	  .help = "also those that are stopped and kept",
	  .store = AT(all) },
	{ .name = "quiet",
	  .letter = 'q',
	  .help = "names only",
	  .store = AT(quiet) },
	{ .name = "label",
	  .letter = 'l',
	  .arg = "KEY=VALUE",
	  .help = "only those with this label",
	  .kind = OPT_LIST,
	  .store = AT(labels) },
	{ 0 },
};

static bool has_labels(const json_t *sandbox, const json_t *want)
{
	const json_t *have = json_object_get(sandbox, "labels"), *value;
	const char *key;

	json_object_foreach((json_t *)want, key, value)
		if (!json_equal(json_object_get(have, key), value))
			return false;
	return true;
}

/* The sandboxes of list that were asked for. */
static int select_rows(const struct values *v, const json_t *list, json_t *rows,
		       struct sb_err *err)
{
	autojson json_t *want = json_object();
	json_t *sandbox;
	size_t i;

	for (i = 0; i < v->labels.n; i++)
		if (request_pair("--label", v->labels.v[i], false, want, err))
			return -1;
	json_array_foreach(list, i, sandbox) {
		const char *state = json_str_or(sandbox, "state", "");

		if ((v->all || strcmp(state, "stopped") != 0) &&
		    has_labels(sandbox, want))
			json_array_append(rows, sandbox);
	}
	return 0;
}

static char *forwards(const json_t *sandbox)
{
	struct buf b = { 0 };
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(sandbox, "ports"), i, p) {
		if (json_object_get(p, "name"))
			continue; /* our own servers */
		buf_addf(&b, "%s%lld:%lld", b.len ? " " : "",
			 json_int_or(p, "host", 0), json_int_or(p, "guest", 0));
	}
	return b.p;
}

static void print_table(const json_t *rows)
{
	struct table *t = table_new(8, "NAME", "STATE", "IMAGE", "CPUS",
				    "MEMORY", "AGE", "EXPIRES", "PORTS");
	time_t now = time(NULL), at;
	const json_t *s;
	size_t i;

	json_array_foreach(rows, i, s) {
		char memory[OUT_SIZE_LEN], age[OUT_SIZE_LEN] = "";
		char expires[OUT_SIZE_LEN] = "", cpus[OUT_SIZE_LEN];
		autofree char *ports = forwards(s);

		out_size(json_int_or(s, "memory", 0), memory);
		snprintf(cpus, sizeof(cpus), "%lld", json_int_or(s, "cpus", 0));
		at = out_parse_time(json_str_or(s, "created_at", ""));
		if (at >= 0)
			out_span(now - at, age);
		at = out_parse_time(json_str_or(s, "expires_at", ""));
		if (at >= 0)
			out_span(at - now, expires);
		table_row(t, json_str_or(s, "name", NULL),
			  json_str_or(s, "state", NULL),
			  json_str_or(s, "image", NULL), cpus, memory, age,
			  expires, ports);
	}
	table_print(t, stdout);
	table_free(t);
}

static void print_names(const json_t *rows)
{
	const json_t *s;
	size_t i;

	json_array_foreach(rows, i, s) {
		autofree char *name =
			sanitize_line(json_str_or(s, "name", "?"));

		puts(name);
	}
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *reply = NULL, *rows = json_array();
	const struct values *v = a->values;

	if (daemon_call(c, "GET", "/v1/sandboxes", NULL, &reply, err) ||
	    select_rows(v, json_object_get(reply, "sandboxes"), rows, err))
		return -1;
	if (c->json) {
		json_object_set(reply, "sandboxes", rows);
		out_json(reply);
	} else if (v->quiet) {
		print_names(rows);
	} else if (json_array_size(rows)) {
		print_table(rows);
	} else {
		fprintf(stderr, "No sandboxes. Start one: sandboxctl up\n");
	}
	return 0;
}

const struct cmd cmd_ls = {
	.name = "ls",
	.alias = "list",
	.section = "Sandboxes",
	.summary = "list the sandboxes",
	.examples = "sandboxctl ls\n"
		    "sandboxctl ls -a --label team=red\n"
		    "sandboxctl down $(sandboxctl ls -q)",
	.opts = opts,
	.values = sizeof(struct values),
	.run = run,
};
