/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Text in aligned columns. */

#include <stddef.h>
#include <stdio.h>

struct table;

/* The first row; the arguments are ncols strings. */
struct table *table_new(size_t ncols, ...);
void table_free(struct table *t);
/* ncols strings, copied as one line of plain text each; NULL counts as "-". */
void table_row(struct table *t, ...);
/* Print with a bold heading if out is a terminal. */
void table_print(const struct table *t, FILE *out);
