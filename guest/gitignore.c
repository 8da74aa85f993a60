/* SPDX-License-Identifier: Apache-2.0 */
/* What .gitignore files leave out. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/gitignore.h"
#include "guest/glob.h"

#define MAX_FILE (64 * 1024)
#define MAX_RULES 1000

struct rule {
	const char *pattern;
	bool again; /* not left out after all */
	bool dir_only, anchored;
};

struct gitignore {
	struct gitignore *up;
	size_t base_len; /* of a path, before what the rules are about */
	char *text;	 /* owns the patterns */
	struct rule *rule;
	size_t nrules;
};

/* A small regular file of that name; what is larger is cut. */
static char *read_small(const char *dir)
{
	autofree char *path = xasprintf("%s/.gitignore", dir);
	autoclose int fd =
		open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	text = xmalloc(MAX_FILE + 1);
	n = read(fd, text, MAX_FILE);
	text[MAX(n, 0)] = '\0';
	return text;
}

static bool parse_rule(char *line, struct rule *ret)
{
	size_t n = strcspn(line, "\r");

	while (n && line[n - 1] == ' ' && (n < 2 || line[n - 2] != '\\'))
		n--;
	line[n] = '\0';
	*ret = (struct rule){ .again = *line == '!' };
	if (*line == '#')
		return false;
	line += ret->again;
	n = strlen(line);
	ret->dir_only = n && line[n - 1] == '/';
	if (ret->dir_only)
		line[--n] = '\0';
	ret->anchored = strchr(line, '/');
	while (*line == '/')
		line++;
	ret->pattern = line;
	return *line && strlen(line) <= GLOB_MAX_PATTERN;
}

struct gitignore *gitignore_enter(struct gitignore *up, const char *dir)
{
	struct gitignore *g = xcalloc(1, sizeof(*g));
	char *rest, *line;

	g->up = up;
	g->base_len = strlen(dir) + !str_ends(dir, "/");
	g->text = rest = read_small(dir);
	while ((line = strsep(&rest, "\n")) && g->nrules < MAX_RULES) {
		struct rule r;

		if (!parse_rule(line, &r))
			continue;
		g->rule = xrealloc(g->rule, g->nrules + 1, sizeof(*g->rule));
		g->rule[g->nrules++] = r;
	}
	return g;
}

struct gitignore *gitignore_leave(struct gitignore *g)
{
	struct gitignore *up = g->up;

	free(g->rule);
	free(g->text);
	free(g);
	return up;
}

/* How long the path of the folder with .git is; 0 if there is none. */
static size_t find_top(const char *dir)
{
	autofree char *path = xstrdup(dir);

	for (;;) {
		autofree char *git = xasprintf("%s/.git", path);
		char *slash = strrchr(path, '/');

		if (access(git, F_OK) == 0)
			return MAX(strlen(path), 1);
		if (!slash || slash == path)
			return 0;
		*slash = '\0';
	}
}

struct gitignore *gitignore_begin(const char *dir)
{
	size_t top = find_top(dir), len = strlen(dir);
	struct gitignore *g = NULL;

	for (size_t i = top; top && i < len; i++)
		if (dir[i] == '/' && dir[i + 1]) {
			autofree char *above = xstrndup(dir, MAX(i, 1));

			g = gitignore_enter(g, above);
		}
	return gitignore_enter(g, dir);
}

static bool matches(const struct rule *r, const char *path, bool is_dir)
{
	if (r->dir_only && !is_dir)
		return false;
	return r->anchored ? glob_match_whole(r->pattern, path)
			   : glob_match(r->pattern, path);
}

bool gitignore_match(const struct gitignore *g, const char *path, bool is_dir)
{
	for (; g; g = g->up)
		for (size_t i = g->nrules; i > 0; i--)
			if (matches(&g->rule[i - 1], path + g->base_len,
				    is_dir))
				return !g->rule[i - 1].again;
	return false;
}
