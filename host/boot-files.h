/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A sandbox's files and what is made of them for the machine and the guest.
 *
 *   DIR/journal   DIR/token
 *   DIR/ssh/      our key pair for the guest, and the guest's host key
 *   DIR/vm/       QEMU's own: disk, serial log, control socket, boot files
 *   DIR/share/    the guest's /shared
 *   DIR/kernels/  connection files, of sandboxctl; none when it is stopped
 *
 * Blocking; for a boot's thread.
 */

#include <jansson.h>

#include "host/sandbox.h"

/* Make all of them but the journal.  The folder exists. */
int boot_make_files(struct sandbox *sb, const struct image *img,
		    const struct vm_host *vm, struct sb_err *err);

/* A known_hosts file for OpenSSH's client, now that the port is known. */
int boot_write_known_hosts(const struct sandbox *sb, struct sb_err *err);

/* Start the machine from the files. */
int boot_start_machine(const struct sandbox *sb, struct vm_host *vm,
		       struct sb_err *err);

/* The message that makes the guest this sandbox. */
json_t *boot_personal_json(const struct sandbox *sb);
