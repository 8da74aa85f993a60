/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of sandboxd. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "host/paths.h"
#include "host/settings.h"
#include "host/spec-value.h"
#include "host/yaml-doc.h"

#define MAX_SANDBOXES 1000

static const char *const level_words[] = {
	[LOG_LEVEL_ERR] = "error",
	[LOG_LEVEL_WARN] = "warning",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
	NULL,
};

static const char *check_uri(const char *s)
{
	if (strstr(s, "://"))
		return NULL;
	return "is not a libvirt URI (example: qemu:///system)";
}

/* As libvirt has it: a name, or a number after a plus. */
static const char *check_qemu_user(const char *s)
{
	if (s[0] == '+' && s[1] && strspn(s + 1, "0123456789") == strlen(s + 1))
		return NULL;
	return spec_text_user(s);
}

static int read_key(struct reader *r, const char *key, const json_t *v,
		    struct settings *io)
{
	int level;

	value_at(r, key);
	if (strcmp(key, "libvirt_uri") == 0)
		return value_text(r, v, check_uri, &io->libvirt_uri);
	if (strcmp(key, "qemu_user") == 0)
		return value_text(r, v, check_qemu_user, &io->qemu_user);
	if (strcmp(key, "images_dir") == 0)
		return value_text(r, v, spec_text_host_path, &io->images_dir);
	if (strcmp(key, "templates_dir") == 0)
		return value_text(r, v, spec_text_host_path,
				  &io->templates_dir);
	if (strcmp(key, "default_template") == 0)
		return value_text(r, v, spec_text_name, &io->default_template);
	if (strcmp(key, "max_sandboxes") == 0)
		return value_int(r, v, 1, MAX_SANDBOXES, &io->max_sandboxes);
	if (strcmp(key, "tcp_port") == 0)
		return value_int(r, v, 0, 65535, &io->tcp_port);
	if (strcmp(key, "log_level") == 0) {
		if (value_word(r, v, level_words, &level) < 0)
			return -1;
		io->log_level = level;
		return 0;
	}
	value_bad(r, "there is no such key");
	return sb_hint(r->err, "sandboxd(8) lists them");
}

static int read_file(const char *path, struct settings *io, struct sb_err *err)
{
	char field[VALUE_FIELD_LEN];
	struct reader r = { .field = field, .err = err };
	autoyaml struct yaml_doc *doc = NULL;
	const char *key;
	json_t *v;

	if (yaml_doc_read(path, &doc, err) < 0)
		return -1;
	json_object_foreach(yaml_doc_json(doc), key, v)
		if (read_key(&r, key, v, io) < 0)
			return yaml_doc_fail(doc, field, err);
	io->file = xstrdup(path);
	return 0;
}

int settings_load(struct settings *ret, struct sb_err *err)
{
	autosettings struct settings s = {
		.default_template = xstrdup("default"),
		.max_sandboxes = 64,
		.tcp_port = -1,
		.log_level = LOG_LEVEL_INFO,
	};
	autofree char *path = paths_config();
	struct sb_err e = { 0 };

	if (read_file(path, &s, &e) < 0 &&
	    (e.code != SB_NOTFOUND || !str_empty(getenv("SANDBOX_CONFIG")))) {
		if (err)
			*err = e;
		return -1;
	}
	*ret = s;
	s = (struct settings){ 0 };
	return 0;
}

void settings_done(struct settings *s)
{
	free(s->file);
	free(s->libvirt_uri);
	free(s->qemu_user);
	free(s->images_dir);
	free(s->templates_dir);
	free(s->default_template);
	*s = (struct settings){ 0 };
}
