/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How code of a language is run: one entry of configs/guest/languages.yaml. */

#include <jansson.h>

#include "common/err.h"

/* Strings are borrowed from table. */
struct toolchain {
	json_t *table;
	const char *name, *extension, *compile, *run, *image;
	const char *kernel; /* specification of one that keeps state, or NULL */
	const json_t *needs; /* names of programs */
};

/*
 * The entry for a language, by name or alias, from a table in JSON.
 * SB_INVALID naming those that there are.
 */
int toolchain_load(const char *path, const char *language,
		   struct toolchain *ret, struct sb_err *err);
void toolchain_done(struct toolchain *tc);
