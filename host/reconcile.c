/* SPDX-License-Identifier: Apache-2.0 */
/* After a daemon that was killed: adopt the living, bury the dead. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/log.h"
#include "common/util.h"
#include "host/boot.h"
#include "host/burial.h"
#include "host/lifecycle-private.h"
#include "host/ports.h"
#include "host/reconcile.h"

/* Read one folder; one without a readable journal is nobody's. */
static void load(struct daemon *d, const char *dir)
{
	struct sandbox *sb;
	struct sb_err err;

	if (sandbox_load(dir, &sb, &err) == 0) {
		TAILQ_INSERT_TAIL(&d->sandboxes, sb, entry);
		return;
	}
	log_warn("removing '%s': %s", dir, err.msg);
	if (fs_remove_tree(dir, &err) < 0)
		log_err("%s", err.msg);
}

static void load_all(struct daemon *d)
{
	autofree char *top = xasprintf("%s/sandboxes", d->state_dir);
	struct dirent *e;
	DIR *dir = opendir(top);

	while (dir && (e = readdir(dir))) {
		autofree char *path = xasprintf("%s/%s", top, e->d_name);

		if (str_starts(e->d_name, "sb-"))
			load(d, path);
	}
	if (dir)
		closedir(dir);
}

static void adopt(struct daemon *d, struct sandbox *sb, enum vm_state vm)
{
	for (size_t i = 0; i < sb->nports; i++)
		ports_adopt(sb->ports[i].host);
	if (sb->expires_ms)
		lifecycle_arm_ttl(d, sb);
	log_info("%s (%s): found again, %s", sb->id, sb->name,
		 sandbox_state_name(sb->state));
	if (sb->state < SANDBOX_READY)
		boot_start(d, sb, BOOT_ATTACH, lifecycle_booted);
	else if (vm == VM_PAUSED && sb->state == SANDBOX_READY)
		lifecycle_enter(d, sb, SANDBOX_PAUSED, NULL);
	else if (vm == VM_RUNNING && sb->state == SANDBOX_PAUSED)
		lifecycle_enter(d, sb, SANDBOX_READY, NULL);
}

/* Its machine does not run. */
static void mourn(struct daemon *d, struct sandbox *sb)
{
	struct sb_err cause = { 0 };

	if (sb->state >= SANDBOX_READY) {
		lifecycle_lost(d, sb, true,
			       "it ended while sandboxd was not running");
		return;
	}
	sb_fail(&cause, SB_CANCELLED,
		"sandboxd was ended while it was creating the sandbox");
	sb_hint(&cause, "run sandboxctl up again");
	sb->nports = 0;
	sb->purge = true;
	lifecycle_enter(d, sb, SANDBOX_FAILED, &cause);
	burial_start(d, sb);
}

static void settle(struct daemon *d, struct sandbox *sb, struct vm_host *vm)
{
	autofree char *domain = sandbox_domain(sb);
	enum vm_state state;
	struct sb_err err;

	if (sb->state == SANDBOX_FAILED || sb->state == SANDBOX_STOPPED) {
		sb->nports = 0;
		return;
	}
	if (sb->state == SANDBOX_STOPPING || sb->state == SANDBOX_GONE) {
		burial_start(d, sb);
		return;
	}
	if (vm_query(vm, domain, &state, &err) < 0) {
		log_err("%s: %s", sb->id, err.msg);
		state = VM_GONE;
	}
	if (state == VM_GONE)
		mourn(d, sb);
	else
		adopt(d, sb, state);
}

/* Machines of our own embedded driver that no journal knows. */
static void bury_orphans(struct daemon *d, struct vm_host *vm)
{
	char **names = NULL;
	struct sb_err err;

	if (vm_list(vm, "sandbox-", &names, &err) < 0) {
		log_err("%s", err.msg);
		return;
	}
	for (char **n = names; *n; n++) {
		struct sandbox *sb;

		if (daemon_find(d, *n + strlen("sandbox-"), &sb, &err) < 0) {
			log_warn("ending '%s', which nobody owns", *n);
			if (vm_destroy(vm, *n, &err) < 0)
				log_err("%s", err.msg);
		}
		free(*n);
	}
	free(names);
}

int reconcile(struct daemon *d, struct sb_err *err)
{
	struct sandbox *sb, *next;
	struct vm_host *vm;

	load_all(d);
	/* libvirt takes memory and time: only if there is something to ask. */
	if (TAILQ_EMPTY(&d->sandboxes) && !daemon_vm_remains(d))
		return 0;
	if (daemon_vm(d, &vm, err) < 0)
		return -1;
	for (sb = TAILQ_FIRST(&d->sandboxes); sb; sb = next) {
		next = TAILQ_NEXT(sb, entry);
		settle(d, sb, vm);
	}
	/* On a libvirt that others use as well, their machines stay. */
	if (!d->cfg.libvirt_uri)
		bury_orphans(d, vm);
	return 0;
}
