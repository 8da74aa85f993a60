/* SPDX-License-Identifier: Apache-2.0 */
/* Building, baking and importing images. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "host/image.h"
#include "host/image-private.h"
#include "host/proc.h"
#include "host/spec.h"
#include "ssh/install.h"

#define MAX_RECIPE 65536
#define MAX_DEPTH 8
#define BUILD_MS (60 * 60 * 1000)
#define CLEAN_MS (5 * 60 * 1000)

const char *image_recipe_get(const char *recipe, const char *key)
{
	static __thread char value[256];
	autofree char *text = NULL;
	size_t n = strlen(key);
	char *save;

	if (fs_read(recipe, MAX_RECIPE, &text, NULL, NULL) < 0)
		return NULL;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, key, n) != 0 || line[n] != ' ')
			continue;
		snprintf(value, sizeof(value), "%s",
			 line + n + strspn(line + n, " "));
		return value;
	}
	return NULL;
}

/* All files that the builder reads, the recipes of others left out. */
static int hash_builder(struct sha256 *s, const char *dir, int depth,
			struct sb_err *err)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort), rc = 0;

	if (n < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot read '%s': %m", dir);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		autofree char *path = xasprintf("%s/%s", dir, name);
		struct stat st;

		if (rc < 0 || name[0] == '.' || str_ends(name, ".recipe") ||
		    str_ends(name, ".md") || str_starts(name, "Makefile") ||
		    lstat(path, &st) < 0) {
			/* not part of an image */
		} else if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH) {
			rc = hash_builder(s, path, depth + 1, err);
		} else if (S_ISREG(st.st_mode)) {
			sha256_add(s, name, strlen(name) + 1);
			rc = sha256_add_file(s, path, err);
		}
		free(list[i]);
	}
	free(list);
	return rc;
}

int image_recipe_hash(const struct image_store *st, const char *name,
		      char out[SHA256_HEX_LEN + 1], struct sb_err *err)
{
	autofree char *recipe = xasprintf("%s/%s.recipe", st->recipes, name);
	autofree char *parent = xstrdup0(image_recipe_get(recipe, "parent"));
	char up[SHA256_HEX_LEN + 1] = "";
	struct sha256 *s;
	int rc;

	if (parent && image_recipe_hash(st, parent, up, err) < 0)
		return -1;
	s = sha256_new();
	sha256_add(s, up, strlen(up));
	rc = sha256_add_file(s, recipe, err);
	if (rc == 0 && !parent)
		rc = hash_builder(s, st->recipes, 0, err);
	sha256_finish(s, out);
	return rc;
}

void image_clean(const struct image_store *st, const char *path)
{
	autofree char *builder = xasprintf("%s/build-image", st->recipes);
	const char *argv[] = { builder, "--clean", path, NULL };
	struct proc p = { .argv = argv, .timeout_ms = CLEAN_MS };
	struct sb_err err;

	/* As an ordinary user, files of the guest's owners need the builder. */
	if (fs_remove_tree(path, &err) == 0 || proc_run(&p, &err) == 0)
		return;
	log_warn("%s", err.msg);
}

/* Hands "progress PERCENT TEXT" on. */
static void on_line(void *arg, const char *line)
{
	const struct image_progress *p = arg;
	int percent, used;

	if (p->fn && sscanf(line, "progress %d %n", &percent, &used) == 1)
		p->fn(p->arg, percent, line + used);
}

static int run_builder(const struct image_store *st, const char *const *argv,
		       const struct image_progress *p, struct sb_err *err)
{
	autofree char *log = xasprintf("%s/build.log", st->dir);
	struct proc run = { .argv = argv,
			    .cancel = p->cancel,
			    .timeout_ms = BUILD_MS,
			    .log = log,
			    .on_line = on_line,
			    .arg = (void *)p };

	if (proc_run(&run, err) == 0)
		return 0;
	if (err->code != SB_CANCELLED && !err->hint[0])
		sb_hint(err, "the whole output is in %s", log);
	return -1;
}

/* Add to image.json what only we know, before the folder gets its name. */
static int finish_meta(const char *dir, const char *hash, const char *parent,
		       bool imported, struct sb_err *err)
{
	autofree char *path = xasprintf("%s/image.json", dir);
	autofree char *root = xasprintf("%s/root.qcow2", dir);
	autofree char *text = NULL;
	autojson json_t *meta = NULL;
	char iso[CLOCK_ISO_LEN];
	struct stat st;

	if (image_meta(dir, &meta, err) < 0)
		return -1;
	if (stat(root, &st) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot find '%s': %m", root);
	clock_iso(clock_wall_ms(), iso);
	json_put(meta, "hash", json_string(hash));
	json_put(meta, "bytes", json_integer(st.st_size));
	json_put(meta, "created_at", json_string(iso));
	if (parent)
		json_put(meta, "parent_dir", json_str(parent));
	if (imported)
		json_put(meta, "imported", json_true());
	text = json_print(meta);
	return fs_write_atomic(path, text, strlen(text), 0644, err);
}

/* Give the finished folder its name and let the image's name lead to it. */
static int publish(const struct image_store *st, const char *name,
		   const char *tmp, const char *hash, struct sb_err *err)
{
	autofree char *target = xasprintf("%s-%.16s", name, hash);
	autofree char *dir = xasprintf("%s/%s", st->dir, target);
	autofree char *link = xasprintf("%s/%s", st->dir, name);
	autofree char *new_link = xasprintf("%s/.link-%s", st->dir, name);
	struct sb_err ignored;

	fs_remove_tree(dir, &ignored);
	unlink(new_link);
	if (chmod(tmp, 0755) < 0 || rename(tmp, dir) < 0 ||
	    symlink(target, new_link) < 0 || rename(new_link, link) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot put image '%s' in place: %m", name);
	return 0;
}

static char *make_tmp(const struct image_store *st, struct sb_err *err)
{
	autofree char *tmp =
		xasprintf("%s/" IMAGE_TMP_PREFIX "XXXXXX", st->dir);

	if (mkdtemp(tmp))
		return steal(&tmp);
	sb_fail(err, sb_code_of_errno(errno), "cannot create '%s': %m", tmp);
	return NULL;
}

static int build_layer(const struct image_store *st, const char *name,
		       const char *parent_dir, const char *hash,
		       const struct image_progress *p, struct sb_err *err)
{
	autofree char *builder = xasprintf("%s/build-image", st->recipes);
	autofree char *recipe = xasprintf("%s/%s.recipe", st->recipes, name);
	autofree char *cache = xasprintf("%s/.cache", st->dir);
	autofree char *tmp = make_tmp(st, err);
	const char *argv[] = { builder,	   "--recipe",
			       recipe,	   "--out",
			       tmp,	   "--cache",
			       cache,	   parent_dir ? "--parent" : NULL,
			       parent_dir, NULL };
	const char *base = parent_dir ? strrchr(parent_dir, '/') + 1 : NULL;

	if (!tmp)
		return -1;
	if (run_builder(st, argv, p, err) == 0 &&
	    finish_meta(tmp, hash, base, false, err) == 0 &&
	    publish(st, name, tmp, hash, err) == 0)
		return 0;
	image_clean(st, tmp);
	return -1;
}

static int bake(const struct image_store *st, const char *name,
		const struct image_progress *p, struct sb_err *err)
{
	autofree char *builder = xasprintf("%s/build-image", st->recipes);
	autofree char *dir = image_dir(st, name);
	autofree char *tmp = NULL, *final = NULL;
	char hash[SHA256_HEX_LEN + 1];
	const char *argv[] = { builder, "--bake",   "--image",	dir, "--out",
			       NULL,	"--bundle", st->bundle, NULL };

	if (bundle_hash(st->bundle, hash, err) < 0)
		return sb_wrap(err, "guest bundle");
	final = xasprintf("%s/baked-%.16s.qcow2", dir, hash);
	tmp = xasprintf("%s/" IMAGE_TMP_PREFIX "bake.qcow2", dir);
	argv[5] = tmp;
	if (access(final, R_OK) == 0)
		return 0;
	unlink(tmp);
	if (run_builder(st, argv, p, err) < 0) {
		unlink(tmp);
		return sb_wrap(err, "cannot put guestd into image '%s'", name);
	}
	if (chmod(tmp, 0644) < 0 || rename(tmp, final) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot write '%s': %m", final);
	return 0;
}

static bool up_to_date(const struct image_store *st, const char *name,
		       const char *hash)
{
	autofree char *dir = image_dir(st, name);
	autojson json_t *meta = NULL;

	return dir && image_meta(dir, &meta, NULL) == 0 &&
	       strcmp(json_str_or(meta, "hash", ""), hash) == 0;
}

static int build_chain(const struct image_store *st, const char *name,
		       bool force, int depth, const struct image_progress *p,
		       struct sb_err *err)
{
	autofree char *recipe = xasprintf("%s/%s.recipe", st->recipes, name);
	autofree char *parent = NULL, *parent_dir = NULL;
	char hash[SHA256_HEX_LEN + 1];

	if (!spec_name_ok(name) || access(recipe, R_OK) < 0)
		return sb_fail(err, SB_NOTFOUND, "there is no recipe '%s'",
			       name);
	parent = xstrdup0(image_recipe_get(recipe, "parent"));
	if (depth == MAX_DEPTH)
		return sb_fail(err, SB_INVALID, "recipe '%s' has no end", name);
	if (parent) {
		if (build_chain(st, parent, false, depth + 1, p, err) < 0)
			return -1;
		parent_dir = image_dir(st, parent);
	}
	if (image_recipe_hash(st, name, hash, err) < 0)
		return -1;
	if (!force && up_to_date(st, name, hash))
		return 0;
	return build_layer(st, name, parent_dir, hash, p, err);
}

/* One build at a time in a store, also among several daemons. */
static int lock_store(const struct image_store *st, struct sb_err *err)
{
	autofree char *path = xasprintf("%s/.lock", st->dir);
	autoclose int fd = -1;

	if (fs_mkdirs(st->dir, 0755, err) < 0)
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open '%s': %m", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		sb_fail(err, SB_BUSY, "another image is being built");
		return sb_hint(err, "wait until it is done");
	}
	return steal_fd(&fd);
}

int image_build(const struct image_store *st, const char *name, bool force,
		const struct image_progress *p, struct sb_err *err)
{
	autofree char *dir = image_dir(st, name);
	autofree char *log = xasprintf("%s/build.log", st->dir);
	autojson json_t *meta = NULL;
	autoclose int lock = lock_store(st, err);

	if (lock < 0)
		return -1;
	image_sweep(st);
	unlink(log);
	/* An imported one has no recipe; what can be made anew is its layer. */
	if (dir && image_meta(dir, &meta, NULL) == 0 &&
	    json_bool_or(meta, "imported", false))
		return sb_fail(err, SB_INVALID,
			       "image '%s' was imported and cannot be built",
			       name);
	if (build_chain(st, name, force, 0, p, err) < 0)
		return -1;
	if (p->fn)
		p->fn(p->arg, 99, "installing guestd");
	return bake(st, name, p, err);
}

/* image.json of an imported image. */
static int write_import_meta(const char *dir, const char *name,
			     struct sb_err *err)
{
	autofree char *path = xasprintf("%s/image.json", dir);
	autofree char *root = xasprintf("%s/root.qcow2", dir);
	autofree char *text = NULL;
	autojson json_t *meta = json_object();
	unsigned char head[32];
	unsigned long long size = 0;
	autoclose int fd = open(root, O_RDONLY | O_CLOEXEC);

	/* The virtual size is a big-endian number at byte 24 of a qcow2. */
	if (fd < 0 || pread(fd, head, sizeof(head), 0) != sizeof(head))
		return sb_fail(err, SB_SYSTEM, "cannot read '%s': %m", root);
	for (int i = 24; i < 32; i++)
		size = size << 8 | head[i];
	json_put(meta, "name", json_str(name));
	json_put(meta, "description", json_string("imported"));
	json_put(meta, "format", json_string("qcow2"));
	json_put(meta, "virtual_size", json_integer((json_int_t)size));
	text = json_print(meta);
	return fs_write_atomic(path, text, strlen(text), 0644, err);
}

static int check_import(const struct image_store *st, const char *name,
			const char *file, const char *format,
			struct sb_err *err)
{
	autofree char *recipe = xasprintf("%s/%s.recipe", st->recipes, name);
	autofree char *base = image_dir(st, "base");

	if (!spec_name_ok(name))
		return sb_fail(err, SB_INVALID,
			       "'%s' is not a name: use a-z, 0-9 and -", name);
	if (access(recipe, R_OK) == 0)
		return sb_fail(err, SB_CONFLICT,
			       "'%s' is the name of a recipe; choose another",
			       name);
	if (strcmp(format, "qcow2") != 0 && strcmp(format, "raw") != 0)
		return sb_fail(err, SB_INVALID,
			       "format '%s' is not qcow2 or raw", format);
	if (file[0] != '/')
		return sb_fail(err, SB_INVALID, "'%s' is not an absolute path",
			       file);
	if (access(file, R_OK) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot read '%s': %m", file);
	if (!base) {
		sb_fail(err, SB_MISSING,
			"an imported image boots with base's kernel, and base "
			"is not built");
		return sb_hint(err, "first: sandboxctl image build base");
	}
	return 0;
}

int image_import(const struct image_store *st, const char *name,
		 const char *file, const char *format,
		 const struct image_progress *p, struct sb_err *err)
{
	autofree char *tmp = NULL, *root = NULL, *source = NULL;
	char hash[SHA256_HEX_LEN + 1];
	const char *argv[] = { "qemu-img",     "convert", "-O", "qcow2",
			       "--image-opts", NULL,	  NULL, NULL };
	autoclose int lock = -1;

	if (check_import(st, name, file, format, err) < 0)
		return -1;
	lock = lock_store(st, err);
	if (lock < 0)
		return -1;
	if (strchr(file, ','))
		return sb_fail(err, SB_INVALID, "'%s' has a comma in its name",
			       file);
	tmp = make_tmp(st, err);
	if (!tmp)
		return -1;
	root = xasprintf("%s/root.qcow2", tmp);
	/* A backing file named inside would be read from the host: none. */
	source = xasprintf(
		"driver=%s,%sfile.driver=file,file.filename=%s", format,
		strcmp(format, "qcow2") == 0 ? "backing=," : "", file);
	argv[5] = source;
	argv[6] = root;
	random_hex(hash, SHA256_LEN);
	if (p->fn)
		p->fn(p->arg, 5, "copying the image");
	if (run_builder(st, argv, p, err) == 0 &&
	    write_import_meta(tmp, name, err) == 0 &&
	    finish_meta(tmp, hash, NULL, true, err) == 0 &&
	    publish(st, name, tmp, hash, err) == 0)
		return 0;
	image_clean(st, tmp);
	return -1;
}
