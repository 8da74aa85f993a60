/* SPDX-License-Identifier: Apache-2.0 */
/* What libvirt and QEMU say, in our words and with the remedy. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/vm-private.h"

/* The first entry whose words occur in the message is taken. */
static const struct {
	const char *said;
	enum sb_code code;
	const char *msg, *hint;
} known[] = {
	/* clang-format off */
	{ "Could not set up host forwarding rule", SB_CONFLICT,
	  "a host port is taken",
	  "choose another port, 0 for a free one, or --auto-ports" },
	{ "No emulator found", SB_MISSING,
	  "QEMU is not installed", "apt-get install qemu-system-x86" },
	{ "no connection driver available", SB_MISSING,
	  "libvirt's QEMU driver is not installed",
	  "apt-get install libvirt-daemon-driver-qemu" },
	{ "Failed to parse user", SB_MISSING,
	  "libvirt needs the user libvirt-qemu, even where another is chosen",
	  "adduser --system --group --no-create-home --uid 64055 libvirt-qemu" },
	{ "Failed to parse group", SB_MISSING,
	  "libvirt needs the group libvirt-qemu, even where another is chosen",
	  "addgroup --system --gid 64055 libvirt-qemu" },
	{ "already exists with uuid", SB_CONFLICT,
	  "a machine of that name runs already", "end it with sandboxctl down" },
	{ "cannot set up guest memory", SB_LIMIT,
	  "the host has not enough free memory",
	  "ask for less with --memory, or end other machines" },
	{ "Image is not in qcow2 format", SB_INVALID,
	  "the disk image is damaged",
	  "remove it with 'sandboxctl image rm' and build it again" },
	{ "mage is corrupt", SB_INVALID,
	  "the disk image is damaged",
	  "remove it with 'sandboxctl image rm' and build it again" },
	{ "No space left on device", SB_NOSPACE,
	  "the host's disk is full", "make room in the state folder" },
	{ "Permission denied", SB_DENIED,
	  "QEMU's user may not open a file",
	  "let that user read the file and pass through the folders above it" },
	{ "No such file or directory", SB_NOTFOUND,
	  "a file that the machine needs is missing",
	  "if it belongs to an image, build that image again" },
	/* clang-format on */
};

/*
 * What QEMU said, without time stamp, program name and the option that it
 * repeats; the caller's.  "internal error: process exited while connecting to
 * monitor: 2026-01-01T00:00:00.0Z qemu-system-x86_64: -netdev x: Some words".
 */
static char *essence(const char *said)
{
	static const char program[] = "qemu-system-x86_64: ";
	static const char internal[] = "internal error: ";
	const char *at = said, *next;

	while ((next = strstr(at, program)))
		at = next + strlen(program);
	if (*at == '-' && (next = strstr(at, ": ")))
		at = next + 2;
	if (str_starts(at, internal))
		at += strlen(internal);
	return xstrndup(at, strcspn(at, "\r\n"));
}

int vm_explain(const char *said, struct sb_err *err)
{
	autofree char *core = essence(said);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strstr(core, known[i].said))
			continue;
		sb_fail(err, known[i].code, "%s (%s)", known[i].msg, core);
		return sb_hint(err, "%s", known[i].hint);
	}
	return sb_fail(err, SB_SYSTEM, "%s", core);
}

int vm_fail(struct sb_err *err, const char *fmt, ...)
{
	char context[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
	vm_explain(virGetLastErrorMessage(), err);
	return sb_wrap(err, "%s", context);
}
