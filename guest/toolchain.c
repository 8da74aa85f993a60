/* SPDX-License-Identifier: Apache-2.0 */
/* How code of a language is run. */
#include "config.h"

#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "guest/toolchain.h"

#define MAX_TABLE (64 * 1024)

static bool has_alias(const json_t *entry, const char *name)
{
	const json_t *alias;
	size_t i;

	json_array_foreach(json_object_get(entry, "aliases"), i, alias)
		if (json_is_string(alias) &&
		    strcmp(json_string_value(alias), name) == 0)
			return true;
	return false;
}

static int fail_unknown(json_t *languages, const char *language,
			struct sb_err *err)
{
	autobuf struct buf names = { 0 };
	const char *name;
	json_t *entry;

	json_object_foreach(languages, name, entry)
		buf_addf(&names, "%s%s", names.len ? ", " : "", name);
	return sb_fail(err, SB_INVALID, "'language' '%s' is none of: %s",
		       language, names.len ? names.p : "(none)");
}

/* The table comes with us, but may have been changed in the sandbox. */
static int take_entry(const char *name, const json_t *entry,
		      struct toolchain *tc, struct sb_err *err)
{
	tc->name = name;
	tc->image = "";
	if (json_get_str(entry, "extension", &tc->extension, err) < 0 ||
	    json_get_str(entry, "compile", &tc->compile, err) < 0 ||
	    json_get_str(entry, "run", &tc->run, err) < 0 ||
	    json_get_str(entry, "kernel", &tc->kernel, err) < 0 ||
	    json_get_str(entry, "image", &tc->image, err) < 0)
		return -1;
	tc->needs = json_object_get(entry, "needs");
	if (!tc->run || !tc->extension || strchr(tc->extension, '/'))
		return sb_fail(err, SB_INVALID,
			       "it needs 'extension' and 'run'");
	return 0;
}

int toolchain_load(const char *path, const char *language,
		   struct toolchain *ret, struct sb_err *err)
{
	autojson json_t *table = NULL;
	autofree char *text = NULL;
	struct toolchain tc = { 0 };
	json_t *languages, *entry;
	const char *name;
	size_t len;

	if (fs_read(path, MAX_TABLE, &text, &len, err) < 0 ||
	    json_parse(text, len, &table, err) < 0) {
		sb_wrap(err, "the table of languages");
		err->code = SB_SYSTEM;
		return -1;
	}
	languages = json_object_get(table, "languages");
	json_object_foreach(languages, name, entry) {
		if (strcmp(name, language) != 0 && !has_alias(entry, language))
			continue;
		if (take_entry(name, entry, &tc, err) < 0) {
			sb_wrap(err, "language '%s' in '%s'", name, path);
			err->code = SB_SYSTEM;
			return -1;
		}
		tc.table = steal(&table);
		*ret = tc;
		return 0;
	}
	return fail_unknown(languages, language, err);
}

void toolchain_done(struct toolchain *tc)
{
	json_decref(tc->table);
}
