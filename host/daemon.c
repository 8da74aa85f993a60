/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the daemon ask for: libvirt, and a sandbox by name. */
#include "config.h"

#include <string.h>

#include "common/util.h"
#include "host/daemon.h"
#include "host/lifecycle.h"

int daemon_find(struct daemon *d, const char *id, struct sandbox **ret,
		struct sb_err *err)
{
	struct sandbox *sb;

	TAILQ_FOREACH(sb, &d->sandboxes, entry)
		if (strcmp(sb->id, id) == 0 ||
		    strcmp(sandbox_name(sb), id) == 0) {
			*ret = sb;
			return 0;
		}
	sb_fail(err, SB_NOTFOUND, "there is no sandbox '%s'", id);
	return sb_hint(err, "sandboxctl ls shows those there are");
}

static struct vm_host_config vm_config(struct daemon *d, const char *dir)
{
	return (struct vm_host_config){
		.uri = d->cfg.libvirt_uri,
		.dir = dir,
		.qemu_user = d->cfg.qemu_user,
		.after_crash = d->after_crash,
		.on_event = lifecycle_vm_event,
		.arg = d,
	};
}

int daemon_vm(struct daemon *d, struct vm_host **ret, struct sb_err *err)
{
	autofree char *dir = xasprintf("%s/libvirt", d->state_dir);
	struct vm_host_config cfg = vm_config(d, dir);
	int rc = 0;

	pthread_mutex_lock(&d->vm_lock);
	if (!d->vm)
		rc = vm_host_open(&cfg, &d->vm, err);
	pthread_mutex_unlock(&d->vm_lock);
	if (rc == 0)
		*ret = d->vm;
	return rc;
}

int daemon_vm_prepare(struct daemon *d, struct sb_err *err)
{
	autofree char *dir = xasprintf("%s/libvirt", d->state_dir);
	struct vm_host_config cfg = vm_config(d, dir);

	return vm_host_prepare(&cfg, &d->accel, err);
}

bool daemon_vm_remains(const struct daemon *d)
{
	autofree char *dir = xasprintf("%s/libvirt", d->state_dir);

	return !d->cfg.libvirt_uri && vm_has_remains(dir);
}
