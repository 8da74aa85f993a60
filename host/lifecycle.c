/* SPDX-License-Identifier: Apache-2.0 */
/* The life of sandboxes. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "host/boot.h"
#include "host/burial.h"
#include "host/events.h"
#include "host/lifecycle.h"
#include "host/lifecycle-private.h"
#include "host/logs.h"

/* Write a state down, then tell everybody. */
void lifecycle_enter(struct daemon *d, struct sandbox *sb,
		     enum sandbox_state state, const struct sb_err *cause)
{
	struct sb_err err;

	if (sandbox_write_state(sb, state, cause, &err) < 0) {
		/* A full disk must not keep a sandbox alive. */
		log_err("%s: %s", sb->id, err.msg);
		sb->state = state;
		if (cause)
			sb->cause = *cause;
	}
	log_info("%s (%s): %s%s%s", sb->id, sb->name, sandbox_state_name(state),
		 cause ? ": " : "", cause ? cause->msg : "");
	events_emit(d, sb);
	if (state == SANDBOX_READY)
		logs_guard(d, sb);
	if (state == SANDBOX_FAILED || state == SANDBOX_STOPPED) {
		logs_end(d, sb->id);
		logs_unguard(sb);
	}
}

/* Answer all who wait, with the sandbox or with err. */
static void answer_waiters(struct sandbox *sb, const struct sb_err *err)
{
	struct sandbox_waiter *w;

	while ((w = LIST_FIRST(&sb->waiters))) {
		LIST_REMOVE(w, entry);
		if (err)
			http_fail(w->req, err);
		else
			http_reply_json(w->req, 201, sandbox_json(sb));
		free(w);
	}
}

void lifecycle_wait(struct sandbox *sb, struct http_req *req)
{
	struct sandbox_waiter *w;

	if (sb->state == SANDBOX_READY) {
		http_reply_json(req, 201, sandbox_json(sb));
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->req = req;
	LIST_INSERT_HEAD(&sb->waiters, w, entry);
}

void lifecycle_forget(struct daemon *d, struct sandbox *sb)
{
	struct sb_err gone = { 0 };

	sb_fail(&gone, SB_CANCELLED, "sandbox '%s' was removed", sb->name);
	answer_waiters(sb, &gone);
	sb->state = SANDBOX_GONE;
	sb->detail[0] = '\0';
	events_emit(d, sb);
	logs_end(d, sb->id);
	logs_unguard(sb);
	TAILQ_REMOVE(&d->sandboxes, sb, entry);
	sandbox_free(sb);
}

static void on_ttl(void *arg)
{
	struct ttl *t = arg;
	struct sb_err err;

	log_info("%s (%s): its time is up", t->sb->id, t->sb->name);
	lifecycle_down(t->d, t->sb, false, &err);
}

/* Arm the timer for expires_ms. */
void lifecycle_arm_ttl(struct daemon *d, struct sandbox *sb)
{
	int64_t left = sb->expires_ms - clock_wall_ms();

	if (!sb->ttl) {
		sb->ttl_arg = (struct ttl){ d, sb };
		sb->ttl = loop_timer_new(d->loop, on_ttl, &sb->ttl_arg);
	}
	if (sb->expires_ms)
		loop_timer_set(sb->ttl, MAX(left, 0));
	else
		loop_timer_clear(sb->ttl);
}

int lifecycle_ttl(struct daemon *d, struct sandbox *sb, long long seconds,
		  struct sb_err *err)
{
	int64_t at = seconds ? clock_wall_ms() + seconds * 1000 : 0;

	if (sandbox_write_expiry(sb, at, err) < 0)
		return -1;
	sb->spec.ttl = seconds;
	lifecycle_arm_ttl(d, sb);
	return 0;
}

/* A boot has ended, well or not. */
void lifecycle_booted(struct daemon *d, struct sandbox *sb,
		      const struct sb_err *err)
{
	bool creating = sb->state == SANDBOX_CREATING;

	if (sb->want_down) {
		burial_start(d, sb);
		return;
	}
	if (err && sb->died.code)
		err = &sb->died;
	if (!err) {
		sb->restarts = 0;
		lifecycle_enter(d, sb, SANDBOX_READY, NULL);
		answer_waiters(sb, NULL);
		return;
	}
	lifecycle_enter(d, sb, SANDBOX_FAILED, err);
	answer_waiters(sb, err);
	/* Nothing has run yet: there is nothing to look at, and none stays. */
	if (creating) {
		sb->purge = true;
		burial_start(d, sb);
	}
}

static bool name_taken(struct daemon *d, const char *name, struct sandbox **ret)
{
	return daemon_find(d, name, ret, NULL) == 0;
}

/* Choose "name-2", "name-3" … for one that is to be unique. */
static void make_unique(struct daemon *d, struct spec *spec)
{
	struct sandbox *other;
	autofree char *base = xstrdup(spec->name);

	for (int i = 2; name_taken(d, spec->name, &other); i++) {
		free(spec->name);
		spec->name = xasprintf("%.*s-%d", SPEC_NAME_LEN - 6, base, i);
	}
}

static int check_host(struct daemon *d, const struct spec *spec,
		      struct sb_err *err)
{
	struct sysinfo si;
	size_t n = 0;
	struct sandbox *sb;

	if (sysinfo(&si) == 0 &&
	    spec->memory > (unsigned long long)si.totalram * si.mem_unit) {
		unsigned long long mib =
			((unsigned long long)si.totalram * si.mem_unit) >> 20;

		sb_fail(err, SB_INVALID,
			"memory of %llu MiB is more than this host has "
			"(%llu MiB)",
			spec->memory >> 20, mib);
		return sb_hint(err, "ask for less: --memory 2G");
	}
	TAILQ_FOREACH(sb, &d->sandboxes, entry)
		n += sb->state < SANDBOX_STOPPING;
	if (d->cfg.max_sandboxes && n >= (size_t)d->cfg.max_sandboxes) {
		sb_fail(err, SB_BUSY, "%zu sandboxes run already", n);
		return sb_hint(err, "remove one with sandboxctl down, or raise "
				    "max_sandboxes in sandboxd.yaml");
	}
	return 0;
}

static int same_key(struct daemon *d, const struct spec *spec, const char *key,
		    struct sandbox **ret, struct sb_err *err)
{
	struct sandbox *sb;

	TAILQ_FOREACH(sb, &d->sandboxes, entry) {
		if (!sb->idempotency_key ||
		    strcmp(sb->idempotency_key, key) != 0)
			continue;
		if (spec->name && strcmp(spec->name, sb->name) != 0)
			return sb_fail(err, SB_CONFLICT,
				       "Idempotency-Key was used for sandbox "
				       "'%s'",
				       sb->name);
		*ret = sb;
		return 0;
	}
	return 0;
}

static int begin(struct daemon *d, struct spec *spec, const char *key,
		 struct sandbox **ret, struct sb_err *err)
{
	struct sandbox *sb = sandbox_new(d->state_dir, spec);
	struct sb_err ignored;

	sb->idempotency_key = xstrdup0(key);
	if (fs_mkdirs(sb->dir, 0711, err) < 0 ||
	    sandbox_write_create(sb, err) < 0 ||
	    sandbox_write_state(sb, SANDBOX_CREATING, NULL, err) < 0) {
		fs_remove_tree(sb->dir, &ignored);
		sandbox_free(sb);
		return -1;
	}
	TAILQ_INSERT_TAIL(&d->sandboxes, sb, entry);
	if (sb->spec.ttl)
		lifecycle_ttl(d, sb, sb->spec.ttl, &ignored);
	events_emit(d, sb);
	boot_start(d, sb, BOOT_CREATE, lifecycle_booted);
	*ret = sb;
	return 0;
}

static int boot_again(struct daemon *d, struct sandbox *sb,
		      struct sandbox **ret, struct sb_err *err)
{
	if (sandbox_write_state(sb, SANDBOX_BOOTING, NULL, err) < 0)
		return -1;
	if (sb->spec.ttl && lifecycle_ttl(d, sb, sb->spec.ttl, err) < 0)
		return -1;
	events_emit(d, sb);
	boot_start(d, sb, BOOT_START, lifecycle_booted);
	*ret = sb;
	return 0;
}

int lifecycle_up(struct daemon *d, struct spec *spec, const char *key,
		 struct sandbox **ret, struct sb_err *err)
{
	struct sandbox *other = NULL;

	if (key && same_key(d, spec, key, &other, err) < 0)
		return -1;
	if (other) {
		*ret = other;
		return 0;
	}
	if (spec->name && spec->unique_name)
		make_unique(d, spec);
	if (check_host(d, spec, err) < 0)
		return -1;
	if (!spec->name || !name_taken(d, spec->name, &other))
		return begin(d, spec, key, ret, err);
	if (other->state == SANDBOX_STOPPED && !other->busy)
		return boot_again(d, other, ret, err);
	if (other->state == SANDBOX_FAILED && !other->busy) {
		/* A failed one makes room for the next of its name. */
		other->purge = true;
		other->retired = true;
		burial_start(d, other);
		return begin(d, spec, key, ret, err);
	}
	if (other->state == SANDBOX_STOPPING ||
	    (other->state == SANDBOX_FAILED && other->purge)) {
		other->retired = true;
		return begin(d, spec, key, ret, err);
	}
	sb_fail(err, SB_CONFLICT, "sandbox '%s' exists already (%s)",
		other->name, sandbox_state_name(other->state));
	return sb_hint(err, "use it, or remove it first: sandboxctl down %s",
		       other->name);
}

int lifecycle_down(struct daemon *d, struct sandbox *sb, bool purge,
		   struct sb_err *err)
{
	sb->purge |= purge;
	if (sb->state == SANDBOX_STOPPING)
		return 0;
	if (sb->state == SANDBOX_STOPPED && !sb->purge && sb->spec.preserve)
		return 0;
	lifecycle_enter(d, sb, SANDBOX_STOPPING, NULL);
	if (!sb->busy) {
		burial_start(d, sb);
		return 0;
	}
	sb->want_down = true;
	cancel_set(sb->cancel);
	return 0;
}

struct pause_op {
	struct daemon *d;
	struct sandbox *sb;
	struct http_req *req;
	bool pause;
	int rc;
	struct sb_err err;
};

static void pause_work(void *arg)
{
	struct pause_op *op = arg;
	autofree char *domain = sandbox_domain(op->sb);
	struct vm_host *vm;

	op->rc = daemon_vm(op->d, &vm, &op->err);
	if (op->rc == 0)
		op->rc = op->pause ? vm_suspend(vm, domain, &op->err)
				   : vm_resume(vm, domain, &op->err);
}

static void pause_done(void *arg)
{
	struct pause_op *op = arg;
	struct sandbox *sb = op->sb;

	sb->busy = false;
	if (op->rc == 0 && sb->state != SANDBOX_STOPPING)
		lifecycle_enter(op->d, sb,
				op->pause ? SANDBOX_PAUSED : SANDBOX_READY,
				NULL);
	if (op->rc < 0)
		http_fail(op->req, &op->err);
	else
		http_reply_json(op->req, 200, sandbox_json(sb));
	if (sb->want_down)
		burial_start(op->d, sb);
	free(op);
}

void lifecycle_pause(struct daemon *d, struct sandbox *sb, bool pause,
		     struct http_req *req)
{
	enum sandbox_state from = pause ? SANDBOX_READY : SANDBOX_PAUSED;
	struct pause_op *op;
	struct sb_err err;

	if (sb->state != from || sb->busy) {
		sb_fail(&err, SB_CONFLICT, "sandbox '%s' is %s, not %s",
			sb->name, sandbox_state_name(sb->state),
			sandbox_state_name(from));
		http_fail(req, &err);
		return;
	}
	op = xcalloc(1, sizeof(*op));
	*op = (struct pause_op){ .d = d, .sb = sb, .req = req, .pause = pause };
	sb->busy = true;
	task_start(d->loop, pause_work, pause_done, op);
}
