/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a sandbox that is on its way up. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/ctl-daemon.h"
#include "host/ctl-follow.h"

#define QUIET_MS 45000 /* heartbeats come every 15 s */
#define MAX_LOST 5     /* connections lost without news between */

enum outcome { GOING, READY, FAILED, REMOVED };

static const struct step {
	const char *state;
	const char *text;
	enum outcome outcome;
} steps[] = {
	{ "creating", "creating its disk", GOING },
	{ "booting", "booting", GOING },
	{ "installing", "installing the guest server", GOING },
	{ "ready", "ready", READY },
	{ "paused", "paused", READY },
	{ "failed", "failed", FAILED },
	{ "stopping", "stopping", REMOVED },
	{ "stopped", "stopped", REMOVED },
	{ "gone", "gone", REMOVED },
};

struct follow {
	struct progress *progress;
	enum outcome outcome;
	json_t *last; /* event that brought it */
	int lost;
};

static int on_event(void *arg, const char *event, const char *data)
{
	autojson json_t *j = NULL;
	struct follow *f = arg;
	const char *state;

	if (strcmp(event, "state") != 0 ||
	    json_parse(data, strlen(data), &j, NULL))
		return 0;
	state = json_str_or(j, "state", "");
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct step *s = &steps[i];

		if (strcmp(s->state, state) != 0)
			continue;
		f->lost = 0;
		f->outcome = s->outcome;
		json_decref(f->last);
		f->last = json_incref(j);
		progress_step(f->progress, json_str_or(j, "detail", s->text),
			      json_int_or(j, "progress", -1));
	}
	return f->outcome != GOING;
}

/* One connection's worth of events; 0 once the outcome is known. */
static int watch(struct ctl *c, const char *id, int cancel_fd, struct follow *f,
		 struct sb_err *err)
{
	autofree char *path = daemon_path("/v1/events?sandbox=", id, "");
	int rc;

	if (daemon_open(c, err))
		return -1;
	hclient_set_cancel(c->daemon, cancel_fd);
	hclient_set_timeout(c->daemon, QUIET_MS);
	rc = hclient_events(c->daemon, path, on_event, f, err);
	daemon_close(c);
	if (f->outcome != GOING)
		return 0;
	if (rc == 0)
		return sb_fail(err, SB_SYSTEM, "sandboxd ended the stream");
	return -1;
}

/* It was there and nobody knows it any more: we came too late to hear why. */
static int fail_vanished(const char *name, struct sb_err *err)
{
	sb_fail(err, SB_GUEST, "sandbox '%s' failed and was removed", name);
	return sb_hint(err, "sandboxctl daemon log says why");
}

static int explain(const json_t *event, enum outcome outcome,
		   struct sb_err *err)
{
	const char *name = json_str_or(event, "name", "?"), *hint;

	if (outcome == REMOVED) {
		sb_fail(err, SB_CONFLICT,
			"sandbox '%s' was stopped while it started", name);
		return sb_hint(err, "somebody else called down?");
	}
	sb_fail(err, sb_code_of_name(json_str_or(event, "cause_code", "guest")),
		"sandbox '%s' failed: %s", name,
		json_str_or(event, "cause", "no cause given"));
	hint = json_str_or(event, "remediation", NULL);
	if (hint)
		return sb_hint(err, "%s", hint);
	return sb_hint(err, "sandboxctl logs %s shows more", name);
}

static int follow(struct ctl *c, const json_t *sandbox, int cancel_fd,
		  struct follow *f, struct sb_err *err)
{
	const char *id = json_str_or(sandbox, "id", "");

	while (watch(c, id, cancel_fd, f, err)) {
		if (err->code == SB_NOTFOUND)
			return fail_vanished(json_str_or(sandbox, "name", id),
					     err);
		if (!daemon_is_lost(err) || ++f->lost > MAX_LOST)
			return -1;
		progress_step(f->progress, "lost sandboxd, reconnecting", -1);
	}
	if (f->outcome != READY)
		return explain(f->last, f->outcome, err);
	return 0;
}

int follow_ready(struct ctl *c, const json_t *sandbox, int cancel_fd,
		 struct progress *p, json_t **ret, struct sb_err *err)
{
	struct follow f = { .progress = p };
	int rc;

	rc = follow(c, sandbox, cancel_fd, &f, err);
	if (rc && f.outcome == FAILED)
		*ret = steal(&f.last);
	json_decref(f.last);
	if (rc)
		return -1;
	return daemon_sandbox(c, json_str_or(sandbox, "id", ""), ret, err);
}
