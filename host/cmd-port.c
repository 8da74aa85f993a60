/* SPDX-License-Identifier: Apache-2.0 */
/* port: the forwards of a sandbox, also while it runs. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-request.h"
#include "host/ctl-table.h"

struct values {
	bool auto_ports;
};

static const struct opt opts[] = {
	{ .name = "auto-ports",
	  .help = "with add: take a free host port if HOST is taken",
	  .store = offsetof(struct values, auto_ports) },
	{ 0 },
};

static int list(struct ctl *c, const char *name, struct sb_err *err)
{
	autofree char *path = daemon_path(DAEMON_SANDBOXES, name, "/ports");
	autojson json_t *reply = NULL;
	struct table *t;
	const json_t *p;
	size_t i;

	if (daemon_call(c, "GET", path, NULL, &reply, err))
		return -1;
	if (c->json) {
		out_json(reply);
		return 0;
	}
	t = table_new(3, "HOST", "GUEST", "SERVICE");
	json_array_foreach(json_object_get(reply, "ports"), i, p) {
		autofree char *host = xasprintf(
			"%s:%lld", json_str_or(p, "host_addr", "127.0.0.1"),
			json_int_or(p, "host", 0));
		autofree char *guest =
			xasprintf("%lld", json_int_or(p, "guest", 0));

		table_row(t, host, guest, json_str_or(p, "name", NULL));
	}
	table_print(t, stdout);
	table_free(t);
	return 0;
}

static int add(struct ctl *c, const char *name, const char *text,
	       bool auto_ports, struct sb_err *err)
{
	autofree char *path = daemon_path(DAEMON_SANDBOXES, name, "/ports");
	autojson json_t *body = NULL, *reply = NULL;

	if (request_port("port add", text, &body, err))
		return -1;
	if (auto_ports)
		json_put(body, "auto", json_true());
	if (daemon_call(c, "POST", path, body, &reply, err))
		return -1;
	if (c->json)
		out_json(reply);
	else
		printf("%s:%lld\n",
		       json_str_or(reply, "host_addr", "127.0.0.1"),
		       json_int_or(reply, "host", 0));
	return 0;
}

static int rm(struct ctl *c, const char *name, const char *text,
	      struct sb_err *err)
{
	autofree char *suffix = NULL, *path = NULL;
	autojson json_t *reply = NULL;
	long long host;

	if (parse_num(text, 1, 65535, &host))
		return sb_fail(err, SB_INVALID,
			       "port rm: '%s' is not a port of the host", text);
	suffix = xasprintf("/ports/%lld", host);
	path = daemon_path(DAEMON_SANDBOXES, name, suffix);
	if (daemon_call(c, "DELETE", path, NULL, NULL, err))
		return -1;
	if (c->json) {
		reply = json_pack("{s:I}", "removed", (json_int_t)host);
		out_json(reply);
	}
	return 0;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	const struct values *v = a->values;
	const char *verb = a->argc > 1 ? a->argv[1] : NULL;

	if (!verb)
		return list(c, a->argv[0], err);
	if (a->argc == 3 && strcmp(verb, "add") == 0)
		return add(c, a->argv[0], a->argv[2], v->auto_ports, err);
	if (a->argc == 3 && strcmp(verb, "rm") == 0)
		return rm(c, a->argv[0], a->argv[2], err);
	sb_fail(err, SB_INVALID,
		"port takes 'add HOST:GUEST' or 'rm HOST' "
		"after the name");
	return sb_hint(err, "see: sandboxctl port --help");
}

const struct cmd cmd_port = {
	.name = "port",
	.section = "Sandboxes",
	.args = "NAME [add HOST:GUEST|rm HOST]",
	.summary = "list, add or remove port forwards",
	.detail = "HOST 0, or GUEST alone, picks a free port of the host; the "
		  "address that leads to the guest is printed.",
	.examples = "sandboxctl port demo\n"
		    "sandboxctl port demo add 8080:80\n"
		    "sandboxctl port demo rm 8080",
	.opts = opts,
	.values = sizeof(struct values),
	.min = 1,
	.max = 3,
	.verbs = "add|rm",
	.words = { WORD_SANDBOX, WORD_OTHER },
	.run = run,
};
