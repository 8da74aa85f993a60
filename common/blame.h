/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Errors in which a guest had a say. */

#include <stddef.h>

#include "common/err.h"

/* Make a message harmless for a terminal. */
void blame_clean(struct sb_err *err);

/* The first words of a command on stderr, and the error that they tell. */
struct blame {
	size_t len;
	char text[1024];
};
void blame_hear(struct blame *b, const char *data, size_t len);
int blame_fail(const struct blame *b, const char *what, struct sb_err *err);
