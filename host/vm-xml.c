/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a struct vm_spec to libvirt's domain XML.
 *
 * libvirt knows no port forwards for user networking, so the network card is
 * the one device that goes through <qemu:commandline>.  libvirt hands out PCI
 * slots from the lowest one up and does not see ours: it sits near the top.
 */
#include "config.h"

#include <arpa/inet.h>
#include <libxml/xmlstring.h>
#include <libxml/xmlwriter.h>
#include <stdarg.h>
#include <string.h>
#include <sys/un.h>

#include "common/util.h"
#include "host/vm-private.h"

#define NET_SLOT "0x1e"
/* SSE4.2 is what today's binaries ask for; AVX and five-level page tables, as
 * in "max", cost more to emulate than they bring. */
#define TCG_MODEL "Nehalem"
#define MEMORY_MIN (32ull << 20)
#define CPUS_MAX 64

struct xml {
	xmlTextWriterPtr w;
	bool failed; /* out of memory, the only way in which it fails */
};

static void xml_check(struct xml *x, int rc)
{
	if (rc < 0)
		x->failed = true;
}

static void xml_begin(struct xml *x, const char *name, va_list attrs)
{
	const char *key, *value;

	xml_check(x, xmlTextWriterStartElement(x->w, BAD_CAST name));
	while ((key = va_arg(attrs, const char *))) {
		value = va_arg(attrs, const char *);
		xml_check(x, xmlTextWriterWriteAttribute(x->w, BAD_CAST key,
							 BAD_CAST value));
	}
}

static void xml_close(struct xml *x)
{
	xml_check(x, xmlTextWriterEndElement(x->w));
}

/* An element with attributes (key, value, ..., NULL) that stays open. */
__attribute__((sentinel)) static void xml_open(struct xml *x, const char *name,
					       ...)
{
	va_list attrs;

	va_start(attrs, name);
	xml_begin(x, name, attrs);
	va_end(attrs);
}

/* The same, closed at once. */
__attribute__((sentinel)) static void xml_leaf(struct xml *x, const char *name,
					       ...)
{
	va_list attrs;

	va_start(attrs, name);
	xml_begin(x, name, attrs);
	va_end(attrs);
	xml_close(x);
}

static void xml_text(struct xml *x, const char *name, const char *text)
{
	xml_check(x, xmlTextWriterWriteElement(x->w, BAD_CAST name,
					       BAD_CAST text));
}

static void xml_number(struct xml *x, const char *name, unsigned long long n)
{
	autofree char *text = xasprintf("%llu", n);

	xml_text(x, name, text);
}

/*
 * XML 1.0 has no way to write most control characters, and no name or path of
 * ours has a reason to hold one.
 */
static int check_text(const char *what, const char *s, struct sb_err *err)
{
	const unsigned char *p;

	if (str_empty(s))
		return sb_fail(err, SB_INVALID, "%s is missing", what);
	for (p = (const unsigned char *)s; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			return sb_fail(err, SB_INVALID,
				       "%s has a control character", what);
	if (!xmlCheckUTF8(BAD_CAST s))
		return sb_fail(err, SB_INVALID, "%s is not UTF-8", what);
	return 0;
}

static int check_optional(const char *what, const char *s, struct sb_err *err)
{
	return s ? check_text(what, s, err) : 0;
}

int vm_forward_check(const struct vm_forward *f, struct sb_err *err)
{
	struct in_addr addr;

	if (!f->host_addr || inet_pton(AF_INET, f->host_addr, &addr) != 1)
		return sb_fail(err, SB_INVALID,
			       "the address of a port forward must be IPv4");
	if (f->host_port < 1 || f->host_port > 65535 || f->guest_port < 1 ||
	    f->guest_port > 65535)
		return sb_fail(err, SB_INVALID,
			       "port forward %d:%d: ports are 1 to 65535",
			       f->host_port, f->guest_port);
	return 0;
}

static int check_lists(const struct vm_spec *s, struct sb_err *err)
{
	size_t i;

	if (s->nshares > VM_MAX_SHARES)
		return sb_fail(err, SB_LIMIT, "at most %d shared folders",
			       VM_MAX_SHARES);
	for (i = 0; i < s->nshares; i++)
		if (check_text("the tag of a share", s->shares[i].tag, err) ||
		    check_text("a shared folder", s->shares[i].path, err))
			return -1;
	if (s->nforwards > VM_MAX_FORWARDS)
		return sb_fail(err, SB_LIMIT, "at most %d port forwards",
			       VM_MAX_FORWARDS);
	for (i = 0; i < s->nforwards; i++)
		if (vm_forward_check(&s->forwards[i], err))
			return -1;
	return 0;
}

static int check_spec(const struct vm_spec *s, struct sb_err *err)
{
	const size_t socket_max = sizeof((struct sockaddr_un *)0)->sun_path - 1;

	if (check_text("the machine's name", s->name, err) ||
	    check_optional("the UUID", s->uuid, err) ||
	    check_text("the disk", s->disk, err) ||
	    check_text("the kernel", s->kernel, err) ||
	    check_text("the initrd", s->initrd, err) ||
	    check_optional("the kernel command line", s->cmdline, err) ||
	    check_text("the serial log", s->serial_log, err) ||
	    check_text("the control socket", s->control, err) ||
	    check_optional("the SSH host key", s->ssh_host_key, err) ||
	    check_optional("the authorized keys", s->authorized_keys, err))
		return -1;
	if (strchr(s->name, '/'))
		return sb_fail(err, SB_INVALID,
			       "a machine's name must not hold '/'");
	if (s->cpus < 1 || s->cpus > CPUS_MAX)
		return sb_fail(err, SB_INVALID, "%d CPUs: 1 to %d are possible",
			       s->cpus, CPUS_MAX);
	if (s->memory < MEMORY_MIN)
		return sb_fail(err, SB_INVALID,
			       "a machine needs at least %llu MiB of memory",
			       MEMORY_MIN >> 20);
	if (strlen(s->control) > socket_max) {
		sb_fail(err, SB_LIMIT,
			"the control socket's path is longer than %zu bytes",
			socket_max);
		return sb_hint(err, "use a state folder with a shorter path");
	}
	return check_lists(s, err);
}

static void put_boot(struct xml *x, const struct vm_spec *s)
{
	xml_open(x, "os", NULL);
	xml_open(x, "type", "arch", "x86_64", "machine", "pc", NULL);
	xml_check(x, xmlTextWriterWriteString(x->w, BAD_CAST "hvm"));
	xml_close(x);
	xml_text(x, "kernel", s->kernel);
	xml_text(x, "initrd", s->initrd);
	if (s->cmdline)
		xml_text(x, "cmdline", s->cmdline);
	xml_close(x);
}

static void put_cpu(struct xml *x, const struct vm_spec *s)
{
	xml_open(x, "features", NULL);
	xml_leaf(x, "acpi", NULL);
	xml_leaf(x, "apic", NULL);
	xml_close(x);

	if (s->kvm) {
		xml_leaf(x, "cpu", "mode", "host-passthrough", "check", "none",
			 NULL);
		return;
	}
	xml_open(x, "cpu", "mode", "custom", "match", "exact", "check", "none",
		 NULL);
	xml_open(x, "model", "fallback", "forbid", NULL);
	xml_check(x, xmlTextWriterWriteString(x->w, BAD_CAST TCG_MODEL));
	xml_close(x);
	xml_close(x);
}

static void put_disk(struct xml *x, const struct vm_spec *s)
{
	xml_open(x, "disk", "type", "file", "device", "disk", NULL);
	xml_leaf(x, "driver", "name", "qemu", "type", "qcow2", "cache",
		 s->durable ? "writeback" : "unsafe", "discard", "unmap", NULL);
	xml_leaf(x, "source", "file", s->disk, NULL);
	xml_leaf(x, "target", "dev", "vda", "bus", "virtio", NULL);
	xml_close(x);
}

static void put_share(struct xml *x, const struct vm_share *share)
{
	/* Owners and modes that the guest sets live in xattrs of the host's
	 * files, which themselves stay QEMU's, 0644 and 0755. */
	if (share->no_xattr)
		xml_open(x, "filesystem", "type", "mount", "accessmode",
			 "squash", "multidevs", "remap", NULL);
	else
		xml_open(x, "filesystem", "type", "mount", "accessmode",
			 "mapped", "multidevs", "remap", "fmode", "0644",
			 "dmode", "0755", NULL);
	xml_leaf(x, "source", "dir", share->path, NULL);
	xml_leaf(x, "target", "dir", share->tag, NULL);
	if (share->readonly)
		xml_leaf(x, "readonly", NULL);
	xml_close(x);
}

static void put_devices(struct xml *x, const struct vm_spec *s)
{
	size_t i;

	xml_open(x, "devices", NULL);
	put_disk(x, s);
	xml_leaf(x, "controller", "type", "usb", "model", "none", NULL);
	for (i = 0; i < s->nshares; i++)
		put_share(x, &s->shares[i]);

	xml_open(x, "serial", "type", "file", NULL);
	xml_leaf(x, "source", "path", s->serial_log, "append", "on", NULL);
	xml_leaf(x, "target", "port", "0", NULL);
	xml_close(x);

	xml_open(x, "channel", "type", "unix", NULL);
	xml_leaf(x, "source", "mode", "bind", "path", s->control, NULL);
	xml_leaf(x, "target", "type", "virtio", "name", VM_CONTROL_PORT, NULL);
	xml_close(x);

	xml_open(x, "rng", "model", "virtio", NULL);
	xml_leaf(x, "backend", "model", "builtin", NULL);
	xml_close(x);
	xml_leaf(x, "memballoon", "model", "none", NULL);
	/* Tells of a panic where the guest's kernel has pvpanic. */
	xml_leaf(x, "panic", "model", "isa", NULL);
	xml_close(x);
}

static void put_qemu_arg(struct xml *x, const char *arg)
{
	xml_leaf(x, "qemu:arg", "value", arg, NULL);
}

/* A value within a QEMU option, where a comma ends it and two mean one. */
static void add_value(struct buf *b, const char *value)
{
	for (; *value; value++) {
		if (*value == ',')
			buf_add(b, ",", 1);
		buf_add(b, value, 1);
	}
}

/* <sysinfo type='fwcfg'> would do, but leaves commas in paths as they are. */
static void put_fw_cfg(struct xml *x, const char *name, const char *path)
{
	autobuf struct buf arg = { 0 };

	if (!path)
		return;
	buf_addf(&arg, "name=%s,file=", name);
	add_value(&arg, path);
	put_qemu_arg(x, "-fw_cfg");
	put_qemu_arg(x, arg.p);
}

static void put_network(struct xml *x, const struct vm_spec *s)
{
	autobuf struct buf net = { 0 };
	size_t i;

	buf_addf(&net, "user,id=" VM_NETDEV ",ipv6=off,restrict=%s",
		 s->net_open ? "off" : "on");
	for (i = 0; i < s->nforwards; i++)
		buf_addf(&net, ",hostfwd=tcp:%s:%d-:%d",
			 s->forwards[i].host_addr, s->forwards[i].host_port,
			 s->forwards[i].guest_port);

	put_qemu_arg(x, "-netdev");
	put_qemu_arg(x, net.p);
	put_qemu_arg(x, "-device");
	put_qemu_arg(x, "virtio-net-pci,netdev=" VM_NETDEV
			",bus=pci.0,addr=" NET_SLOT ",romfile=");
}

static void put_domain(struct xml *x, const struct vm_spec *s)
{
	xml_open(x, "domain", "type", s->kvm ? "kvm" : "qemu", "xmlns:qemu",
		 "http://libvirt.org/schemas/domain/qemu/1.0", NULL);
	xml_text(x, "name", s->name);
	if (s->uuid)
		xml_text(x, "uuid", s->uuid);
	xml_leaf(x, "genid", NULL);
	xml_open(x, "memory", "unit", "b", NULL);
	xml_check(x, xmlTextWriterWriteFormatString(x->w, "%llu", s->memory));
	xml_close(x);
	xml_number(x, "vcpu", s->cpus);
	put_boot(x, s);
	put_cpu(x, s);
	xml_leaf(x, "clock", "offset", "utc", NULL);
	xml_text(x, "on_poweroff", "destroy");
	xml_text(x, "on_reboot", "restart");
	xml_text(x, "on_crash", "destroy");
	put_devices(x, s);
	xml_open(x, "qemu:commandline", NULL);
	put_network(x, s);
	put_fw_cfg(x, "opt/sandbox/ssh-host-key", s->ssh_host_key);
	put_fw_cfg(x, "opt/sandbox/authorized-keys", s->authorized_keys);
	xml_close(x);
	xml_close(x);
}

char *vm_xml(const struct vm_spec *spec, struct sb_err *err)
{
	xmlBufferPtr out;
	struct xml x = { 0 };
	char *text = NULL;

	if (check_spec(spec, err))
		return NULL;
	out = xmlBufferCreate();
	x.w = out ? xmlNewTextWriterMemory(out, 0) : NULL;
	if (x.w) {
		put_domain(&x, spec);
		xml_check(&x, xmlTextWriterFlush(x.w));
		xmlFreeTextWriter(x.w);
		if (!x.failed)
			text = xstrdup((const char *)xmlBufferContent(out));
	}
	xmlBufferFree(out);
	if (!text)
		sb_fail(err, SB_SYSTEM, "no memory for the machine's XML");
	return text;
}
