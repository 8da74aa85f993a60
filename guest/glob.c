/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns for paths. */
#include "config.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "guest/glob.h"

#define MAX_NAMES 256

struct names_of {
	char *text;
	const char *name[MAX_NAMES];
	size_t n;
};

static bool split(const char *path, struct names_of *ret)
{
	char *rest, *s;

	ret->n = 0;
	ret->text = rest = xstrdup(path);
	while ((s = strsep(&rest, "/"))) {
		if (!*s)
			continue;
		if (ret->n == MAX_NAMES)
			return false;
		ret->name[ret->n++] = s;
	}
	return true;
}

/*
 * Row by row over the pattern's names: row[j] says whether the names so far
 * match the first j of the path.  Time is bounded by both lengths, where
 * trying each ** in turn is not.
 */
static bool match_names(const struct names_of *pattern,
			const struct names_of *path)
{
	bool row[MAX_NAMES + 1] = { true };

	for (size_t i = 0; i < pattern->n; i++) {
		bool any = strcmp(pattern->name[i], "**") == 0;
		bool diagonal = row[0];

		row[0] = any && row[0];
		for (size_t j = 1; j <= path->n; j++) {
			bool above = row[j];

			row[j] = any ? above || row[j - 1]
				     : diagonal && fnmatch(pattern->name[i],
							   path->name[j - 1],
							   0) == 0;
			diagonal = above;
		}
	}
	return row[path->n];
}

bool glob_match_whole(const char *pattern, const char *path)
{
	struct names_of a, b = { 0 };
	bool r;

	r = split(pattern, &a) && split(path, &b) && match_names(&a, &b);
	free(a.text);
	free(b.text);
	return r;
}

bool glob_match(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!strchr(pattern, '/') && strcmp(pattern, "**") != 0)
		return fnmatch(pattern, slash ? slash + 1 : path, 0) == 0;
	return glob_match_whole(pattern, path);
}
