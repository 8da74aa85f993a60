/* SPDX-License-Identifier: Apache-2.0 */
/* Finding files by name, and lines by what is in them. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "guest/files-walk.h"
#include "guest/files.h"
#include "guest/glob.h"

#define DEFAULT_RESULTS 1000
#define MAX_LINE (64 * 1024) /* a longer one is no text */
#define SHOWN_LINE 1000
#define MAX_TEXT (4 * 1024 * 1024) /* in one answer */
#define DEFAULT_SECONDS 30
#define MAX_REPEAT 4096 /* a{9}{9}{9}… needs memory for each */

static int parse_walk(struct files_walk *w, const char *root,
		      const json_t *args, struct sb_err *err)
{
	w->root_len = strlen(root) + !str_ends(root, "/");
	w->limit = DEFAULT_RESULTS;
	w->seconds = DEFAULT_SECONDS;
	w->gitignore = true;
	if (files_arg_bool(args, "hidden", &w->hidden, err) < 0 ||
	    files_arg_bool(args, "gitignore", &w->gitignore, err) < 0 ||
	    files_arg_int(args, "timeout", 0, FILES_MAX_SECONDS, &w->seconds,
			  err) < 0 ||
	    files_arg_int(args, "limit", 1, FILES_MAX_FOUND, &w->limit, err) <
		    0)
		return -1;
	w->deadline = clock_ms() + w->seconds * 1000;
	return 0;
}

static int need_folder(const char *path, struct stat *ret, struct sb_err *err)
{
	if (stat(path, ret) < 0)
		return files_fail(err, "search", path);
	if (!S_ISDIR(ret->st_mode)) {
		errno = ENOTDIR;
		return files_fail(err, "search", path);
	}
	return 0;
}

struct glob {
	struct files_walk walk;
	const char *pattern;
	json_t *entries;
};

static void visit_glob(struct files_walk *w, const char *path,
		       const struct stat *st)
{
	struct glob *g = (struct glob *)w;

	if (!glob_match(g->pattern, path + w->root_len))
		return;
	if (w->found == w->limit) {
		w->more = true;
		return;
	}
	w->found++;
	json_array_append_new(g->entries, files_entry(path, st));
}

int files_glob(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	struct glob g = { .walk.visit = visit_glob };
	struct stat st;

	if (parse_walk(&g.walk, c->path, c->args, err) < 0 ||
	    json_get_str(c->args, "pattern", &g.pattern, err) < 0)
		return -1;
	if (str_empty(g.pattern) || strlen(g.pattern) > GLOB_MAX_PATTERN)
		return sb_fail(err, SB_INVALID,
			       "'pattern' is missing or longer than %d bytes",
			       GLOB_MAX_PATTERN);
	if (need_folder(c->path, &st, err) < 0)
		return -1;
	/* A pattern may be absolute, too. */
	if (strncmp(g.pattern, c->path, strlen(c->path)) == 0 &&
	    strlen(g.pattern) > g.walk.root_len &&
	    g.pattern[g.walk.root_len - 1] == '/')
		g.pattern += g.walk.root_len;
	g.entries = json_array();
	files_walk(&g.walk, c->path);
	*ret = json_pack("{s:o, s:b}", "entries", g.entries, "truncated",
			 g.walk.more);
	files_put_name(*ret, "path", c->path);
	return 0;
}

struct grep {
	struct files_walk walk;
	regex_t re;
	const char *include;
	long long context;
	json_t *matches;
	size_t text; /* bytes in matches */
	long long files;
};

/* The last lines of a file, for the context before a match. */
struct recent {
	char *line[FILES_MAX_CONTEXT];
	size_t n;
};

static void recent_add(struct recent *r, const char *line, size_t max)
{
	if (!max)
		return;
	if (r->n == max) {
		free(r->line[0]);
		memmove(r->line, r->line + 1, --r->n * sizeof(*r->line));
	}
	r->line[r->n++] = xstrndup(line, SHOWN_LINE);
}

static json_t *recent_json(const struct recent *r, size_t *text)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n; i++) {
		json_array_append_new(list, json_str(r->line[i]));
		*text += strlen(r->line[i]);
	}
	return list;
}

static void add_match(struct grep *g, const char *path, long long number,
		      const char *line, const struct recent *before)
{
	json_t *m = json_object();

	files_put_name(m, "path", path);
	json_put(m, "line", json_integer(number));
	json_put(m, "text", json_text(line, strnlen(line, SHOWN_LINE)));
	if (g->context) {
		json_put(m, "before", recent_json(before, &g->text));
		json_put(m, "after", json_array());
	}
	g->text += strlen(path) + strnlen(line, SHOWN_LINE);
	json_array_append_new(g->matches, m);
}

/* The context behind the matches that came within the last lines. */
static void add_after(struct grep *g, size_t first, long long number,
		      const char *line)
{
	for (size_t i = json_array_size(g->matches); i > first; i--) {
		json_t *m = json_array_get(g->matches, i - 1);

		if (json_int_or(m, "line", 0) + g->context < number)
			return;
		g->text += strnlen(line, SHOWN_LINE);
		json_array_append_new(
			json_object_get(m, "after"),
			json_text(line, strnlen(line, SHOWN_LINE)));
	}
}

/* Reads a line without its end; false at the end and in what is no text. */
static bool next_line(FILE *f, char line[MAX_LINE])
{
	size_t n;

	if (!fgets(line, MAX_LINE, f))
		return false;
	n = strcspn(line, "\n");
	if (line[n] != '\n' && !feof(f))
		return false; /* a NUL, or too long */
	line[n] = '\0';
	return true;
}

static void search(struct grep *g, FILE *f, const char *path)
{
	size_t first = json_array_size(g->matches);
	struct recent before = { 0 };
	char *line = xmalloc(MAX_LINE);

	for (long long number = 1; next_line(f, line); number++) {
		bool hit = !(number % 64 == 0 ? files_walk_is_late(&g->walk)
					      : g->walk.more) &&
			   regexec(&g->re, line, 0, NULL, 0) == 0;

		if (g->context)
			add_after(g, first, number, line);
		if (hit &&
		    (g->walk.found == g->walk.limit || g->text > MAX_TEXT))
			g->walk.more = true;
		else if (hit && ++g->walk.found)
			add_match(g, path, number, line, &before);
		recent_add(&before, line, g->context);
		if (g->walk.more && !g->context)
			break;
	}
	for (size_t i = 0; i < before.n; i++)
		free(before.line[i]);
	free(line);
}

static bool has_nul(FILE *f)
{
	char block[4096];
	size_t n = fread(block, 1, sizeof(block), f);

	rewind(f);
	return memchr(block, '\0', n);
}

static void search_file(struct grep *g, const char *path)
{
	struct sb_err err;
	struct stat st;
	FILE *f;
	int fd;

	if (files_open(path, &fd, &st, &err) < 0)
		return;
	f = fdopen(fd, "re");
	if (!f)
		abort(); /* out of memory */
	g->files++;
	if (!has_nul(f))
		search(g, f, path);
	fclose(f);
}

static void visit_grep(struct files_walk *w, const char *path,
		       const struct stat *st)
{
	struct grep *g = (struct grep *)w;
	const char *rel = path + w->root_len;

	if (S_ISREG(st->st_mode) &&
	    (!g->include || glob_match(g->include, rel)))
		search_file(g, path);
}

/* Whether regcomp() would build something huge of it. */
static bool repeats_too_much(const char *pattern)
{
	long long product = 1;

	for (const char *p = strchr(pattern, '{'); p; p = strchr(p + 1, '{')) {
		long long low = strtoll(p + 1, NULL, 10), high = 0;
		const char *comma = p + 1 + strspn(p + 1, "0123456789");

		if (*comma == ',')
			high = strtoll(comma + 1, NULL, 10);
		if (MAX(low, high) > MAX_REPEAT)
			return true;
		product *= MAX(MAX(low, high), 1);
		if (product > MAX_REPEAT)
			return true;
	}
	return false;
}

/* Matching one can take longer than the machine lasts. */
static bool has_back_reference(const char *pattern)
{
	for (const char *p = strchr(pattern, '\\'); p && p[1];
	     p = strchr(p + 2, '\\'))
		if (p[1] >= '1' && p[1] <= '9')
			return true;
	return false;
}

static int compile(struct grep *g, const json_t *args, struct sb_err *err)
{
	const char *pattern = NULL;
	bool ignore_case = false;
	char why[200];
	int r;

	if (files_arg_str(args, "pattern", "regex", &pattern, err) < 0 ||
	    files_arg_bool(args, "ignore_case", &ignore_case, err) < 0)
		return -1;
	if (str_empty(pattern) || strlen(pattern) > GLOB_MAX_PATTERN)
		return sb_fail(err, SB_INVALID,
			       "'pattern' is missing or longer than %d bytes",
			       GLOB_MAX_PATTERN);
	if (repeats_too_much(pattern))
		return sb_fail(err, SB_INVALID,
			       "'pattern' repeats more than %d times",
			       MAX_REPEAT);
	if (has_back_reference(pattern))
		return sb_fail(err, SB_INVALID,
			       "'pattern' has a back-reference, which is not "
			       "supported");
	r = regcomp(&g->re, pattern,
		    REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
	if (r == 0)
		return 0;
	regerror(r, &g->re, why, sizeof(why));
	return sb_fail(err, SB_INVALID,
		       "'pattern' is no regular expression: %s", why);
}

int files_grep(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	struct grep g = { .walk.visit = visit_grep };
	struct stat st;

	if (parse_walk(&g.walk, c->path, c->args, err) < 0 ||
	    files_arg_int(c->args, "context", 0, FILES_MAX_CONTEXT, &g.context,
			  err) < 0 ||
	    files_arg_str(c->args, "include", "glob", &g.include, err) < 0)
		return -1;
	if (g.include && strlen(g.include) > GLOB_MAX_PATTERN)
		return sb_fail(err, SB_INVALID, "'include' is too long");
	if (stat(c->path, &st) < 0)
		return files_fail(err, "search", c->path);
	if (compile(&g, c->args, err) < 0)
		return -1;
	g.matches = json_array();
	if (S_ISDIR(st.st_mode))
		files_walk(&g.walk, c->path);
	else
		search_file(&g, c->path);
	regfree(&g.re);
	*ret = json_pack("{s:o, s:I, s:b}", "matches", g.matches,
			 "files_searched", (json_int_t)g.files, "truncated",
			 g.walk.more);
	files_put_name(*ret, "path", c->path);
	return 0;
}
