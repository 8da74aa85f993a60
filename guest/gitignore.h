/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What .gitignore files leave out, as gitignore(5) has it: patterns, negation,
 * folders only, anchored ones, and files in folders below that come last.
 */

#include <stdbool.h>

/* The rules of a folder, on top of those of the folders above it. */
struct gitignore;

/*
 * The rules for a folder: its own, and those of the folders above it up to the
 * one that has .git, if there is one.  Free with gitignore_leave(), each.
 */
struct gitignore *gitignore_begin(const char *dir);
/* Those of a folder in the one that up is for. */
struct gitignore *gitignore_enter(struct gitignore *up, const char *dir);
/* Back to the folder above; NULL at the end. */
struct gitignore *gitignore_leave(struct gitignore *g);

/* Whether the entry of that path, in the folder of g, is left out. */
bool gitignore_match(const struct gitignore *g, const char *path, bool is_dir);
