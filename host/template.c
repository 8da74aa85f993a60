/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: specifications in YAML files. */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "host/spec-value.h"
#include "host/template.h"
#include "host/yaml-doc.h"

#define SUFFIX ".yaml"
#define MAX_DESCRIPTION 200

static const char *check_description(const char *s)
{
	return strlen(s) <= MAX_DESCRIPTION ? NULL : "is too long";
}

/* Path of the template in the first of dirs that has it; NULL if none has. */
static char *find(const char *name, char *const dirs[])
{
	for (size_t i = 0; dirs[i]; i++) {
		autofree char *path = xasprintf("%s/%s" SUFFIX, dirs[i], name);

		if (access(path, F_OK) == 0)
			return steal(&path);
	}
	return NULL;
}

/* Put a file over io; its description is left in *ret_text. */
static int load_file(const char *path, const char *name, struct spec *io,
		     char **ret_text, struct sb_err *err)
{
	char field[SPEC_FIELD_LEN] = "description";
	struct reader r = { .field = field, .err = err };
	autoyaml struct yaml_doc *doc = NULL;
	autospec struct spec work = { 0 };
	const json_t *text;
	struct spec old = *io;
	json_t *keys;

	if (yaml_doc_read(path, &doc, err) < 0)
		return -1;
	keys = yaml_doc_json(doc);
	text = json_object_get(keys, "description");
	if (text && value_text(&r, text, check_description, ret_text) < 0)
		return yaml_doc_fail(doc, field, err);
	json_object_del(keys, "description");
	value_at(&r, "template");
	if (json_object_get(keys, "template")) {
		value_bad(&r, "a template cannot name another");
		return yaml_doc_fail(doc, field, err);
	}
	spec_copy(&work, io);
	if (spec_from_json_at(keys, &work, field, err) < 0)
		return yaml_doc_fail(doc, field, err);
	if (spec_check(&work, err) < 0)
		return sb_wrap(err, "%s", path);
	free(work.template);
	work.template = xstrdup(name);
	*io = work;
	work = old;
	return 0;
}

static int no_such(const char *name, char *const dirs[], struct sb_err *err)
{
	autojson json_t *list = template_list(dirs);
	autobuf struct buf names = { 0 };
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
		buf_addf(&names, "%s%s", i ? ", " : "",
			 json_str_or(entry, "name", ""));
	sb_fail(err, SB_NOTFOUND, "there is no template '%.80s'", name);
	return sb_hint(err, "there are: %s", names.p ? names.p : "none");
}

int template_load(const char *name, char *const dirs[], struct spec *io,
		  struct sb_err *err)
{
	autofree char *path = NULL, *text = NULL;

	if (spec_name_ok(name))
		path = find(name, dirs);
	if (!path)
		return no_such(name, dirs, err);
	return load_file(path, name, io, &text, err);
}

static json_t *describe(const char *name, const char *path)
{
	autofree char *text = NULL;
	json_t *entry = json_object();
	autospec struct spec s;
	struct sb_err err;

	spec_init(&s);
	json_put(entry, "name", json_str(name));
	json_put(entry, "file", json_str(path));
	if (load_file(path, name, &s, &text, &err) < 0)
		json_put(entry, "error", json_str(err.msg));
	else
		json_put(entry, "description", json_str(text ? text : ""));
	return entry;
}

/* Add the templates of a folder whose names are not in the map yet. */
static void list_dir(const char *dir, json_t *by_name)
{
	struct dirent *d;
	DIR *stream;

	stream = opendir(dir);
	if (!stream)
		return;
	while ((d = readdir(stream))) {
		autofree char *name = NULL, *path = NULL;

		if (!str_ends(d->d_name, SUFFIX))
			continue;
		name = xstrndup(d->d_name, strlen(d->d_name) - strlen(SUFFIX));
		if (!spec_name_ok(name) || json_object_get(by_name, name))
			continue;
		path = xasprintf("%s/%s", dir, d->d_name);
		json_put(by_name, name, describe(name, path));
	}
	closedir(stream);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *template_list(char *const dirs[])
{
	autojson json_t *by_name = json_object();
	autofree const char **names = NULL;
	json_t *entry, *list = json_array();
	const char *name;
	size_t n = 0;

	for (size_t i = 0; dirs[i]; i++)
		list_dir(dirs[i], by_name);
	names = xcalloc(json_object_size(by_name), sizeof(*names));
	json_object_foreach(by_name, name, entry)
		names[n++] = name;
	qsort(names, n, sizeof(*names), by_text);
	for (size_t i = 0; i < n; i++)
		json_array_append(list, json_object_get(by_name, names[i]));
	return list;
}
