/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which files were made or changed below a folder since a moment.  Both calls
 * block: for threads of the pool, as the sandbox's user (files_enter()).
 */

#include <jansson.h>

#define FILES_CHANGED_MAX_GLOBS 100
#define FILES_CHANGED_MAX_LOOKS 100000

/*
 * Remember how the files are, of the first so many entries.  With globs (NULL:
 * none) only those that match one count; without, hidden ones and what
 * .gitignore names do not.
 */
struct files_moment;
struct files_moment *files_moment_new(const char *root, const json_t *globs,
				      long long looks);
void files_moment_free(struct files_moment *m);

/*
 * Add to an answer: files[{path, size, mtime, mime, created, content?}] and
 * files_truncated, whether there may be more.  Content is there, in base64,
 * while it is small.  No symlink is followed, and only regular files count.
 */
void files_changed(const struct files_moment *m, json_t *answer);
