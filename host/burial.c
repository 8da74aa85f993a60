/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a sandbox. */
#include "config.h"

#include <stdlib.h>

#include "common/fs.h"
#include "common/log.h"
#include "common/util.h"
#include "host/burial.h"
#include "host/lifecycle-private.h"
#include "host/ports.h"

struct burial {
	struct daemon *d;
	struct sandbox *sb;
	bool keep;
};

static void burial_work(void *arg)
{
	struct burial *b = arg;
	autofree char *domain = sandbox_domain(b->sb);
	struct vm_host *vm;
	struct sb_err err;

	if (daemon_vm(b->d, &vm, &err) < 0 || vm_destroy(vm, domain, &err) < 0)
		log_err("%s: %s", b->sb->id, err.msg);
	else if (!b->keep)
		vm_forget(vm, domain);
	if (!b->keep && fs_remove_tree(b->sb->dir, &err) < 0)
		log_err("%s: %s", b->sb->id, err.msg);
}

static void burial_done(void *arg)
{
	struct burial *b = arg;
	struct sandbox *sb = b->sb;

	sb->busy = false;
	sb->want_down = false;
	for (size_t i = 0; i < sb->nports; i++)
		ports_release(sb->ports[i].host);
	sb->nports = 0;
	if (b->keep && sb->purge) {
		/* Asked for while the machine was being stopped. */
		burial_start(b->d, sb);
	} else if (b->keep) {
		lifecycle_enter(b->d, sb, SANDBOX_STOPPED, NULL);
	} else {
		lifecycle_forget(b->d, sb);
	}
	free(b);
}

void burial_start(struct daemon *d, struct sandbox *sb)
{
	struct burial *b = xcalloc(1, sizeof(*b));

	b->d = d;
	b->sb = sb;
	b->keep = sb->spec.preserve && !sb->purge;
	sb->busy = true;
	if (sb->ttl)
		loop_timer_clear(sb->ttl);
	task_start(d->loop, burial_work, burial_done, b);
}

void burial_rename(struct sandbox *sb)
{
	free(sb->name);
	sb->name = xstrdup(sb->id);
}
