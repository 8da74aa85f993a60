/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* After a daemon that was killed: adopt the living, bury the dead. */

#include "host/daemon.h"

/*
 * Read all journals, ask libvirt what runs, and go on from there.  Blocking;
 * called once, before the daemon serves anybody.
 */
int reconcile(struct daemon *d, struct sb_err *err);
