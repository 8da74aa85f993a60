/* SPDX-License-Identifier: Apache-2.0 */
/* version: of sandboxctl, and of the daemon if it runs. */
#include "config.h"

#include <stdio.h>

#include "common/json.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autojson json_t *health = NULL, *j = json_object();
	const char *daemon = NULL;

	if (daemon_connect(c, err) == 0 && daemon_health(c, &health, err) == 0)
		daemon = json_str_or(health, "version", NULL);
	json_put(j, "version", json_string(PACKAGE_VERSION));
	json_put(j, "daemon", json_str(daemon));
	if (c->json) {
		out_json(j);
		return 0;
	}
	printf("sandboxctl %s\n", PACKAGE_VERSION);
	if (daemon) {
		autofree char *text = sanitize_line(daemon);

		printf("sandboxd   %s\n", text);
	}
	return 0;
}

const struct cmd cmd_version = {
	.name = "version",
	.section = "Host",
	.summary = "say the versions of sandboxctl and of the running sandboxd",
	.run = run,
};
