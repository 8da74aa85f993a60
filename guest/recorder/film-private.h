/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What film*.c share. */

#include "common/err.h"

/* What libav's rc says about what we did; -1. */
int film_fail(struct sb_err *err, int rc, const char *what);
