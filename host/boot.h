/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Bringing a sandbox up, on a thread of its own: files, disk, ports, machine,
 * then the guest: hello, install if it must be, personalise, health.
 */

#include "host/daemon.h"

enum boot_from {
	BOOT_CREATE, /* nothing exists but the journal */
	BOOT_START,  /* the disk exists, the machine does not */
	BOOT_ATTACH, /* the machine runs: adopted, or it rebooted itself */
};

/*
 * Begin.  sb is busy until done() is called on the loop's thread, with err NULL
 * if the sandbox is up.  On failure no machine is left running.
 */
void boot_start(struct daemon *d, struct sandbox *sb, enum boot_from from,
		void (*done)(struct daemon *d, struct sandbox *sb,
			     const struct sb_err *err));
