/* SPDX-License-Identifier: Apache-2.0 */
/* The body of POST /v1/sandboxes, from the options of `sandboxctl up`. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/util.h"
#include "host/ctl-request.h"

#define MAX_ENV_FILE (1 << 20)
#define MAX_PORT 65535

int request_port(const char *option, const char *text, json_t **ret,
		 struct sb_err *err)
{
	autofree char *host = xstrdup(text);
	long long h = 0, g;
	char *guest = strchr(host, ':');

	if (guest)
		*guest++ = '\0';
	else
		guest = host;
	if (parse_num(guest, 1, MAX_PORT, &g) ||
	    (guest != host && parse_num(host, 0, MAX_PORT, &h)))
		return sb_fail(err, SB_INVALID,
			       "%s: '%s' is not HOST:GUEST with two port "
			       "numbers, such as 8080:80",
			       option, text);
	*ret = json_pack("{s:I, s:I}", "host", (json_int_t)h, "guest",
			 (json_int_t)g);
	return 0;
}

int request_pair(const char *option, const char *text, bool inherit,
		 json_t *obj, struct sb_err *err)
{
	const char *eq = strchr(text, '='), *value = eq ? eq + 1 : NULL;
	autofree char *key = NULL;

	if (!value && inherit && *text) {
		value = getenv(text);
		if (!value)
			return sb_fail(err, SB_INVALID,
				       "%s: '%s' is not set in your "
				       "environment; say %s=VALUE",
				       option, text, text);
	}
	if (!value || eq == text)
		return sb_fail(err, SB_INVALID, "%s: '%s' is not KEY=VALUE",
			       option, text);
	key = xstrndup(text, eq ? (size_t)(eq - text) : strlen(text));
	if (json_object_set_new(obj, key, json_string(value)))
		return sb_fail(err, SB_INVALID, "%s: '%s' is not UTF-8", option,
			       key);
	return 0;
}

/* sandboxd has another working folder: host paths become absolute here. */
static int mount(const char *text, json_t **ret, struct sb_err *err)
{
	autofree char *host = xstrdup(text);
	char path[PATH_MAX], *guest;
	bool readonly = false;

	if (str_ends(host, ":ro") || str_ends(host, ":rw")) {
		readonly = str_ends(host, ":ro");
		host[strlen(host) - 3] = '\0';
	}
	guest = strrchr(host, ':');
	if (!guest || guest == host || guest[1] != '/')
		return sb_fail(err, SB_INVALID,
			       "--mount: '%s' is not HOST:GUEST[:ro] with an "
			       "absolute path in the guest",
			       text);
	*guest++ = '\0';
	if (!realpath(host, path)) {
		sb_fail(err, sb_code_of_errno(errno), "--mount: '%s': %m",
			host);
		return sb_hint(err, "create the folder first");
	}
	*ret = json_pack("{s:s, s:s, s:b}", "host", path, "guest", guest,
			 "readonly", readonly);
	return *ret ? 0 : sb_fail(err, SB_INVALID, "--mount: not UTF-8");
}

static int add_mounts(const struct strlist *l, json_t *body, struct sb_err *err)
{
	json_t *list = json_array(), *m;

	json_put(body, "mounts", list);
	for (size_t i = 0; i < l->n; i++) {
		if (mount(l->v[i], &m, err))
			return -1;
		json_array_append_new(list, m);
	}
	return 0;
}

static int add_ports(const struct strlist *l, json_t *body, struct sb_err *err)
{
	json_t *list = json_array(), *p;

	json_put(body, "ports", list);
	for (size_t i = 0; i < l->n; i++) {
		if (request_port("--publish", l->v[i], &p, err))
			return -1;
		json_array_append_new(list, p);
	}
	return 0;
}

static int add_pairs(const char *option, const struct strlist *l, bool inherit,
		     json_t *obj, struct sb_err *err)
{
	for (size_t i = 0; i < l->n; i++)
		if (request_pair(option, l->v[i], inherit, obj, err))
			return -1;
	return 0;
}

/* Lines "KEY=VALUE" or "KEY"; empty ones and those with '#' are skipped. */
static int add_env_file(const char *path, json_t *env, struct sb_err *err)
{
	autofree char *text = NULL, *where = NULL;
	char *rest, *line;
	int n = 0;

	if (fs_read(path, MAX_ENV_FILE, &text, NULL, err))
		return sb_wrap(err, "--env-file");
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		n++;
		line[strcspn(line, "\r")] = '\0';
		while (isspace((unsigned char)*line))
			line++;
		if (!*line || *line == '#')
			continue;
		free(where);
		where = xasprintf("%s:%d", path, n);
		if (request_pair(where, line, true, env, err))
			return -1;
	}
	return 0;
}

static int add_env(const struct request *r, json_t *body, struct sb_err *err)
{
	json_t *env = json_object();

	json_put(body, "env", env);
	if (r->env_file && add_env_file(r->env_file, env, err))
		return -1;
	return add_pairs("--env", &r->env, true, env, err);
}

static int add_labels(const struct request *r, json_t *body, struct sb_err *err)
{
	json_t *labels = json_object();

	json_put(body, "labels", labels);
	return add_pairs("--label", &r->labels, false, labels, err);
}

static int add_str(json_t *body, const char *key, const char *value,
		   struct sb_err *err)
{
	if (value && json_object_set_new(body, key, json_string(value)))
		return sb_fail(err, SB_INVALID, "%s is not UTF-8", key);
	return 0;
}

static void add_num(json_t *body, const char *key, long long value)
{
	if (value)
		json_put(body, key, json_integer(value));
}

static void add_flag(json_t *body, const char *key, bool value)
{
	if (value)
		json_put(body, key, json_true());
}

int request_body(const struct request *r, json_t **ret, struct sb_err *err)
{
	autojson json_t *body = json_object();

	if (add_str(body, "name", r->name, err) ||
	    add_str(body, "template", r->template, err) ||
	    add_str(body, "image", r->image, err) ||
	    add_str(body, "network", r->network, err) ||
	    add_str(body, "restart", r->restart, err))
		return -1;
	add_num(body, "cpus", r->cpus);
	add_num(body, "memory", r->memory);
	add_num(body, "disk", r->disk);
	add_num(body, "ttl", r->ttl);
	add_flag(body, "auto_ports", r->auto_ports);
	add_flag(body, "preserve", r->preserve);
	if ((r->mounts.n && add_mounts(&r->mounts, body, err)) ||
	    (r->ports.n && add_ports(&r->ports, body, err)) ||
	    ((r->env.n || r->env_file) && add_env(r, body, err)) ||
	    (r->labels.n && add_labels(r, body, err)))
		return -1;
	*ret = steal(&body);
	return 0;
}
