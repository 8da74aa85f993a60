/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Ports of the host.  Between the moment in which a port is chosen and the one
 * in which QEMU listens on it, it is ours by agreement only: within this
 * process a table keeps two boots from choosing the same one.  Thread-safe.
 */

#include <stdbool.h>

#include "common/err.h"

/*
 * Reserve port on addr (0: any free one).  If it is busy: with fallback another
 * one is chosen, else SB_CONFLICT.
 */
int ports_reserve(const char *addr, int port, bool fallback, int *ret_port,
		  struct sb_err *err);

/* Mark a port that a running sandbox has. */
void ports_adopt(int port);
void ports_release(int port);
