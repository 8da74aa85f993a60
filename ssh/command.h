/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A channel on which a command runs. */

#include <libssh/callbacks.h>

#include "ssh/session.h"
#include "common/tty.h"

/*
 * Ask the guest to run a command, in a pty if tty is not NULL.  callbacks are
 * borrowed until command_end().
 */
int command_start(struct ssh *s, const char *command, const struct tty *tty,
		  struct ssh_channel_callbacks_struct *callbacks,
		  int64_t deadline, ssh_channel *ret, struct sb_err *err);
void command_end(ssh_channel channel,
		 struct ssh_channel_callbacks_struct *callbacks);

/* What a shell would say of a command that a signal of that name ended. */
int command_signal_status(const char *name);
