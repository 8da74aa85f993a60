/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A folder for the files of a test, removed when the test ends. */

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/util.h"

static char scratch_dir[] = "/tmp/sandbox-test-XXXXXX";

static void scratch_remove(void)
{
	fs_remove_tree(scratch_dir, NULL);
}

static inline void scratch_init(void)
{
	if (!mkdtemp(scratch_dir))
		abort();
	atexit(scratch_remove);
}

/* Write a file and return its path, which is the caller's. */
static inline char *scratch_file(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", scratch_dir, name);

	if (fs_write_atomic(path, text, strlen(text), 0600, NULL) < 0)
		abort();
	return path;
}
