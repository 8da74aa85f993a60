/* SPDX-License-Identifier: Apache-2.0 */
/* The names in a folder, sorted. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "guest/files-names.h"
#include "guest/files.h"

#define MAX_NAMES 200000

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct names *names, const char *name)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	if (names->n == MAX_NAMES)
		return -1;
	if ((names->n & (names->n - 1)) == 0)
		names->name = xrealloc(names->name, MAX(2 * names->n, 16),
				       sizeof(*names->name));
	names->name[names->n++] = xstrdup(name);
	return 0;
}

int names_read(struct names *ret, const char *dir, struct sb_err *err)
{
	struct names names = { 0 };
	struct dirent *e;
	DIR *d = opendir(dir);
	int rc = 0;

	if (!d)
		return files_fail(err, "list", dir);
	while (rc == 0 && (e = readdir(d)))
		rc = add_name(&names, e->d_name);
	closedir(d);
	if (rc < 0) {
		names_done(&names);
		return sb_fail(err, SB_LIMIT, "'%s' has more than %d entries",
			       dir, MAX_NAMES);
	}
	if (names.n)
		qsort(names.name, names.n, sizeof(*names.name), by_name);
	*ret = names;
	return 0;
}

void names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct names){ 0 };
}
