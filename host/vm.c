/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, stopping and asking about machines. */
#include "config.h"

#include <errno.h>
#include <libvirt/libvirt-qemu.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/vm-private.h"

static int check_memory(unsigned long long want, struct sb_err *err)
{
	unsigned long long have = (unsigned long long)sysconf(_SC_PHYS_PAGES) *
				  (unsigned long long)sysconf(_SC_PAGESIZE);

	if (want <= have)
		return 0;
	sb_fail(err, SB_LIMIT,
		"%llu MiB of memory are asked for, the host has %llu",
		want >> 20, have >> 20);
	return sb_hint(err, "ask for less with --memory");
}

static int check_file(const char *what, const char *path, struct sb_err *err)
{
	struct stat st;

	if (stat(path, &st))
		return sb_fail(err, sb_code_of_errno(errno), "%s '%s': %m",
			       what, path);
	if (!S_ISREG(st.st_mode))
		return sb_fail(err, SB_INVALID, "%s '%s' is not a file", what,
			       path);
	return 0;
}

static int check_share(struct vm_share *share, struct sb_err *err)
{
	struct stat st;

	if (stat(share->path, &st))
		return sb_fail(err, sb_code_of_errno(errno),
			       "shared folder '%s': %m", share->path);
	if (!S_ISDIR(st.st_mode))
		return sb_fail(err, SB_INVALID,
			       "shared folder '%s' is not a folder",
			       share->path);
	share->no_xattr = getxattr(share->path, "user.virtfs.uid", NULL, 0) <
				  0 &&
			  errno == ENOTSUP;
	return 0;
}

/* Find what QEMU would only complain about in words of its own. */
static int check_host(struct vm_spec *s, struct sb_err *err)
{
	size_t i;

	if (check_memory(s->memory, err) ||
	    check_file("kernel", s->kernel, err) ||
	    check_file("initrd", s->initrd, err) ||
	    check_file("disk", s->disk, err))
		return -1;
	for (i = 0; i < s->nshares; i++)
		if (check_share(&s->shares[i], err))
			return -1;
	return 0;
}

int vm_start(struct vm_host *h, const struct vm_spec *spec, struct sb_err *err)
{
	struct vm_spec s = *spec;
	autodomain virDomainPtr dom = NULL;
	autofree char *xml = NULL;

	if (s.nshares > VM_MAX_SHARES)
		return sb_fail(err, SB_LIMIT, "at most %d shared folders",
			       VM_MAX_SHARES);
	if (check_host(&s, err))
		return -1;
	xml = vm_xml(&s, err);
	if (!xml)
		return -1;
	dom = virDomainCreateXML(h->conn, xml, 0);
	if (!dom)
		return vm_fail(err, "cannot start the machine");
	return 0;
}

/*
 * The domain of that name.  A missing one leaves *ret NULL and is no failure:
 * only the caller knows what it means.
 */
static int lookup(struct vm_host *h, const char *name, virDomainPtr *ret,
		  struct sb_err *err)
{
	*ret = virDomainLookupByName(h->conn, name);
	if (!*ret && virGetLastErrorCode() != VIR_ERR_NO_DOMAIN)
		return vm_fail(err, "cannot find machine '%s'", name);
	return 0;
}

static int lookup_running(struct vm_host *h, const char *name,
			  virDomainPtr *ret, struct sb_err *err)
{
	if (lookup(h, name, ret, err))
		return -1;
	if (!*ret)
		return sb_fail(err, SB_NOTFOUND, "machine '%s' does not run",
			       name);
	return 0;
}

/* Whether a call failed because the machine ended in the meantime. */
static bool is_gone(void)
{
	int code = virGetLastErrorCode();

	return code == VIR_ERR_NO_DOMAIN || code == VIR_ERR_OPERATION_INVALID;
}

int vm_destroy(struct vm_host *h, const char *name, struct sb_err *err)
{
	autodomain virDomainPtr dom = NULL;

	if (lookup(h, name, &dom, err))
		return -1;
	if (!dom) {
		vm_end_machine(name);
		return 0;
	}
	if (virDomainDestroy(dom) == 0 || is_gone())
		return 0;
	return vm_fail(err, "cannot stop machine '%s'", name);
}

int vm_suspend(struct vm_host *h, const char *name, struct sb_err *err)
{
	autodomain virDomainPtr dom = NULL;

	if (lookup_running(h, name, &dom, err))
		return -1;
	if (virDomainSuspend(dom) < 0)
		return vm_fail(err, "cannot pause machine '%s'", name);
	return 0;
}

int vm_resume(struct vm_host *h, const char *name, struct sb_err *err)
{
	autodomain virDomainPtr dom = NULL;

	if (lookup_running(h, name, &dom, err))
		return -1;
	if (virDomainResume(dom) < 0)
		return vm_fail(err, "cannot resume machine '%s'", name);
	return 0;
}

int vm_query(struct vm_host *h, const char *name, enum vm_state *ret,
	     struct sb_err *err)
{
	autodomain virDomainPtr dom = NULL;
	autofree char *said = NULL;
	int state;

	if (lookup(h, name, &dom, err))
		return -1;
	if (!dom) {
		*ret = VM_GONE;
		return 0;
	}
	/*
	 * libvirt believes that a machine which it has found written down runs,
	 * until it has connected to its monitor again; asking there waits for
	 * that.
	 */
	if (virDomainQemuMonitorCommand(dom, "info status", &said,
					VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP) <
		    0 ||
	    virDomainGetState(dom, &state, NULL, 0) < 0) {
		if (!is_gone())
			return vm_fail(err, "cannot ask about machine '%s'",
				       name);
		state = VIR_DOMAIN_SHUTOFF;
	}
	if (state == VIR_DOMAIN_PAUSED || state == VIR_DOMAIN_PMSUSPENDED)
		*ret = VM_PAUSED;
	else if (state == VIR_DOMAIN_SHUTOFF || state == VIR_DOMAIN_CRASHED)
		*ret = VM_GONE;
	else
		*ret = VM_RUNNING;
	return 0;
}

int vm_list(struct vm_host *h, const char *prefix, char ***ret,
	    struct sb_err *err)
{
	virDomainPtr *doms = NULL;
	char **names;
	size_t n = 0;
	int i, all;

	all = virConnectListAllDomains(h->conn, &doms, 0);
	if (all < 0)
		return vm_fail(err, "cannot list the machines");
	names = xcalloc((size_t)all + 1, sizeof(*names));
	for (i = 0; i < all; i++) {
		if (str_starts(virDomainGetName(doms[i]), prefix))
			names[n++] = xstrdup(virDomainGetName(doms[i]));
		virDomainFree(doms[i]);
	}
	free(doms);
	*ret = names;
	return 0;
}

/* A command of the human monitor; it prints nothing when it succeeds. */
static int monitor(struct vm_host *h, const char *name, const char *cmd,
		   struct sb_err *err)
{
	autodomain virDomainPtr dom = NULL;
	autofree char *said = NULL;

	if (lookup_running(h, name, &dom, err))
		return -1;
	if (virDomainQemuMonitorCommand(
		    dom, cmd, &said, VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP) < 0)
		return vm_fail(err, "machine '%s' does not answer", name);
	if (str_empty(said) || strstr(said, " removed"))
		return 0;
	return vm_explain(said, err);
}

int vm_forward_add(struct vm_host *h, const char *name,
		   const struct vm_forward *f, struct sb_err *err)
{
	autofree char *cmd = NULL;

	if (vm_forward_check(f, err))
		return -1;
	cmd = xasprintf("hostfwd_add " VM_NETDEV " tcp:%s:%d-:%d", f->host_addr,
			f->host_port, f->guest_port);
	return monitor(h, name, cmd, err);
}

int vm_forward_remove(struct vm_host *h, const char *name,
		      const struct vm_forward *f, struct sb_err *err)
{
	autofree char *cmd = NULL;

	if (vm_forward_check(f, err))
		return -1;
	cmd = xasprintf("hostfwd_remove " VM_NETDEV " tcp:%s:%d", f->host_addr,
			f->host_port);
	return monitor(h, name, cmd, err);
}

char *vm_log_path(const struct vm_host *h, const char *name)
{
	return xasprintf("%s/log/qemu/%s.log", h->dir, name);
}
