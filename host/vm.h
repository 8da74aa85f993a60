/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Virtual machines through libvirt (the only header that vm*.c share with the
 * rest; nothing of libvirt shows).  Calls block: they belong on a worker
 * thread.  A struct vm_host may be used from several threads.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "host/accel.h"

struct vm_host;

enum vm_state { VM_GONE, VM_RUNNING, VM_PAUSED };

enum vm_event {
	VM_EV_STOPPED, /* powered off from inside */
	VM_EV_CRASHED, /* QEMU died or the guest panicked */
	VM_EV_REBOOT,  /* the guest rebooted itself; may come twice */
};

struct vm_host_config {
	const char *uri;       /* NULL: qemu:///embed?root=dir */
	const char *dir;       /* root of the embedded driver */
	const char *qemu_user; /* NULL: chosen; see vm_host_open */
	bool after_crash;      /* the last one to use dir was killed */
	/* Called on libvirt's thread; name is the domain's. */
	void (*on_event)(void *arg, const char *name, enum vm_event ev,
			 const char *detail);
	void *arg;
};

/*
 * Make the process fit for libvirt: to be called once, early in main(), while
 * there is only one thread.  As root, where KVM does not work or QEMU's user
 * may not open /dev/kvm (then accel->kvm becomes false and the reason says
 * so), the process gets a mount namespace of its own, in which /dev/kvm is
 * covered: libvirt probes QEMU with rights that QEMU does not have later on,
 * and would otherwise probe it anew, for a minute, at each start.  When that
 * fails all goes on working, slowly.
 */
int vm_host_prepare(const struct vm_host_config *cfg, struct accel *accel,
		    struct sb_err *err);

/*
 * Connect.  Slow on first use (QEMU's capabilities are probed and cached).
 *
 * QEMU has our own uid; as root it gets cfg->qemu_user (a name, or "+UID"), by
 * default libvirt-qemu (libvirt as root wants that user to exist in any case).
 * libvirt changes no owners.  So QEMU's user must be able to
 *  - pass through all folders on the way (0711),
 *  - read kernel, initrd, the disk's backing files and the fw_cfg files,
 *  - read and write the disk and the shared folders.
 * The serial log and the control socket are opened by libvirt, with our own
 * rights.  A guest can make its serial log grow without end; it is opened for
 * appending, so truncating it is safe at any time.
 */
int vm_host_open(const struct vm_host_config *cfg, struct vm_host **ret,
		 struct sb_err *err);
void vm_host_close(struct vm_host *h);
/* The uid and gid that QEMU will have (our own, unless we are root). */
void vm_host_ids(const struct vm_host *h, unsigned int *ret_uid,
		 unsigned int *ret_gid);
const char *vm_host_uri(const struct vm_host *h);

/* The name of the control channel in the guest (/dev/virtio-ports/...). */
#define VM_CONTROL_PORT "org.sandbox.control"

#define VM_MAX_SHARES 5
#define VM_MAX_FORWARDS 64

struct vm_share {
	const char *tag;  /* 9p mount tag */
	const char *path; /* on the host */
	bool readonly;
	bool no_xattr; /* vm_start() finds out: no user xattrs there */
};

struct vm_forward {
	const char *host_addr; /* "127.0.0.1" */
	int host_port;
	int guest_port;
};

/* All that makes a machine.  Strings are borrowed for the call. */
struct vm_spec {
	const char *name; /* domain name: "sandbox-ID" */
	const char *uuid;
	bool kvm;
	int cpus;
	unsigned long long memory; /* bytes */
	const char *disk;	   /* qcow2 overlay */
	bool durable; /* the disk must survive a crash of the host */
	const char *kernel, *initrd, *cmdline;
	const char *serial_log; /* file, appended to */
	const char *control;	/* path of the control channel's UNIX socket */
	bool net_open;
	struct vm_share shares[VM_MAX_SHARES];
	size_t nshares;
	struct vm_forward forwards[VM_MAX_FORWARDS];
	size_t nforwards;
	/* Files handed to the guest's first boot through fw_cfg. */
	const char *ssh_host_key;    /* path */
	const char *authorized_keys; /* path */
};

/* The domain XML of a spec; the caller's.  Pure, for tests as well. */
char *vm_xml(const struct vm_spec *spec, struct sb_err *err);

int vm_start(struct vm_host *h, const struct vm_spec *spec, struct sb_err *err);
/* Kill it and forget it, from any state; a missing one is fine. */
int vm_destroy(struct vm_host *h, const char *name, struct sb_err *err);
/* Whether the embedded driver in dir has notes about machines.  Quick. */
bool vm_has_remains(const char *dir);
/* Remove libvirt's own files about a machine that is destroyed: its log. */
void vm_forget(const struct vm_host *h, const char *name);
int vm_suspend(struct vm_host *h, const char *name, struct sb_err *err);
int vm_resume(struct vm_host *h, const char *name, struct sb_err *err);
int vm_query(struct vm_host *h, const char *name, enum vm_state *ret,
	     struct sb_err *err);
/* Names of all domains whose name starts with prefix; NULL-terminated, the
 * caller frees each and the array. */
int vm_list(struct vm_host *h, const char *prefix, char ***ret,
	    struct sb_err *err);
/* Port forwards of a running machine. */
int vm_forward_add(struct vm_host *h, const char *name,
		   const struct vm_forward *f, struct sb_err *err);
int vm_forward_remove(struct vm_host *h, const char *name,
		      const struct vm_forward *f, struct sb_err *err);
/* Path of QEMU's own log of that domain; the caller's. */
char *vm_log_path(const struct vm_host *h, const char *name);
