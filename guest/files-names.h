/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The names in a folder, sorted. */

#include <stddef.h>

#include "common/err.h"

struct names {
	char **name;
	size_t n;
};
/* All but "." and "..".  SB_LIMIT when there are too many to hold. */
int names_read(struct names *ret, const char *dir, struct sb_err *err);
void names_done(struct names *names);
