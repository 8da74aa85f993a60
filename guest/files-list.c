/* SPDX-License-Identifier: Apache-2.0 */
/* Listing folders, in a fixed order, so that a list can be cut and resumed. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/base64.h"
#include "guest/files-names.h"
#include "guest/files.h"

#define DEFAULT_LIMIT 1000

struct list {
	size_t root_len; /* of the path that is listed */
	long long depth, limit;
	bool hidden;
	char *cursor; /* entries after this relative path are wanted */
	char *last;   /* relative path of the last entry given */
	json_t *entries;
	bool more;
};

/* The order of the walk: as strcmp, but a folder's content comes before all
 * names that begin like it. */
static int path_order(const char *a, const char *b)
{
	for (;; a++, b++) {
		int x = *a == '/' ? 1 : *a ? (unsigned char)*a + 1 : 0;
		int y = *b == '/' ? 1 : *b ? (unsigned char)*b + 1 : 0;

		if (x != y || !x)
			return x - y;
	}
}

/* Whether all below the folder was given before the cursor. */
static bool is_behind(const struct list *l, const char *rel)
{
	size_t n = strlen(rel);

	return l->cursor && path_order(rel, l->cursor) < 0 &&
	       !(strncmp(rel, l->cursor, n) == 0 && l->cursor[n] == '/');
}

static int add_folder(struct list *l, const char *dir, int depth,
		      struct sb_err *err);

static int add_one(struct list *l, const char *path, int depth,
		   struct sb_err *err)
{
	const char *rel = path + l->root_len;
	struct stat st;
	json_t *j;

	if (is_behind(l, rel))
		return 0;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : files_fail(err, "list", path);
	if (!l->cursor || path_order(rel, l->cursor) > 0) {
		if ((long long)json_array_size(l->entries) == l->limit) {
			l->more = true;
			return 0;
		}
		j = files_entry(path, &st);
		json_put(j, "depth", json_integer(depth));
		json_array_append_new(l->entries, j);
		free(l->last);
		l->last = xstrdup(rel);
	}
	if (!S_ISDIR(st.st_mode) || depth >= l->depth)
		return 0;
	/* A folder below that we may not read is an entry all the same. */
	if (add_folder(l, path, depth + 1, err) < 0 && err->code != SB_DENIED &&
	    err->code != SB_NOTFOUND)
		return -1;
	return 0;
}

static int add_folder(struct list *l, const char *dir, int depth,
		      struct sb_err *err)
{
	struct names names = { 0 };
	int rc = names_read(&names, dir, err);

	for (size_t i = 0; rc == 0 && i < names.n && !l->more; i++) {
		autofree char *path = NULL;

		if (!l->hidden && names.name[i][0] == '.')
			continue;
		path = xasprintf("%s%s%s", dir, str_ends(dir, "/") ? "" : "/",
				 names.name[i]);
		rc = add_one(l, path, depth, err);
	}
	names_done(&names);
	return rc;
}

static int parse_args(struct list *l, const json_t *args, struct sb_err *err)
{
	const char *cursor = NULL;
	bool recursive = false;
	size_t len;

	if (files_arg_bool(args, "recursive", &recursive, err) < 0)
		return -1;
	l->depth = recursive ? FILES_MAX_DEPTH : 1;
	l->limit = DEFAULT_LIMIT;
	if (files_arg_int(args, "depth", 1, FILES_MAX_DEPTH, &l->depth, err) <
		    0 ||
	    files_arg_int(args, "limit", 1, FILES_MAX_LIST, &l->limit, err) <
		    0 ||
	    files_arg_bool(args, "hidden", &l->hidden, err) < 0 ||
	    json_get_str(args, "cursor", &cursor, err) < 0)
		return -1;
	if (str_empty(cursor))
		return 0;
	l->cursor = base64_decode(cursor, strlen(cursor), &len);
	if (!l->cursor || strlen(l->cursor) != len)
		return sb_fail(err, SB_INVALID,
			       "'cursor' is not one that a list gave");
	return 0;
}

int files_list(const struct file_call *c, json_t **ret, struct sb_err *err)
{
	struct list l = { .root_len = strlen(c->path) };
	json_t *j;
	int rc;

	l.root_len += !str_ends(c->path, "/");
	l.entries = json_array();
	rc = parse_args(&l, c->args, err);
	if (rc == 0)
		rc = add_folder(&l, c->path, 1, err);
	if (rc == 0) {
		j = json_object();
		files_put_name(j, "path", c->path);
		json_put(j, "entries", json_incref(l.entries));
		json_put(j, "cursor", json_null());
		if (l.more) {
			autofree char *code =
				base64_encode(l.last, strlen(l.last));

			json_put(j, "cursor", json_str(code));
		}
		*ret = j;
	}
	json_decref(l.entries);
	free(l.cursor);
	free(l.last);
	return rc;
}
