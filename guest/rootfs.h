/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The root file system grows to the size of its disk. */

#include "common/err.h"

/*
 * Grow the ext4 on device to the whole of it if it is mounted on "/" and the
 * device is larger.  *ret_mib is by how much, 0 when there was nothing to do.
 * Takes a while: not for the loop's thread.
 */
int rootfs_grow(const char *device, long long *ret_mib, struct sb_err *err);
