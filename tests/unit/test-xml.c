/* SPDX-License-Identifier: Apache-2.0 */
/* The domain XML: what a caller says comes out as data, and only there. */
#include "config.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdlib.h>

#include "common/util.h"
#include "host/vm-private.h"
#include "tests/unit/tap.h"

#define HOSTILE "a'\"<&>]]>&amp;<!--b--> é"

static struct vm_spec sample(void)
{
	return (struct vm_spec){
		.name = "sandbox-1",
		.cpus = 2,
		.memory = 1ull << 30,
		.disk = "/s/disk.qcow2",
		.kernel = "/i/kernel",
		.initrd = "/i/initrd",
		.cmdline = "console=ttyS0",
		.serial_log = "/s/serial.log",
		.control = "/s/control",
		.shares = { { .tag = "shared", .path = "/s/shared" } },
		.nshares = 1,
		.forwards = { { "127.0.0.1", 40000, 22 } },
		.nforwards = 1,
	};
}

/* The string value of an XPath expression over the XML of spec; the caller's.
 * NULL when there is no XML or it does not parse. */
static char *ask(const struct vm_spec *spec, const char *expr)
{
	xmlXPathObjectPtr value = NULL;
	xmlXPathContextPtr ctx = NULL;
	struct sb_err err = { 0 };
	autofree char *xml = vm_xml(spec, &err);
	xmlDocPtr doc;
	char *text = NULL;

	if (!xml) {
		printf("# %s\n", err.msg);
		return NULL;
	}
	doc = xmlReadMemory(xml, (int)strlen(xml), "domain.xml", NULL,
			    XML_PARSE_NONET);
	ctx = doc ? xmlXPathNewContext(doc) : NULL;
	if (ctx) {
		xmlXPathRegisterNs(
			ctx, BAD_CAST "qemu",
			BAD_CAST "http://libvirt.org/schemas/domain/qemu/1.0");
		value = xmlXPathEvalExpression(BAD_CAST expr, ctx);
	}
	if (value) {
		xmlChar *s = xmlXPathCastToString(value);

		text = xstrdup((const char *)s);
		xmlFree(s);
	}
	xmlXPathFreeObject(value);
	xmlXPathFreeContext(ctx);
	xmlFreeDoc(doc);
	return text;
}

static void is_xpath(const struct vm_spec *spec, const char *expr,
		     const char *want, const char *what)
{
	autofree char *got = ask(spec, expr);

	is_str(got, want, what);
}

static void is_refused(const struct vm_spec *spec, enum sb_code code,
		       const char *what)
{
	struct sb_err err = { 0 };
	autofree char *xml = vm_xml(spec, &err);

	ok(!xml && err.code == code && err.msg[0], what);
}

/* Every string field, with what it must come out as. */
static const struct {
	const char *what;
	size_t offset;
	const char *xpath;
} fields[] = {
	/* clang-format off */
	{ "name", offsetof(struct vm_spec, name), "/domain/name" },
	{ "uuid", offsetof(struct vm_spec, uuid), "/domain/uuid" },
	{ "disk", offsetof(struct vm_spec, disk),
	  "/domain/devices/disk/source/@file" },
	{ "kernel", offsetof(struct vm_spec, kernel), "/domain/os/kernel" },
	{ "initrd", offsetof(struct vm_spec, initrd), "/domain/os/initrd" },
	{ "cmdline", offsetof(struct vm_spec, cmdline), "/domain/os/cmdline" },
	{ "serial log", offsetof(struct vm_spec, serial_log),
	  "/domain/devices/serial/source/@path" },
	{ "control socket", offsetof(struct vm_spec, control),
	  "/domain/devices/channel/source/@path" },
	{ "share's tag", offsetof(struct vm_spec, shares[0].tag),
	  "/domain/devices/filesystem/target/@dir" },
	{ "share's path", offsetof(struct vm_spec, shares[0].path),
	  "/domain/devices/filesystem/source/@dir" },
	{ "host key", offsetof(struct vm_spec, ssh_host_key),
	  "substring-after(//qemu:arg[starts-with(@value,"
	  "'name=opt/sandbox/ssh-host-key,')]/@value, ',file=')" },
	{ "authorized keys", offsetof(struct vm_spec, authorized_keys),
	  "substring-after(//qemu:arg[starts-with(@value,"
	  "'name=opt/sandbox/authorized-keys,')]/@value, ',file=')" },
	/* clang-format on */
};

static void set(struct vm_spec *s, size_t offset, const char *value)
{
	memcpy((char *)s + offset, &value, sizeof(value));
}

static void test_hostile(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		struct vm_spec s = sample();

		set(&s, fields[i].offset, HOSTILE);
		is_xpath(&s, fields[i].xpath, HOSTILE, fields[i].what);
		set(&s, fields[i].offset, "a\nb");
		is_refused(&s, SB_INVALID, "control character is refused");
		set(&s, fields[i].offset, "\xff\xfe");
		is_refused(&s, SB_INVALID, "bytes that are no UTF-8 are too");
	}
}

static void test_commas(void)
{
	struct vm_spec s = sample();

	s.ssh_host_key = "/a,b,,c";
	is_xpath(&s,
		 "//qemu:arg[starts-with(@value,"
		 "'name=opt/sandbox/ssh-host-key')]/@value",
		 "name=opt/sandbox/ssh-host-key,file=/a,,b,,,,c",
		 "commas in a QEMU option are doubled");
	s.disk = "/a,b";
	is_xpath(&s, "/domain/devices/disk/source/@file", "/a,b",
		 "commas that libvirt gets are not");
}

static void test_network(void)
{
	static const char netdev[] = "//qemu:arg[starts-with(@value,'user,')]/"
				     "@value";
	struct vm_spec s = sample();

	s.forwards[s.nforwards++] =
		(struct vm_forward){ "127.0.0.2", 40001, 8765 };
	is_xpath(&s, netdev,
		 "user,id=sandboxnet,ipv6=off,restrict=on,"
		 "hostfwd=tcp:127.0.0.1:40000-:22,"
		 "hostfwd=tcp:127.0.0.2:40001-:8765",
		 "forwards of a closed network");
	s.net_open = true;
	s.nforwards = 0;
	is_xpath(&s, netdev, "user,id=sandboxnet,ipv6=off,restrict=off",
		 "an open network");
	is_xpath(&s, "count(//interface)", "0", "libvirt adds no card");
}

static void test_bad_forwards(void)
{
	static const struct vm_forward bad[] = {
		{ "127.0.0.1,guestfwd=tcp:1.2.3.4:1-cmd:x", 1, 1 },
		{ "localhost", 1, 1 },
		{ "::1", 1, 1 },
		{ "", 1, 1 },
		{ NULL, 1, 1 },
		{ "127.0.0.1", 0, 1 },
		{ "127.0.0.1", 65536, 1 },
		{ "127.0.0.1", 1, 0 },
		{ "127.0.0.1", 1, -1 },
	};
	struct vm_spec s = sample();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		s.forwards[0] = bad[i];
		is_refused(&s, SB_INVALID, "bad forward");
	}
}

static void test_shares(void)
{
	struct vm_spec s = sample();

	is_xpath(&s, "/domain/devices/filesystem/@accessmode", "mapped",
		 "owners are kept in xattrs");
	is_xpath(&s, "count(//filesystem/readonly)", "0", "writable share");
	s.shares[1] = (struct vm_share){ .tag = "mount1",
					 .path = "/data",
					 .readonly = true,
					 .no_xattr = true };
	s.nshares = 2;
	is_xpath(&s, "//filesystem[readonly]/source/@dir", "/data",
		 "read-only share");
	is_xpath(&s, "//filesystem[readonly]/@accessmode", "squash",
		 "no xattrs, no owners");
}

static void test_machine(void)
{
	struct vm_spec s = sample();

	is_xpath(&s, "/domain/@type", "qemu", "emulated");
	is_xpath(&s, "/domain/cpu/@mode", "custom", "emulated CPU");
	is_xpath(&s, "/domain/memory[@unit='b']", "1073741824", "memory");
	is_xpath(&s, "/domain/vcpu", "2", "CPUs");
	is_xpath(&s, "//disk/driver[@type='qcow2']/@cache", "unsafe",
		 "a disposable disk");
	is_xpath(&s, "//channel/target/@name", VM_CONTROL_PORT, "channel");
	is_xpath(&s, "count(/domain/genid)", "1", "generation id");
	s.kvm = true;
	s.durable = true;
	is_xpath(&s, "/domain/@type", "kvm", "virtualised");
	is_xpath(&s, "/domain/cpu/@mode", "host-passthrough", "the host's CPU");
	is_xpath(&s, "//disk/driver/@cache", "writeback", "a durable disk");
}

static void test_limits(void)
{
	char control[120];
	struct vm_spec s = sample();

	s.cpus = 0;
	is_refused(&s, SB_INVALID, "no CPU");
	s = sample();
	s.memory = 1 << 20;
	is_refused(&s, SB_INVALID, "too little memory");
	s = sample();
	s.nshares = VM_MAX_SHARES + 1;
	is_refused(&s, SB_LIMIT, "too many shares");
	s = sample();
	s.nforwards = VM_MAX_FORWARDS + 1;
	is_refused(&s, SB_LIMIT, "too many forwards");
	s = sample();
	s.name = "../x";
	is_refused(&s, SB_INVALID, "a name that is a path");
	s = sample();
	s.disk = NULL;
	is_refused(&s, SB_INVALID, "no disk");
	memset(control, 'c', sizeof(control));
	control[sizeof(control) - 1] = '\0';
	s = sample();
	s.control = control;
	is_refused(&s, SB_LIMIT, "a socket path that is too long");
	control[107] = '\0';
	is_xpath(&s, "string-length(//channel/source/@path)", "107",
		 "the longest socket path");
}

int main(void)
{
	test_hostile();
	test_commas();
	test_network();
	test_bad_forwards();
	test_shares();
	test_machine();
	test_limits();
	xmlCleanupParser();
	return tap_done();
}
