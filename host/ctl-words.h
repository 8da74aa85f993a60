/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The command line of another program in the making. */

#include <stddef.h>

struct words {
	char **v; /* ends with NULL; each word is owned */
	size_t n;
};

void words_add(struct words *w, const char *s);
void words_add2(struct words *w, const char *option, const char *value);
void words_add_all(struct words *w, char *const *v); /* NULL ends */
void words_done(struct words *w);
#define autowords __attribute__((cleanup(words_done)))
