/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What lifecycle.c, burial.c, watch.c and reconcile.c share. */

#include "host/daemon.h"

/* Write a state to the journal, then tell everybody. */
void lifecycle_enter(struct daemon *d, struct sandbox *sb,
		     enum sandbox_state state, const struct sb_err *cause);

/* It is gone: tell everybody, and free it. */
void lifecycle_forget(struct daemon *d, struct sandbox *sb);

/* Start the timer that its expiry asks for. */
void lifecycle_arm_ttl(struct daemon *d, struct sandbox *sb);

/* What follows a boot; given to boot_start(). */
void lifecycle_booted(struct daemon *d, struct sandbox *sb,
		      const struct sb_err *err);

/* The machine of a sandbox is there no more, unasked. */
void lifecycle_lost(struct daemon *d, struct sandbox *sb, bool crashed,
		    const char *detail);
