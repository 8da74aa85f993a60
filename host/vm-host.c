/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to libvirt: the embedded driver's settings, QEMU's user, the
 * thread of libvirt's events, and the private /dev/kvm.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <libxml/uri.h>
#include <pwd.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "host/vm-private.h"

#define QEMU_USER "libvirt-qemu"
#define KVM_DEVICE "/dev/kvm"

/* QEMU's user: named, or the default one. */
static int pick_user(const char *name, unsigned int *uid, unsigned int *gid,
		     struct sb_err *err)
{
	struct passwd pw, *found = NULL;
	char strings[4096];
	long long id;

	if (geteuid() != 0) {
		*uid = geteuid();
		*gid = getegid();
		return 0;
	}
	if (name && name[0] == '+') {
		if (parse_num(name + 1, 1, UINT32_MAX - 1, &id))
			return sb_fail(err, SB_INVALID,
				       "QEMU user '%s' is not +UID", name);
		*uid = *gid = id;
		return 0;
	}
	if (!name)
		name = QEMU_USER;
	if (getpwnam_r(name, &pw, strings, sizeof(strings), &found) || !found) {
		sb_fail(err, SB_MISSING, "there is no user '%s' for QEMU",
			name);
		return sb_hint(err, "adduser --system --group --no-create-home"
				    " --uid 64055 " QEMU_USER);
	}
	*uid = pw.pw_uid;
	*gid = pw.pw_gid;
	return 0;
}

/* The same, with the group that may open /dev/kvm if there is one. */
static int pick_ids(const char *name, unsigned int *uid, unsigned int *gid,
		    struct sb_err *err)
{
	struct stat st;

	if (pick_user(name, uid, gid, err))
		return -1;
	if (geteuid() == 0 && stat(KVM_DEVICE, &st) == 0 && st.st_gid != 0 &&
	    (st.st_mode & 0060) == 0060)
		*gid = st.st_gid;
	return 0;
}

/* Whether cover_kvm() did its work. */
static bool kvm_covered(void)
{
	struct stat st;

	return stat(KVM_DEVICE, &st) == 0 && S_ISREG(st.st_mode);
}

static bool may_open_kvm(unsigned int uid, unsigned int gid)
{
	struct stat st;
	mode_t need;

	if (stat(KVM_DEVICE, &st))
		return false;
	need = uid == st.st_uid ? 0600 : gid == st.st_gid ? 0060 : 0006;
	return (st.st_mode & need) == need;
}

/*
 * Cover /dev/kvm with a file that only root opens and that is no device, so
 * that libvirt finds KVM unusable whichever rights it looks with.
 */
static int cover_kvm(const char *dir, struct sb_err *err)
{
	autofree char *cover = xasprintf("%s/no-kvm", dir);
	autoclose int fd = -1;
	int rc;

	if (fs_mkdirs(dir, 0711, err))
		return -1;
	fd = open(cover, O_CREAT | O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot create '%s': %m", cover);
	/* A slave still sees what the host mounts later: shared folders. */
	rc = unshare(CLONE_NEWNS);
	if (!rc)
		rc = mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
	if (!rc)
		rc = mount(cover, KVM_DEVICE, NULL, MS_BIND, NULL);
	if (rc)
		sb_fail(err, sb_code_of_errno(errno),
			"cannot cover " KVM_DEVICE ": %m");
	unlink(cover);
	return rc;
}

int vm_host_prepare(const struct vm_host_config *cfg, struct accel *accel,
		    struct sb_err *err)
{
	unsigned int uid, gid;

	if (geteuid() != 0 || access(KVM_DEVICE, F_OK))
		return 0;
	if (pick_ids(cfg->qemu_user, &uid, &gid, err))
		return -1;
	if (accel->kvm && !may_open_kvm(uid, gid))
		*accel = (struct accel){
			.reason =
				"KVM works, but QEMU's user may not open " KVM_DEVICE
				" (chgrp kvm " KVM_DEVICE
				"; chmod 660 " KVM_DEVICE ")",
		};
	return accel->kvm ? 0 : cover_kvm(cfg->dir, err);
}

/*
 * stdio_handler: QEMU's log is a plain file, no virtlogd.  dynamic_ownership:
 * libvirt would give kernel, initrd and base images, which many share, to
 * QEMU's user, who could then write to them.
 */
static int write_config(const struct vm_host *h, struct sb_err *err)
{
	autofree char *etc = xasprintf("%s/etc", h->dir);
	autofree char *path = xasprintf("%s/qemu.conf", etc);
	autobuf struct buf conf = { 0 };

	if (fs_mkdirs(h->dir, 0711, err) || fs_mkdirs(etc, 0711, err))
		return -1;
	buf_adds(&conf, "stdio_handler = \"file\"\n"
			"dynamic_ownership = 0\n"
			"remember_owner = 0\n"
			"seccomp_sandbox = 1\n");
	if (geteuid() == 0)
		buf_addf(&conf, "user = \"+%u\"\ngroup = \"+%u\"\n", h->uid,
			 h->gid);
	/* The private /dev that libvirt makes for QEMU cannot take over a file
	 * that is mounted in /dev. */
	if (kvm_covered())
		buf_adds(&conf, "namespaces = []\n");
	return fs_write_atomic(path, conf.p, conf.len, 0600, err);
}

static void deliver(struct vm_host *h, virDomainPtr dom, enum vm_event ev,
		    const char *detail)
{
	if (h->on_event)
		h->on_event(h->arg, virDomainGetName(dom), ev, detail);
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr dom, int event,
			int detail, void *arg)
{
	struct vm_host *h = arg;

	/* A panic comes first as an event of its own, then as this one. */
	if (event != VIR_DOMAIN_EVENT_STOPPED)
		return 0;
	switch (detail) {
	case VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN:
		deliver(h, dom, VM_EV_STOPPED, "the guest powered off");
		break;
	case VIR_DOMAIN_EVENT_STOPPED_CRASHED:
		deliver(h, dom, VM_EV_CRASHED, "the guest's kernel panicked");
		break;
	case VIR_DOMAIN_EVENT_STOPPED_FAILED:
		deliver(h, dom, VM_EV_CRASHED, "QEMU ended unexpectedly");
		break;
	default: /* our own vm_destroy() */
		break;
	}
	return 0;
}

static void on_reboot(virConnectPtr conn, virDomainPtr dom, void *arg)
{
	deliver(arg, dom, VM_EV_REBOOT, "the guest rebooted");
}

static void *run_events(void *arg)
{
	struct vm_host *h = arg;

	while (!atomic_load(&h->stop))
		if (virEventRunDefaultImpl() < 0) {
			log_err("libvirt's event loop failed: %s",
				virGetLastErrorMessage());
			break;
		}
	return NULL;
}

/* A timer that has run out makes virEventRunDefaultImpl() return. */
static void on_wake(int timer, void *arg)
{
	virEventRemoveTimeout(timer);
}

static void stop_events(struct vm_host *h)
{
	if (!h->threaded)
		return;
	atomic_store(&h->stop, true);
	virEventAddTimeout(0, on_wake, NULL, NULL);
	pthread_join(h->thread, NULL);
	h->threaded = false;
}

/* libvirt prints errors on its own, which we report ourselves. */
static void on_libvirt_error(void *arg, virErrorPtr error)
{
	log_debug("libvirt: %s", error->message ? error->message : "?");
}

static int connect_libvirt(struct vm_host *h, struct sb_err *err)
{
	int rc;

	virSetErrorFunc(NULL, on_libvirt_error);
	if (virInitialize() < 0 || virEventRegisterDefaultImpl() < 0)
		return vm_fail(err, "cannot start libvirt");
	rc = pthread_create(&h->thread, NULL, run_events, h);
	if (rc)
		return sb_fail(err, SB_SYSTEM, "cannot start a thread: %s",
			       strerror(rc));
	h->threaded = true;
	h->conn = virConnectOpen(h->uri);
	if (!h->conn)
		return vm_fail(err, "cannot open libvirt's '%s'", h->uri);
	h->lifecycle_id = virConnectDomainEventRegisterAny(
		h->conn, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
		VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), h, NULL);
	h->reboot_id = virConnectDomainEventRegisterAny(
		h->conn, NULL, VIR_DOMAIN_EVENT_ID_REBOOT,
		VIR_DOMAIN_EVENT_CALLBACK(on_reboot), h, NULL);
	if (h->lifecycle_id < 0 || h->reboot_id < 0)
		return vm_fail(err, "cannot watch libvirt's events");
	return 0;
}

static char *embedded_uri(const char *dir)
{
	xmlChar *escaped = xmlURIEscapeStr(BAD_CAST dir, BAD_CAST "/");
	char *uri = xasprintf("qemu:///embed?root=%s", (const char *)escaped);

	xmlFree(escaped);
	return uri;
}

DEFINE_AUTO(struct vm_host *, vm_host_close, auto_vm_host)

int vm_host_open(const struct vm_host_config *cfg, struct vm_host **ret,
		 struct sb_err *err)
{
	__attribute__((cleanup(auto_vm_host))) struct vm_host *h =
		xcalloc(1, sizeof(*h));

	h->lifecycle_id = h->reboot_id = -1;
	h->on_event = cfg->on_event;
	h->arg = cfg->arg;
	h->dir = xstrdup(cfg->dir);
	h->uri = cfg->uri ? xstrdup(cfg->uri) : embedded_uri(cfg->dir);
	if (!cfg->uri)
		vm_end_probes(cfg->dir, cfg->after_crash);
	if (pick_ids(cfg->qemu_user, &h->uid, &h->gid, err) ||
	    write_config(h, err) || connect_libvirt(h, err))
		return -1;
	*ret = steal(&h);
	return 0;
}

void vm_host_close(struct vm_host *h)
{
	if (!h)
		return;
	if (h->lifecycle_id >= 0)
		virConnectDomainEventDeregisterAny(h->conn, h->lifecycle_id);
	if (h->reboot_id >= 0)
		virConnectDomainEventDeregisterAny(h->conn, h->reboot_id);
	if (h->conn)
		virConnectClose(h->conn);
	stop_events(h);
	free(h->uri);
	free(h->dir);
	free(h);
}

void vm_host_ids(const struct vm_host *h, unsigned int *ret_uid,
		 unsigned int *ret_gid)
{
	*ret_uid = h->uid;
	*ret_gid = h->gid;
}

const char *vm_host_uri(const struct vm_host *h)
{
	return h->uri;
}
