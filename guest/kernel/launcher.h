/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/err.h"

/*
 * Jupyter says who started us (JPY_PARENT_PID); when that process ends, so do
 * we: *ret_fd is then readable.  SB_CONFLICT when it has ended already.  One
 * that lives but is not among our ancestors says nothing (-1): its pid is of
 * another namespace, or was inherited.
 */
int launcher_watch(int *ret_fd, struct sb_err *err);
