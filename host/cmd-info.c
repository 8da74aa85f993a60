/* SPDX-License-Identifier: Apache-2.0 */
/* info: all about one sandbox. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"

static void print_field(const char *label, const char *value)
{
	autofree char *text = NULL;

	if (str_empty(value))
		return;
	text = sanitize_line(value);
	printf("%-11s %s\n", label, text);
}

static void print_size(const json_t *s, const char *key)
{
	char size[OUT_SIZE_LEN];

	print_field(key, out_size(json_int_or(s, key, 0), size));
}

static void print_pairs(const char *label, const json_t *obj)
{
	const json_t *value;
	const char *key;

	json_object_foreach((json_t *)obj, key, value) {
		autofree char *pair = xasprintf(
			"%s=%s", key,
			json_is_string(value) ? json_string_value(value) : "");

		print_field(label, pair);
	}
}

static void print_ports(const json_t *ports)
{
	const json_t *p;
	size_t i;

	json_array_foreach(ports, i, p) {
		const char *name = json_str_or(p, "name", "");
		autofree char *text = xasprintf(
			"%s:%lld -> %lld%s%s%s",
			json_str_or(p, "host_addr", ""),
			json_int_or(p, "host", 0), json_int_or(p, "guest", 0),
			*name ? " (" : "", name, *name ? ")" : "");

		print_field("port", text);
	}
}

static void print_mounts(const json_t *mounts)
{
	const json_t *m;
	size_t i;

	json_array_foreach(mounts, i, m) {
		autofree char *text = xasprintf(
			"%s -> %s%s", json_str_or(m, "host", "?"),
			json_str_or(m, "guest", "?"),
			json_bool_or(m, "readonly", false) ? " (read-only)"
							   : "");

		print_field("mount", text);
	}
}

static void print_lines(const char *label, const json_t *lines)
{
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
		if (json_is_string(line))
			print_field(label, json_string_value(line));
}

static void print_ssh(const json_t *ssh)
{
	autofree char *text = NULL;

	if (!ssh)
		return;
	text = xasprintf("%s@%s port %lld", json_str_or(ssh, "user", "user"),
			 json_str_or(ssh, "host", "?"),
			 json_int_or(ssh, "port", 0));
	print_field("ssh", text);
	print_field("key", json_str_or(ssh, "key_file", ""));
}

static void print_info(const json_t *s)
{
	static const char *const head[] = { "name",  "id",    "state",
					    "cause", "image", "template" };
	static const char *const times[] = { "created_at", "ready_at",
					     "expires_at" };
	char cpus[OUT_SIZE_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		print_field(head[i], json_str_or(s, head[i], ""));
	snprintf(cpus, sizeof(cpus), "%lld", json_int_or(s, "cpus", 0));
	print_field("cpus", cpus);
	print_size(s, "memory");
	print_size(s, "disk");
	print_field("accel", json_str_or(s, "accel", ""));
	print_field("isolation", json_str_or(s, "isolation", ""));
	print_field("network", json_str_or(s, "network", ""));
	print_field("restart", json_str_or(s, "restart", ""));
	print_field("preserve",
		    json_bool_or(s, "preserve", false) ? "yes" : "no");
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		print_field(times[i], json_str_or(s, times[i], ""));
	print_field("url", json_str_or(s, "url", ""));
	print_field("token file", json_str_or(s, "token_file", ""));
	print_ssh(json_object_get(s, "ssh"));
	print_field("share", json_str_or(s, "share", ""));
	print_mounts(json_object_get(s, "mounts"));
	print_ports(json_object_get(s, "ports"));
	print_pairs("label", json_object_get(s, "labels"));
	print_pairs("env", json_object_get(s, "env"));
	print_lines("serial", json_object_get(s, "serial_tail"));
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *sandbox = NULL;

	if (daemon_sandbox(c, a->argv[0], &sandbox, err))
		return -1;
	if (c->json)
		out_json(sandbox);
	else
		print_info(sandbox);
	return 0;
}

const struct cmd cmd_info = {
	.name = "info",
	.section = "Sandboxes",
	.args = "NAME",
	.summary = "show all about a sandbox",
	.examples = "sandboxctl info demo\n"
		    "sandboxctl info demo --json | jq -r .url",
	.min = 1,
	.max = 1,
	.words = { WORD_SANDBOX },
	.run = run,
};
