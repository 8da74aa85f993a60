/* SPDX-License-Identifier: Apache-2.0 */
/* Which files were made or changed below a folder. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base64.h"
#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/mime.h"
#include "guest/files-changed.h"
#include "guest/files-walk.h"
#include "guest/files.h"
#include "guest/glob.h"

#define MAX_MS 10000 /* for one walk */
#define MAX_FILES 1000
#define MAX_CONTENT (1024 * 1024)
#define MAX_TOTAL (16 * 1024 * 1024)

struct stamp {
	char *path;
	ino_t ino;
	off_t size;
	struct timespec mtime;
};

struct files_moment {
	struct files_walk walk; /* first: visit() gets it */
	char *root;
	const json_t *globs;
	long long looks;
	struct stamp *stamp; /* by path */
	size_t n;
	struct timespec taken;
};

static bool is_older(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec
				    : a.tv_nsec < b.tv_nsec;
}

static void walk_init(struct files_walk *w, const struct files_moment *m)
{
	w->root_len = strlen(m->root) + !str_ends(m->root, "/");
	w->hidden = m->globs;
	w->gitignore = !m->globs;
	w->deadline = clock_ms() + MAX_MS;
	w->limit = m->looks;
}

/* Whether to look at it any further. */
static bool counts(struct files_walk *w, const json_t *globs, const char *path,
		   const struct stat *st)
{
	const json_t *glob;
	size_t i;

	if (w->found++ == w->limit)
		w->more = true;
	if (w->more || !S_ISREG(st->st_mode))
		return false;
	json_array_foreach(globs, i, glob)
		if (glob_match(json_string_value(glob), path + w->root_len))
			return true;
	return !globs;
}

static void remember(struct files_walk *w, const char *path,
		     const struct stat *st)
{
	struct files_moment *m = (struct files_moment *)w;

	if (!counts(w, m->globs, path, st))
		return;
	if ((m->n & (m->n - 1)) == 0)
		m->stamp = xrealloc(m->stamp, MAX(2 * m->n, 16),
				    sizeof(*m->stamp));
	m->stamp[m->n++] = (struct stamp){ xstrdup(path), st->st_ino,
					   st->st_size, st->st_mtim };
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct stamp *)a)->path,
		      ((const struct stamp *)b)->path);
}

struct files_moment *files_moment_new(const char *root, const json_t *globs,
				      long long looks)
{
	struct files_moment *m = xcalloc(1, sizeof(*m));

	m->root = xstrdup(root);
	m->globs = globs;
	m->looks = looks;
	/* The clock of files, which is a little behind the other one. */
	clock_gettime(CLOCK_REALTIME_COARSE, &m->taken);
	walk_init(&m->walk, m);
	m->walk.visit = remember;
	files_walk(&m->walk, root);
	if (m->n)
		qsort(m->stamp, m->n, sizeof(*m->stamp), by_path);
	return m;
}

void files_moment_free(struct files_moment *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++)
		free(m->stamp[i].path);
	free(m->stamp);
	free(m->root);
	free(m);
}

struct changes {
	struct files_walk walk;
	const struct files_moment *since;
	json_t *files;
	size_t total; /* bytes of content */
};

/* The bytes of a file that may become another while we look. */
static json_t *read_content(struct changes *c, const char *path)
{
	autofree char *data = xmalloc(MAX_CONTENT + 1), *text = NULL;
	const char *rel = path + c->walk.root_len;
	autoclose int fd = -1;
	struct sb_err err;
	size_t len = 0;
	ssize_t n = 1;

	if (fs_open_beneath(c->since->root, rel, &fd, &err) < 0)
		return NULL;
	while (len <= MAX_CONTENT && n > 0) {
		n = read(fd, data + len, MAX_CONTENT + 1 - len);
		len += MAX(n, 0);
	}
	if (n != 0 || c->total + len > MAX_TOTAL)
		return NULL;
	c->total += len;
	text = base64_encode(data, len);
	return json_string_nocheck(text);
}

static void add_file(struct changes *c, const char *path, const struct stat *st,
		     bool created)
{
	json_t *j = json_object(), *content = NULL;

	files_put_name(j, "path", path);
	json_put(j, "size", json_integer(st->st_size));
	json_put(j, "mtime",
		 json_real((double)st->st_mtim.tv_sec +
			   (double)st->st_mtim.tv_nsec / 1e9));
	json_put(j, "mime", json_str(mime_of_name(path)));
	json_put(j, "created", json_boolean(created));
	if (st->st_size <= MAX_CONTENT)
		content = read_content(c, path);
	if (content)
		json_put(j, "content", content);
	json_array_append_new(c->files, j);
}

static void compare(struct files_walk *w, const char *path,
		    const struct stat *st)
{
	struct changes *c = (struct changes *)w;
	const struct files_moment *m = c->since;
	struct stamp key = { .path = (char *)path };
	const struct stamp *old = NULL;

	if (!counts(w, m->globs, path, st))
		return;
	if (m->n)
		old = bsearch(&key, m->stamp, m->n, sizeof(key), by_path);
	if (old && old->ino == st->st_ino && old->size == st->st_size &&
	    old->mtime.tv_sec == st->st_mtim.tv_sec &&
	    old->mtime.tv_nsec == st->st_mtim.tv_nsec)
		return;
	/* We may not have come so far when we looked first. */
	if (!old && m->walk.more && is_older(st->st_ctim, m->taken))
		return;
	if (json_array_size(c->files) == MAX_FILES)
		w->more = true;
	else
		add_file(c, path, st, !old);
}

void files_changed(const struct files_moment *m, json_t *answer)
{
	struct changes c = { .since = m, .files = json_array() };

	walk_init(&c.walk, m);
	c.walk.visit = compare;
	files_walk(&c.walk, m->root);
	json_put(answer, "files", c.files);
	json_put(answer, "files_truncated",
		 json_boolean(c.walk.more || m->walk.more));
}
