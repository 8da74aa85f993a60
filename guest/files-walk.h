/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* All that is below a folder.  Blocks: for threads of the pool. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct gitignore;

/*
 * A walk that follows no symlinks.  visit gets each entry; found counts what
 * the caller takes, up to limit.  It ends when more is set, which the deadline
 * does, too.
 */
struct files_walk {
	size_t root_len; /* of what is before relative paths */
	bool hidden, gitignore;
	struct gitignore *ignore; /* of the folder that we are in */
	long long found, limit, seconds;
	int64_t deadline; /* then what was found is all there is */
	bool more;
	void (*visit)(struct files_walk *w, const char *path,
		      const struct stat *st);
};
void files_walk(struct files_walk *w, const char *root);
bool files_walk_is_late(struct files_walk *w);
