/* SPDX-License-Identifier: Apache-2.0 */
/* The store of guest images: finding, listing and removing. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "host/image.h"
#include "host/image-private.h"
#include "host/spec.h"
#include "ssh/install.h"

#define MAX_META 65536

void image_done(struct image *img)
{
	free(img->name);
	free(img->hash);
	free(img->disk);
	free(img->kernel);
	free(img->initrd);
	free(img->cmdline);
	*img = (struct image){ 0 };
}

json_t *image_to_json(const struct image *img)
{
	json_t *o = json_object();

	json_put(o, "name", json_str(img->name));
	json_put(o, "hash", json_str(img->hash));
	json_put(o, "disk", json_str(img->disk));
	json_put(o, "kernel", json_str(img->kernel));
	json_put(o, "initrd", json_str(img->initrd));
	json_put(o, "cmdline", json_str(img->cmdline));
	json_put(o, "size", json_integer((json_int_t)img->size));
	json_put(o, "baked", json_boolean(img->baked));
	json_put(o, "foreign", json_boolean(img->foreign));
	return o;
}

int image_from_json(const json_t *j, struct image *ret, struct sb_err *err)
{
	if (!json_is_object(j))
		return sb_fail(err, SB_SYSTEM, "no image is recorded");
	*ret = (struct image){
		.name = xstrdup(json_str_or(j, "name", "")),
		.hash = xstrdup(json_str_or(j, "hash", "")),
		.disk = xstrdup(json_str_or(j, "disk", "")),
		.kernel = xstrdup(json_str_or(j, "kernel", "")),
		.initrd = xstrdup(json_str_or(j, "initrd", "")),
		.cmdline = xstrdup(json_str_or(j, "cmdline", "")),
		.size = json_int_or(j, "size", 0),
		.baked = json_bool_or(j, "baked", false),
		.foreign = json_bool_or(j, "foreign", false),
	};
	return 0;
}

char *image_dir(const struct image_store *st, const char *name)
{
	autofree char *link = xasprintf("%s/%s", st->dir, name);

	return spec_name_ok(name) ? realpath(link, NULL) : NULL;
}

static int missing(const struct image_store *st, const char *name,
		   struct sb_err *err)
{
	autofree char *recipe = xasprintf("%s/%s.recipe", st->recipes, name);

	if (!spec_name_ok(name) || access(recipe, R_OK) < 0) {
		sb_fail(err, SB_NOTFOUND, "there is no image '%s'", name);
		return sb_hint(err, "sandboxctl image list shows those there "
				    "are");
	}
	sb_fail(err, SB_MISSING, "image '%s' is not built yet", name);
	return sb_hint(err, "build it: sandboxctl image build %s", name);
}

int image_meta(const char *dir, json_t **ret, struct sb_err *err)
{
	autofree char *path = xasprintf("%s/image.json", dir);
	autofree char *text = NULL;
	size_t len;

	if (fs_read(path, MAX_META, &text, &len, err) < 0)
		return -1;
	return json_parse(text, len, ret, err);
}

static int damaged(const char *name, const char *what, struct sb_err *err)
{
	sb_fail(err, SB_SYSTEM, "image '%s' is damaged: %s", name, what);
	return sb_hint(err, "build it anew: sandboxctl image build --force %s",
		       name);
}

/* The folder that has kernel and initrd: the image's own or an ancestor's. */
static char *boot_dir(const struct image_store *st, const char *dir,
		      const json_t *meta)
{
	autofree char *kernel = xasprintf("%s/kernel", dir);
	const char *parent = json_str_or(meta, "parent_dir", NULL);
	autojson json_t *up = NULL;
	autofree char *path = NULL;

	if (access(kernel, R_OK) == 0)
		return xstrdup(dir);
	if (!parent)
		return image_dir(st, "base");
	path = xasprintf("%s/%s", st->dir, parent);
	if (strchr(parent, '/') || image_meta(path, &up, NULL) < 0)
		return NULL;
	return boot_dir(st, path, up);
}

/* The size that was written down when the image was made still holds. */
static bool whole(const char *disk, const json_t *meta)
{
	long long bytes = json_int_or(meta, "bytes", -1);
	struct stat st;

	return stat(disk, &st) == 0 && (bytes < 0 || st.st_size == bytes);
}

static int fill(const struct image_store *st, const char *name, const char *dir,
		const json_t *meta, struct image *ret, struct sb_err *err)
{
	autofree char *root = xasprintf("%s/root.qcow2", dir);
	autofree char *boot = boot_dir(st, dir, meta);
	autofree char *baked = NULL;
	char hash[SHA256_HEX_LEN + 1];

	if (!whole(root, meta))
		return damaged(name, "root.qcow2 is not as it was built", err);
	if (!boot)
		return damaged(name, "its kernel is not there", err);
	if (bundle_hash(st->bundle, hash, err) < 0)
		return sb_wrap(err, "guest bundle");
	baked = xasprintf("%s/baked-%.16s.qcow2", dir, hash);
	*ret = (struct image){
		.name = xstrdup(name),
		.hash = xstrdup(json_str_or(meta, "hash", "")),
		.kernel = xasprintf("%s/kernel", boot),
		.initrd = xasprintf("%s/initrd", boot),
		.cmdline = xstrdup(json_str_or(meta, "cmdline", IMAGE_CMDLINE)),
		.size = json_int_or(meta, "virtual_size", 0),
		.baked = access(baked, R_OK) == 0,
		.foreign = json_bool_or(meta, "imported", false),
	};
	ret->disk = steal(ret->baked ? &baked : &root);
	return 0;
}

int image_find(const struct image_store *st, const char *name,
	       struct image *ret, struct sb_err *err)
{
	autofree char *dir = image_dir(st, name);
	autojson json_t *meta = NULL;

	if (!dir)
		return missing(st, name, err);
	if (image_meta(dir, &meta, err) < 0)
		return damaged(name, "image.json cannot be read", err);
	return fill(st, name, dir, meta, ret, err);
}

/* Bytes on disk of a folder's files. */
static long long folder_size(const char *path)
{
	long long sum = 0;
	struct dirent *e;
	DIR *d = opendir(path);

	while (d && (e = readdir(d))) {
		struct stat sb;

		if (fstatat(dirfd(d), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0)
			sum += sb.st_blocks * 512LL;
	}
	if (d)
		closedir(d);
	return sum;
}

static void put_built(json_t *o, const struct image_store *st, const char *name,
		      const char *dir)
{
	autojson json_t *meta = NULL;
	struct image img = { 0 };
	char now[SHA256_HEX_LEN + 1];
	struct sb_err err;
	bool stale;

	if (image_meta(dir, &meta, &err) == 0)
		json_object_update(o, meta);
	stale = !json_bool_or(meta, "imported", false) &&
		image_recipe_hash(st, name, now, &err) == 0 &&
		strcmp(now, json_str_or(meta, "hash", "")) != 0;
	json_put(o, "size", json_integer(folder_size(dir)));
	json_put(o, "path", json_str(dir));
	if (image_find(st, name, &img, &err) == 0) {
		json_put(o, "state", json_string(stale ? "stale" : "ready"));
		json_put(o, "baked", json_boolean(img.baked));
	} else {
		json_put(o, "state", json_string("damaged"));
		json_put(o, "cause", json_str(err.msg));
	}
	image_done(&img);
}

int image_info(const struct image_store *st, const char *name, json_t **ret,
	       struct sb_err *err)
{
	autofree char *recipe = xasprintf("%s/%s.recipe", st->recipes, name);
	autofree char *dir = image_dir(st, name);
	json_t *o;

	if (!dir && (!spec_name_ok(name) || access(recipe, R_OK) < 0))
		return missing(st, name, err);
	o = json_object();
	json_put(o, "name", json_str(name));
	json_put(o, "description",
		 json_str(image_recipe_get(recipe, "description")));
	json_put(o, "parent", json_str(image_recipe_get(recipe, "parent")));
	if (dir)
		put_built(o, st, name, dir);
	else
		json_put(o, "state", json_string("not built"));
	*ret = o;
	return 0;
}

static void add_name(json_t *names, const char *dir, const char *suffix)
{
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name), m = strlen(suffix);
		autofree char *name = NULL;

		if (n <= m || !str_ends(e->d_name, suffix) ||
		    (!m && e->d_type != DT_LNK))
			continue;
		name = xstrndup(e->d_name, n - m);
		if (spec_name_ok(name))
			json_put(names, name, json_null());
	}
	if (d)
		closedir(d);
}

json_t *image_list(const struct image_store *st)
{
	autojson json_t *names = json_object();
	json_t *list = json_array(), *none;
	const char *name;

	add_name(names, st->dir, "");
	add_name(names, st->recipes, ".recipe");
	json_object_foreach(names, name, none) {
		json_t *o;

		if (image_info(st, name, &o, NULL) == 0)
			json_array_append_new(list, o);
	}
	return list;
}

/* The name of an image whose layer lies on the folder dir; or NULL. */
static char *find_child(const struct image_store *st, const char *dir)
{
	const char *base = strrchr(dir, '/') + 1;
	char *found = NULL;
	struct dirent *e;
	DIR *d = opendir(st->dir);

	while (!found && d && (e = readdir(d))) {
		autofree char *path = xasprintf("%s/%s", st->dir, e->d_name);
		autojson json_t *meta = NULL;

		if (e->d_type == DT_LNK && image_meta(path, &meta, NULL) == 0 &&
		    strcmp(json_str_or(meta, "parent_dir", ""), base) == 0)
			found = xstrdup(e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

int image_remove(const struct image_store *st, const char *name,
		 struct sb_err *err)
{
	autofree char *link = xasprintf("%s/%s", st->dir, name);
	autofree char *dir = image_dir(st, name);
	autofree char *child = NULL;

	if (!dir)
		return missing(st, name, err);
	child = find_child(st, dir);
	if (child) {
		sb_fail(err, SB_CONFLICT, "image '%s' is built on '%s'", child,
			name);
		return sb_hint(err, "remove '%s' first", child);
	}
	if (unlink(link) < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot remove '%s': %m", link);
	return fs_remove_tree(dir, err);
}

void image_sweep(const struct image_store *st)
{
	struct dirent *e;
	DIR *d = opendir(st->dir);

	while (d && (e = readdir(d))) {
		autofree char *path = xasprintf("%s/%s", st->dir, e->d_name);

		if (str_starts(e->d_name, IMAGE_TMP_PREFIX))
			image_clean(st, path);
	}
	if (d)
		closedir(d);
}
