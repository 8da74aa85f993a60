/* SPDX-License-Identifier: Apache-2.0 */
/* sandboxctl's end of the line to sandboxd. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/util.h"
#include "host/ctl-daemon.h"
#include "host/ctl-out.h"
#include "host/ctl-start.h"
#include "host/paths.h"

#define RETRY_MS 20

static void warn_version(const json_t *health)
{
	const char *version = json_str_or(health, "version", "unknown");

	if (strcmp(version, PACKAGE_VERSION) != 0)
		out_note("warning: sandboxd is version %s, sandboxctl is %s; "
			 "restart it with: sandboxctl daemon stop",
			 version, PACKAGE_VERSION);
}

/* The daemon answers, or there is none. */
static int greet(struct ctl *c, struct sb_err *err)
{
	autofree char *path = paths_socket();
	autojson json_t *health = NULL;

	daemon_close(c);
	if (hclient_open_unix(path, DAEMON_START_MS, &c->daemon, err))
		return -1;
	if (daemon_health(c, &health, err)) {
		daemon_close(c);
		return -1;
	}
	warn_version(health);
	hclient_set_timeout(c->daemon, DAEMON_CALL_MS);
	return 0;
}

int daemon_connect(struct ctl *c, struct sb_err *err)
{
	autofree char *path = paths_socket();

	if (c->daemon)
		return 0;
	if (access(path, F_OK))
		return sb_fail(err, SB_MISSING, "sandboxd does not run");
	return greet(c, err);
}

/*
 * Wait until the daemon that we have started, or the one that won the race
 * against it, answers.
 */
static int wait_answer(struct ctl *c, struct start *s, struct sb_err *err)
{
	int64_t deadline = clock_ms() + DAEMON_START_MS;

	do {
		if (greet(c, err) == 0)
			return 0;
		if (start_failed(s, err))
			return -1;
		poll(NULL, 0, RETRY_MS);
	} while (clock_left(deadline) > 0);
	sb_fail(err, SB_TIMEOUT, "sandboxd did not answer within %d s",
		DAEMON_START_MS / 1000);
	return start_explain(s, err);
}

int daemon_open(struct ctl *c, struct sb_err *err)
{
	struct start s;
	int rc;

	if (daemon_connect(c, err) == 0)
		return 0;
	if (err->code == SB_DENIED)
		return -1;
	if (start_daemon(&s, err))
		return -1;
	rc = wait_answer(c, &s, err);
	start_done(&s);
	return rc;
}

bool daemon_is_lost(const struct sb_err *err)
{
	return err->code == SB_SYSTEM || err->code == SB_TIMEOUT ||
	       err->code == SB_MISSING;
}

void daemon_close(struct ctl *c)
{
	hclient_free(c->daemon);
	c->daemon = NULL;
}

int daemon_health(struct ctl *c, json_t **ret, struct sb_err *err)
{
	return hclient_json(c->daemon, "GET", "/health", NULL, ret, err);
}

int daemon_call(struct ctl *c, const char *method, const char *path,
		const json_t *body, json_t **ret, struct sb_err *err)
{
	autojson json_t *reply = NULL;

	if (daemon_open(c, err) ||
	    hclient_json(c->daemon, method, path, body, &reply, err))
		return -1;
	if (ret)
		*ret = steal(&reply);
	return 0;
}

char *daemon_path(const char *prefix, const char *name, const char *suffix)
{
	struct buf b = { 0 };

	buf_adds(&b, prefix);
	for (const char *p = name; *p; p++)
		if (isalnum((unsigned char)*p) || strchr("-_~", *p))
			buf_add(&b, p, 1);
		else
			buf_addf(&b, "%%%02X", (unsigned char)*p);
	buf_adds(&b, suffix);
	return b.p;
}

int daemon_sandbox(struct ctl *c, const char *name, json_t **ret,
		   struct sb_err *err)
{
	autofree char *path = daemon_path(DAEMON_SANDBOXES, name, "");

	if (daemon_call(c, "GET", path, NULL, ret, err) == 0)
		return 0;
	if (err->code == SB_NOTFOUND && !*err->hint)
		sb_hint(err, "sandboxctl ls -a shows which there are");
	return -1;
}
