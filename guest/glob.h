/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Patterns for paths. */

#include <stdbool.h>

#define GLOB_MAX_PATTERN 1000

/*
 * Whether a relative path matches: *, ? and [] within a name, a name of ** for
 * any number of folders.  A pattern without a slash is for the last name, in
 * any folder.
 */
bool glob_match(const char *pattern, const char *path);

/* The same, but one without a slash is for a path of one name. */
bool glob_match_whole(const char *pattern, const char *path);
