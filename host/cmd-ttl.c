/* SPDX-License-Identifier: Apache-2.0 */
/* ttl: how long a sandbox may still live. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/cmd.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-sanitize.h"

static int body_of(const char *text, json_t **ret, struct sb_err *err)
{
	long long seconds = 0;

	if (strcmp(text, "none") != 0 &&
	    (parse_duration(text, &seconds) || !seconds))
		return sb_fail(err, SB_INVALID,
			       "'%s' is not a duration such as 90s, 15m or 2h, "
			       "nor 'none'",
			       text);
	*ret = json_pack("{s:I}", "ttl", (json_int_t)seconds);
	return 0;
}

static int run(struct ctl *c, const struct cmd_args *a, struct sb_err *err)
{
	autofree char *path = daemon_path(DAEMON_SANDBOXES, a->argv[0], "/ttl");
	autojson json_t *body = NULL, *sandbox = NULL;
	autofree char *at = NULL;

	if (body_of(a->argv[1], &body, err) ||
	    daemon_call(c, "POST", path, body, &sandbox, err))
		return -1;
	if (c->json) {
		out_json(sandbox);
		return 0;
	}
	at = sanitize_line(json_str_or(sandbox, "expires_at", ""));
	if (*at)
		printf("%s lives until %s.\n", a->argv[0], at);
	else
		printf("%s lives until it is removed.\n", a->argv[0]);
	return 0;
}

const struct cmd cmd_ttl = {
	.name = "ttl",
	.section = "Sandboxes",
	.args = "NAME DURATION|none",
	.summary = "set how long a sandbox lives from now on",
	.examples = "sandboxctl ttl demo 2h\nsandboxctl ttl demo none",
	.min = 2,
	.max = 2,
	.words = { WORD_SANDBOX },
	.run = run,
};
