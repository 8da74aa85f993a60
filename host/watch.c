/* SPDX-License-Identifier: Apache-2.0 */
/* What follows when a machine ends or reboots by itself. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/util.h"
#include "host/boot.h"
#include "host/burial.h"
#include "host/lifecycle.h"
#include "host/lifecycle-private.h"
#include "host/ports.h"

#define MAX_RESTARTS 5

struct notice {
	struct daemon *d;
	char *domain;
	char *detail;
	enum vm_event ev;
};

static struct sandbox *find_domain(struct daemon *d, const char *domain)
{
	struct sandbox *sb;

	TAILQ_FOREACH(sb, &d->sandboxes, entry) {
		autofree char *name = sandbox_domain(sb);

		if (strcmp(name, domain) == 0)
			return sb;
	}
	return NULL;
}

static bool wants_restart(const struct sandbox *sb, bool crashed)
{
	if (sb->restarts >= MAX_RESTARTS)
		return false;
	return sb->spec.restart == SPEC_RESTART_ALWAYS ||
	       (sb->spec.restart == SPEC_RESTART_ON_FAILURE && crashed);
}

void lifecycle_lost(struct daemon *d, struct sandbox *sb, bool crashed,
		    const char *detail)
{
	struct sb_err cause = { 0 };

	if (crashed)
		sb_fail(&cause, SB_SYSTEM, "the machine died: %s", detail);
	else
		sb_fail(&cause, SB_GUEST, "the guest powered off");
	for (size_t i = 0; i < sb->nports; i++)
		ports_release(sb->ports[i].host);
	sb->nports = 0;
	if (wants_restart(sb, crashed)) {
		sb->restarts++;
		log_info("%s (%s): %s; starting it again (%d)", sb->id,
			 sb->name, cause.msg, sb->restarts);
		lifecycle_enter(d, sb, SANDBOX_BOOTING, NULL);
		boot_start(d, sb, BOOT_START, lifecycle_booted);
		return;
	}
	lifecycle_enter(d, sb, crashed ? SANDBOX_FAILED : SANDBOX_STOPPED,
			&cause);
}

static void handle(void *arg)
{
	struct notice *n = arg;
	struct sandbox *sb = find_domain(n->d, n->domain);

	if (!sb || sb->state == SANDBOX_STOPPING) {
		/* Ours to end, or not ours at all. */
	} else if (sb->busy) {
		if (n->ev != VM_EV_REBOOT) {
			sb_fail(&sb->died, SB_SYSTEM, "the machine died: %s",
				n->detail);
			cancel_set(sb->cancel);
		}
	} else if (n->ev == VM_EV_REBOOT) {
		lifecycle_enter(n->d, sb, SANDBOX_BOOTING, NULL);
		boot_start(n->d, sb, BOOT_ATTACH, lifecycle_booted);
	} else if (sb->state == SANDBOX_READY || sb->state == SANDBOX_PAUSED) {
		lifecycle_lost(n->d, sb, n->ev == VM_EV_CRASHED, n->detail);
	}
	free(n->domain);
	free(n->detail);
	free(n);
}

void lifecycle_vm_event(void *daemon, const char *domain, enum vm_event ev,
			const char *detail)
{
	struct daemon *d = daemon;
	struct notice *n = xcalloc(1, sizeof(*n));

	n->d = d;
	n->domain = xstrdup(domain);
	n->detail = xstrdup(detail);
	n->ev = ev;
	loop_post(d->loop, handle, n);
}
