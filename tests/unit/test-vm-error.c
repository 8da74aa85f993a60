/* SPDX-License-Identifier: Apache-2.0 */
/* What libvirt and QEMU say becomes a code, a sentence and a remedy. */
#include "config.h"

#include "host/vm-private.h"
#include "tests/unit/tap.h"

#define QEMU_SAID                                                      \
	"internal error: process exited while connecting to monitor: " \
	"2026-01-31T12:00:00.000001Z qemu-system-x86_64: "

static void test_known(void)
{
	struct sb_err err = { 0 };

	vm_explain(QEMU_SAID "-netdev user,id=n,hostfwd=tcp:127.0.0.1:80-:1: "
			     "Could not set up host forwarding rule "
			     "'tcp:127.0.0.1:80-:1'\n",
		   &err);
	is_int(err.code, SB_CONFLICT, "port taken: code");
	is_str(err.msg,
	       "a host port is taken (Could not set up host forwarding rule "
	       "'tcp:127.0.0.1:80-:1')",
	       "port taken: QEMU's option is left out, its reason is not");
	ok(strstr(err.hint, "--auto-ports"), "port taken: remedy");

	vm_explain(QEMU_SAID "-blockdev {\"driver\":\"file\"}: Could not open "
			     "'/s/disk.qcow2': Permission denied",
		   &err);
	is_int(err.code, SB_DENIED, "permission");
	ok(strstr(err.msg, "/s/disk.qcow2"), "permission: names the file");

	vm_explain("Cannot access backing file '/i/root.qcow2' of storage file "
		   "'/s/disk.qcow2' (as uid:1, gid:1): No such file or "
		   "directory",
		   &err);
	is_int(err.code, SB_NOTFOUND, "base image missing");

	vm_explain(QEMU_SAID "-blockdev {}: Image is not in qcow2 format",
		   &err);
	is_int(err.code, SB_INVALID, "damaged image");

	vm_explain("unsupported configuration: No emulator found for arch "
		   "'x86_64'",
		   &err);
	is_int(err.code, SB_MISSING, "no QEMU");
	ok(strstr(err.hint, "qemu-system-x86"), "no QEMU: remedy");
}

static void test_unknown(void)
{
	struct sb_err err = { 0 };

	vm_explain("internal error: some words\nmore", &err);
	is_int(err.code, SB_SYSTEM, "unknown: code");
	is_str(err.msg, "some words", "unknown: its first line");
	is_str(err.hint, "", "unknown: no remedy");
	vm_explain("", &err);
	is_str(err.msg, "", "nothing said");
}

int main(void)
{
	test_known();
	test_unknown();
	return tap_done();
}
