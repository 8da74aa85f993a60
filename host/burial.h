/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The end of a sandbox: machine, files and ports go, on a thread. */

#include "host/daemon.h"

/*
 * Begin.  sb must not be busy and is in a state that says it ends.  Afterwards
 * it is stopped (preserved and not purged) or gone and freed.
 */
void burial_start(struct daemon *d, struct sandbox *sb);
