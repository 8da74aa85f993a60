/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The logs of a sandbox: they are files on the host, so they can be read when
 * the guest is dead.  The guest writes two of them: their size is bounded here
 * and their names are not trusted.
 */

#include "host/daemon.h"

/* Open one; source is "serial", "guestd" or "qemu". */
int logs_open(struct daemon *d, const struct sandbox *sb, const char *source,
	      int *ret_fd, char **ret_path, struct sb_err *err);

/* The offset at which the last n lines of a file begin. */
off_t logs_tail(int fd, long long n);

/*
 * Answer with the log from offset on, then with what is added to it until the
 * client leaves or logs_end().
 */
void logs_follow(struct daemon *d, const struct sandbox *sb,
		 struct http_req *req /* takes */, int fd /* takes */,
		 const char *path, off_t offset);

/* The sandbox writes no more: those who follow its logs get the rest. */
void logs_end(struct daemon *d, const char *id);

/* Keep the serial log below its limit from now on, and stop that. */
void logs_guard(struct daemon *d, struct sandbox *sb);
void logs_unguard(struct sandbox *sb);
