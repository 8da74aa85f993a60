/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What vm*.c share among themselves. */

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <stdatomic.h>

#include "common/util.h"
#include "host/vm.h"

/* The id of the guest's network back end, for the monitor's hostfwd_add. */
#define VM_NETDEV "sandboxnet"

struct vm_host {
	virConnectPtr conn;
	char *uri, *dir;
	unsigned int uid, gid;
	void (*on_event)(void *arg, const char *name, enum vm_event ev,
			 const char *detail);
	void *arg;
	int lifecycle_id, reboot_id;
	pthread_t thread;
	bool threaded;
	atomic_bool stop;
};

static inline void vm_auto_domain(virDomainPtr *dom)
{
	if (*dom)
		virDomainFree(*dom);
}
#define autodomain __attribute__((cleanup(vm_auto_domain)))

/* Fill err from libvirt's last error on this thread and return -1. */
int vm_fail(struct sb_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for words that libvirt or QEMU said; pure, for tests as well. */
int vm_explain(const char *said, struct sb_err *err);

/* Whether f is one that we may put into a QEMU option. */
int vm_forward_check(const struct vm_forward *f, struct sb_err *err);

/*
 * vm-remains.c: end the QEMUs that an earlier daemon was asking for their
 * capabilities in dir (if wait, also those that are only about to become one),
 * and the one of a machine that libvirt does not know.
 */
void vm_end_probes(const char *dir, bool wait);
void vm_end_machine(const char *name);
