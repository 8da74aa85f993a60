/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels there are. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/log.h"
#include "guest/kernelspec.h"

#define MAX_SPEC (256 * 1024)
#define MAX_SPECS 256
#define MAX_NAMED 150 /* bytes of names in a hint */
#define OUR_SPEC "sandbox-python"

bool kernelspec_name_is_good(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n && n < 128 && !name[n] && name[0] != '.';
}

void kernelspec_done(struct kernelspec *s)
{
	free(s->name);
	free(s->dir);
	free(s->path);
	json_decref(s->spec);
	*s = (struct kernelspec){ 0 };
}

/* Called for each; true ends the search, and takes what is in it. */
typedef bool (*visit_fn)(struct kernelspec *s, void *arg);

static bool argv_is_good(const json_t *argv)
{
	const json_t *arg;
	size_t i;

	json_array_foreach(argv, i, arg)
		if (!json_is_string(arg))
			return false;
	return json_array_size(argv) > 0;
}

/* The folder may be the sandbox's user's, and a FIFO in place of the file, at
 * whatever moment, would hold us up. */
static json_t *load(const char *dir)
{
	autofree char *path = xasprintf("%s/kernel.json", dir), *text = NULL;
	autoclose int fd = open(path, O_PATH | O_CLOEXEC);
	autofree char *again = xasprintf("/proc/self/fd/%d", fd);
	autojson json_t *j = NULL;
	struct sb_err err;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (fs_read(again, MAX_SPEC, &text, &len, &err) < 0 ||
	    json_parse(text, len, &j, &err) < 0) {
		log_warn("kernel '%s': %s", dir, err.msg);
		return NULL;
	}
	if (!argv_is_good(json_object_get(j, "argv"))) {
		log_warn("kernel '%s' has no argv", dir);
		return NULL;
	}
	return steal(&j);
}

/* language NULL: all of them. */
static bool visit_dir(const char *dir, const char *prefix, const char *path,
		      const char *language, visit_fn fn, void *arg)
{
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *de;
	bool found = false;
	int left = MAX_SPECS;

	while (d && !found && left-- && (de = readdir(d))) {
		struct kernelspec s = { 0 };

		if (!kernelspec_name_is_good(de->d_name))
			continue;
		s.dir = xasprintf("%s/%s", dir, de->d_name);
		s.spec = load(s.dir);
		s.name = xasprintf("%s%s%s", prefix ? prefix : "",
				   prefix ? "-" : "", de->d_name);
		s.path = xstrdup0(path);
		if (s.spec &&
		    (!language || strcmp(json_str_or(s.spec, "language", ""),
					 language) == 0))
			found = fn(&s, arg);
		kernelspec_done(&s);
	}
	if (d)
		closedir(d);
	return found;
}

static bool visit_data_dir(const char *dir, visit_fn fn, void *arg)
{
	autofree char *kernels = xasprintf("%s/kernels", dir);

	return visit_dir(kernels, NULL, NULL, NULL, fn, arg);
}

/* A folder with pyvenv.cfg is a virtual environment; its python comes first.
 * Of our own kernels only Python's is another one there. */
static bool visit_venvs(const struct kernelspec_paths *where, visit_fn fn,
			void *arg)
{
	DIR *d = opendir(where->workspace);
	struct dirent *de;
	bool found = false;
	int left = 4 * MAX_SPECS;

	while (d && !found && left-- && (de = readdir(d))) {
		autofree char *venv =
			xasprintf("%s/%s", where->workspace, de->d_name);
		autofree char *cfg = xasprintf("%s/pyvenv.cfg", venv);
		autofree char *bin = xasprintf("%s/bin", venv);
		autofree char *dir =
			xasprintf("%s/share/jupyter/kernels", venv);
		const char *name = de->d_name + strspn(de->d_name, ".");
		struct stat st;

		if (kernelspec_name_is_good(name) && stat(cfg, &st) == 0)
			found = visit_dir(dir, name, bin, NULL, fn, arg) ||
				visit_dir(where->own, name, bin, "python", fn,
					  arg);
	}
	if (d)
		closedir(d);
	return found;
}

/* In the order in which Jupyter looks: the first of a name counts. */
static void visit_all(const struct kernelspec_paths *where, visit_fn fn,
		      void *arg)
{
	const char *own = spawn_as_getenv(where->as, "JUPYTER_DATA_DIR");
	const char *home = spawn_as_getenv(where->as, "HOME");
	const char *list = spawn_as_getenv(where->as, "JUPYTER_PATH");
	autofree char *dirs = xstrdup(list ? list : ""), *dflt = NULL;
	char *save, *dir;

	for (dir = strtok_r(dirs, ":", &save); dir;
	     dir = strtok_r(NULL, ":", &save))
		if (visit_data_dir(dir, fn, arg))
			return;
	dflt = xasprintf("%s/.local/share/jupyter", home ? home : "");
	if (visit_data_dir(own ? own : dflt, fn, arg) ||
	    visit_venvs(where, fn, arg) ||
	    visit_data_dir("/usr/local/share/jupyter", fn, arg) ||
	    visit_data_dir("/usr/share/jupyter", fn, arg))
		return;
	visit_dir(where->own, NULL, NULL, NULL, fn, arg);
}

static bool collect(struct kernelspec *s, void *arg)
{
	json_t *all = arg;

	if (!json_object_get(all, s->name))
		json_put(all, s->name, kernelspec_model(s));
	return json_object_size(all) == MAX_SPECS;
}

static const char *default_of(const json_t *all)
{
	static const char *const wanted[] = { OUR_SPEC, "python3" };

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (json_object_get(all, wanted[i]))
			return wanted[i];
	return json_object_iter_key(json_object_iter((json_t *)all));
}

json_t *kernelspec_list(const struct kernelspec_paths *where)
{
	json_t *all = json_object(), *j = json_object();
	const char *dflt;

	visit_all(where, collect, all);
	dflt = default_of(all);
	json_put(j, "default", json_str(dflt ? dflt : OUR_SPEC));
	json_put(j, "kernelspecs", all);
	return j;
}

struct search {
	const char *name;
	struct kernelspec *ret;
	bool found;
};

static bool match(struct kernelspec *s, void *arg)
{
	struct search *search = arg;

	if (strcmp(s->name, search->name) != 0)
		return false;
	search->found = true;
	*search->ret = *s;
	*s = (struct kernelspec){ 0 };
	return true;
}

/* Names the names that there are, as far as they fit. */
static int fail_unknown(const struct kernelspec_paths *where, const char *name,
			struct sb_err *err)
{
	autojson json_t *list = kernelspec_list(where);
	autobuf struct buf b = { 0 };
	const char *key;
	json_t *spec;

	json_object_foreach(json_object_get(list, "kernelspecs"), key, spec) {
		if (b.len + strlen(key) > MAX_NAMED) {
			buf_adds(&b, ", …");
			break;
		}
		buf_addf(&b, "%s'%s'", b.len ? ", " : "", key);
	}
	sb_fail(err, SB_NOTFOUND, "there is no kernel '%.128s'", name);
	if (!b.len)
		return sb_hint(err, "there is none at all; images with Python "
				    "and its kernel have one");
	return sb_hint(err,
		       "GET /api/kernelspecs lists those that there "
		       "are: %s",
		       b.p);
}

int kernelspec_find(const struct kernelspec_paths *where, const char *name,
		    struct kernelspec *ret, struct sb_err *err)
{
	struct search search = { .name = name, .ret = ret };
	autojson json_t *list = NULL;

	if (str_empty(name)) {
		list = kernelspec_list(where);
		search.name = json_str_or(list, "default", "");
	}
	visit_all(where, match, &search);
	if (search.found)
		return 0;
	return fail_unknown(where, search.name, err);
}

static json_t *resources(const struct kernelspec *s)
{
	static const struct {
		const char *file, *key;
	} known[] = {
		{ "logo-32x32.png", "logo-32x32" },
		{ "logo-64x64.png", "logo-64x64" },
		{ "logo-svg.svg", "logo-svg" },
		{ "kernel.js", "kernel.js" },
		{ "kernel.css", "kernel.css" },
	};
	json_t *j = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		autofree char *path = xasprintf("%s/%s", s->dir, known[i].file);
		struct stat st;

		if (stat(path, &st) == 0)
			json_put(j, known[i].key,
				 json_sprintf("/kernelspecs/%s/%s", s->name,
					      known[i].file));
	}
	return j;
}

json_t *kernelspec_model(const struct kernelspec *s)
{
	autojson json_t *spec = json_copy(s->spec);
	json_t *j = json_object();
	static const struct {
		const char *key, *dflt;
	} strings[] = { { "display_name", NULL },
			{ "language", "" },
			{ "interrupt_mode", "signal" } };

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		if (!json_is_string(json_object_get(spec, strings[i].key)))
			json_put(spec, strings[i].key,
				 json_str(strings[i].dflt ? strings[i].dflt
							  : s->name));
	if (!json_is_object(json_object_get(spec, "env")))
		json_put(spec, "env", json_object());
	if (!json_is_object(json_object_get(spec, "metadata")))
		json_put(spec, "metadata", json_object());
	json_put(j, "name", json_str(s->name));
	json_put(j, "spec", steal(&spec));
	json_put(j, "resources", resources(s));
	return j;
}
