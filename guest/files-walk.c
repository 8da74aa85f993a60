/* SPDX-License-Identifier: Apache-2.0 */
/* All that is below a folder. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/util.h"
#include "guest/files-names.h"
#include "guest/files-walk.h"
#include "guest/gitignore.h"

#define MAX_DEPTH 64

bool files_walk_is_late(struct files_walk *w)
{
	w->more = w->more || clock_ms() >= w->deadline;
	return w->more;
}

/* Whether the name or a .gitignore keeps it from being looked at. */
static bool is_left_out(const struct files_walk *w, const char *name,
			const char *path, const struct stat *st)
{
	if (!w->hidden && name[0] == '.')
		return true;
	return w->gitignore &&
	       (strcmp(name, ".git") == 0 ||
		gitignore_match(w->ignore, path, S_ISDIR(st->st_mode)));
}

static void walk_folder(struct files_walk *w, const char *dir, int depth)
{
	struct names names = { 0 };
	struct sb_err err;
	struct stat st;

	if (depth == MAX_DEPTH)
		return;
	/* What cannot be read is as if it were not there. */
	if (names_read(&names, dir, &err) < 0) {
		w->more = w->more || err.code == SB_LIMIT;
		return;
	}
	if (w->gitignore)
		w->ignore = depth ? gitignore_enter(w->ignore, dir)
				  : gitignore_begin(dir);
	for (size_t i = 0; i < names.n && !files_walk_is_late(w); i++) {
		autofree char *path = xasprintf("%s%s%s", dir,
						str_ends(dir, "/") ? "" : "/",
						names.name[i]);

		if (lstat(path, &st) < 0 ||
		    is_left_out(w, names.name[i], path, &st))
			continue;
		w->visit(w, path, &st);
		if (S_ISDIR(st.st_mode))
			walk_folder(w, path, depth + 1);
	}
	if (w->gitignore)
		w->ignore = gitignore_leave(w->ignore);
	names_done(&names);
}

/* All of them: also those of the folders above where we began. */
void files_walk(struct files_walk *w, const char *root)
{
	walk_folder(w, root, 0);
	while (w->ignore)
		w->ignore = gitignore_leave(w->ignore);
}
