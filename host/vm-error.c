/* SPDX-License-Identifier: Apache-2.0 */
/* What libvirt and QEMU say, in our words and with the remedy. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/vm-private.h"

static const struct {
	const char *said; /* a part of the message */
	enum sb_code code;
	const char *msg, *hint;
} known[] = {
	/* clang-format off */
	{ "Could not set up host forwarding rule", SB_CONFLICT,
	  "a host port is taken",
	  "choose another port, 0 for a free one, or --auto-ports" },
	{ "Cannot find QEMU binary", SB_MISSING,
	  "QEMU is not installed", "apt-get install qemu-system-x86" },
	{ "unable to find any emulator to serve", SB_MISSING,
	  "QEMU is not installed", "apt-get install qemu-system-x86" },
	{ "could not find capabilities for arch=x86_64", SB_MISSING,
	  "QEMU is not installed", "apt-get install qemu-system-x86" },
	{ "cannot set up guest memory", SB_LIMIT,
	  "the host has not enough free memory",
	  "ask for less with --memory or end other machines" },
	{ "Image is not in qcow2 format", SB_SYSTEM,
	  "the disk image is damaged",
	  "remove the image with 'sandboxctl image rm' and build it again" },
	{ "Image is corrupt", SB_SYSTEM,
	  "the disk image is damaged",
	  "remove the image with 'sandboxctl image rm' and build it again" },
	/* clang-format on */
};

/*
 * The last line of what QEMU said, without time stamp and program name; the
 * caller's.  "internal error: process exited while connecting to monitor:
 * 2026-01-01T00:00:00.000000Z qemu-system-x86_64: -netdev x: Some words".
 */
static char *essence(const char *said)
{
	static const char program[] = "qemu-system-x86_64: ";
	const char *at = said, *next;

	while ((next = strstr(at, program)))
		at = next + strlen(program);
	if (at == said && str_starts(said, "internal error: "))
		at += strlen("internal error: ");
	return xstrndup(at, strcspn(at, "\r\n"));
}

void vm_explain(int libvirt_code, const char *said, struct sb_err *err)
{
	autofree char *core = essence(said);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strstr(said, known[i].said))
			continue;
		sb_fail(err, known[i].code, "%s (%s)", known[i].msg, core);
		sb_hint(err, "%s", known[i].hint);
		return;
	}
	sb_fail(err, SB_SYSTEM, "%s", core);
}

int vm_fail(struct sb_err *err, const char *fmt, ...)
{
	char context[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
	vm_explain(virGetLastErrorCode(), virGetLastErrorMessage(), err);
	return sb_wrap(err, "%s", context);
}
