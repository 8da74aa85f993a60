/* SPDX-License-Identifier: Apache-2.0 */
/* Which programming languages are installed. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/util.h"
#include "guest/languages.h"

#define DPKG_STATUS "/var/lib/dpkg/status"

static const struct language {
	const char *name, *program, *package;
} languages[] = {
	/* clang-format off */
	{ "bash",       "bash",    "bash" },
	{ "c",          "gcc",     "gcc" },
	{ "c++",        "g++",     "g++" },
	{ "go",         "go",      "golang-go" },
	{ "javascript", "node",    "nodejs" },
	{ "perl",       "perl",    "perl-base" },
	{ "python",     "python3", "python3" },
	{ "rust",       "rustc",   "rustc" },
	{ "typescript", "tsc",     "node-typescript" },
	/* clang-format on */
};

static char *find_program(const char *name)
{
	static const char *const dirs[] = { "/usr/local/bin", "/usr/bin",
					    "/bin" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		autofree char *path = xasprintf("%s/%s", dirs[i], name);

		if (access(path, X_OK) == 0)
			return steal(&path);
	}
	return NULL;
}

/* "2:3.11.2-1+b1" to "3.11.2": without epoch and revision. */
static json_t *upstream_version(const char *version)
{
	const char *colon = strchr(version, ':'), *dash;

	if (colon)
		version = colon + 1;
	dash = strrchr(version, '-');
	return json_text(version, dash ? (size_t)(dash - version)
				       : strcspn(version, "\n"));
}

/* Fill versions, by language, from the package database in one reading. */
static void read_versions(json_t *versions[])
{
	const struct language *now = NULL;
	FILE *f = fopen(DPKG_STATUS, "re");
	char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (str_starts(line, "Package: ")) {
			now = NULL;
			for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
				if (!strcmp(languages[i].package, line + 9))
					now = &languages[i];
		} else if (now && str_starts(line, "Version: ") &&
			   !versions[now - languages]) {
			versions[now - languages] = upstream_version(line + 9);
		}
	}
	free(line);
	if (f)
		fclose(f);
}

json_t *languages_find(void)
{
	json_t *versions[ARRAY_SIZE(languages)] = { NULL };
	json_t *list = json_array();

	read_versions(versions);
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++) {
		autofree char *program = find_program(languages[i].program);
		json_t *j;

		if (!program) {
			json_decref(versions[i]);
			continue;
		}
		j = json_object();
		json_put(j, "name", json_str(languages[i].name));
		json_put(j, "program", json_str(program));
		json_put(j, "version", versions[i] ? versions[i] : json_null());
		json_array_append_new(list, j);
	}
	return list;
}
