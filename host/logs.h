/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The logs of a sandbox: they are files on the host, so they can be read when
 * the guest is dead.  The guest writes most of them: their size is bounded here
 * and their names are not trusted.
 */

#include "common/log-read.h"
#include "host/daemon.h"

/* Open one; source is "serial", "guestd", "kernel" or "qemu". */
struct logs;
int logs_open(struct daemon *d, const struct sandbox *sb, const char *source,
	      struct logs **ret, struct sb_err *err);
void logs_close(struct logs *l);
struct log_reader *logs_reader(const struct logs *l);

/*
 * Answer with the log from where its reader is, then with what is added to it
 * until the client leaves or logs_end().
 */
void logs_follow(struct daemon *d, const struct sandbox *sb,
		 struct http_req *req /* takes */, struct logs *l /* takes */);

/* The sandbox writes no more: those who follow its logs get the rest. */
void logs_end(struct daemon *d, const char *id);

/* Keep the serial log below its limit from now on, and stop that. */
void logs_guard(struct daemon *d, struct sandbox *sb);
void logs_unguard(struct sandbox *sb);
