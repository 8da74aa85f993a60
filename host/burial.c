/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a sandbox. */
#include "config.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "common/util.h"
#include "host/burial.h"
#include "host/control.h"
#include "host/lifecycle-private.h"
#include "host/ports.h"

#define SYNC_MS (30 * 1000)

struct burial {
	struct daemon *d;
	struct sandbox *sb;
	bool keep;
	bool running;
};

/* A preserved disk is to have all that the guest has written. */
static void flush(const struct sandbox *sb)
{
	autofree char *path = sandbox_path(sb, "vm/control.sock");
	autojson json_t *msg = json_pack("{s:s}", "type", "sync"),
			*reply = NULL;
	struct cancel *never = cancel_new();
	struct control *c = NULL;
	struct sb_err err;

	if (control_open(path, never, &c, &err) < 0 ||
	    control_ask(c, msg, "synced", clock_ms() + SYNC_MS, &reply, &err) <
		    0)
		log_warn("%s: what the guest wrote last may be lost: %s",
			 sb->id, err.msg);
	control_close(c);
	cancel_free(never);
}

/* Connection files (ctl-connfile.c) of a machine that will be another. */
static void forget_kernels(const struct sandbox *sb)
{
	autofree char *path = sandbox_path(sb, "kernels");
	struct sb_err err;

	if (fs_remove_tree(path, &err) < 0)
		log_warn("%s: %s", sb->id, err.msg);
}

static void burial_work(void *arg)
{
	struct burial *b = arg;
	autofree char *domain = sandbox_domain(b->sb);
	struct vm_host *vm;
	struct sb_err err;

	if (b->keep && b->running)
		flush(b->sb);
	if (b->keep)
		forget_kernels(b->sb);
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
	b->running = sb->nports > 0;
	sb->busy = true;
	if (sb->ttl)
		loop_timer_clear(sb->ttl);
	task_start(d->loop, burial_work, burial_done, b);
}
