/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a specification that hold a list or a map. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/json.h"
#include "common/util.h"
#include "host/spec-list.h"

#define MAX_PORT 65535

static void mount_done(struct spec_mount *m)
{
	free(m->host);
	free(m->guest);
	*m = (struct spec_mount){ 0 };
}
#define automount __attribute__((cleanup(mount_done)))

/* The i-th entry of a list must be an object with no key but those of keys. */
static int check_entry(struct reader *r, const json_t *v, const char *list,
		       size_t i, const char *const keys[])
{
	const char *key;
	json_t *value;

	value_at_entry(r, list, i, NULL);
	if (!json_is_object(v))
		return value_bad(r, "must be an object with the key 'guest'");
	json_object_foreach((json_t *)v, key, value) {
		size_t k = 0;

		while (keys[k] && strcmp(key, keys[k]) != 0)
			k++;
		if (keys[k])
			continue;
		value_at_entry(r, list, i, key);
		return value_bad(r, "there is no such key");
	}
	return 0;
}

static int read_mount(struct reader *r, const json_t *v, size_t i,
		      struct spec_mount *m)
{
	static const char *const keys[] = { "host", "guest", "readonly", NULL };
	const json_t *readonly = json_object_get(v, "readonly");

	if (check_entry(r, v, "mounts", i, keys) < 0)
		return -1;
	value_at_entry(r, "mounts", i, "host");
	if (value_text(r, json_object_get(v, "host"), spec_text_host_path,
		       &m->host) < 0)
		return -1;
	value_at_entry(r, "mounts", i, "readonly");
	if (readonly && value_flag(r, readonly, &m->readonly) < 0)
		return -1;
	value_at_entry(r, "mounts", i, "guest");
	return value_text(r, json_object_get(v, "guest"), spec_text_guest_path,
			  &m->guest);
}

int spec_read_mounts(struct reader *r, const json_t *v, struct spec *io)
{
	size_t i, k, given = io->nmounts;
	json_t *entry;

	if (!json_is_array(v))
		return value_bad(r, "must be a list");
	json_array_foreach((json_t *)v, i, entry) {
		automount struct spec_mount m = { 0 };

		if (read_mount(r, entry, i, &m) < 0)
			return -1;
		for (k = 0; k < io->nmounts; k++)
			if (strcmp(io->mounts[k].guest, m.guest) == 0)
				break;
		if (k >= given && k < io->nmounts)
			return value_bad(r, "'%.80s' is mounted twice",
					 m.guest);
		if (k == SPEC_MAX_MOUNTS)
			return value_bad(r, "there can be at most %d mounts",
					 SPEC_MAX_MOUNTS);
		mount_done(&io->mounts[k]);
		io->mounts[k] = m;
		m = (struct spec_mount){ 0 };
		io->nmounts = MAX(io->nmounts, k + 1);
	}
	return 0;
}

static int read_port(struct reader *r, const json_t *v, size_t i,
		     struct spec_port *p)
{
	static const char *const keys[] = { "host", "guest", NULL };
	const json_t *host = json_object_get(v, "host");

	if (check_entry(r, v, "ports", i, keys) < 0)
		return -1;
	value_at_entry(r, "ports", i, "host");
	if (host && value_int(r, host, 0, MAX_PORT, &p->host) < 0)
		return -1;
	value_at_entry(r, "ports", i, "guest");
	return value_int(r, json_object_get(v, "guest"), 1, MAX_PORT,
			 &p->guest);
}

int spec_read_ports(struct reader *r, const json_t *v, struct spec *io)
{
	size_t i, k, given = io->nports;
	json_t *entry;

	if (!json_is_array(v))
		return value_bad(r, "must be a list");
	json_array_foreach((json_t *)v, i, entry) {
		struct spec_port p = { 0 };

		if (read_port(r, entry, i, &p) < 0)
			return -1;
		for (k = 0; k < io->nports; k++)
			if (io->ports[k].guest == p.guest)
				break;
		if (k >= given && k < io->nports)
			return value_bad(r, "%d is forwarded twice", p.guest);
		if (k == SPEC_MAX_PORTS)
			return value_bad(r, "there can be at most %d ports",
					 SPEC_MAX_PORTS);
		io->ports[k] = p;
		io->nports = MAX(io->nports, k + 1);
	}
	return 0;
}

static int *host_port(struct spec_host_ports *p, const char *key)
{
	if (strcmp(key, "server") == 0)
		return &p->server;
	if (strcmp(key, "jupyter") == 0)
		return &p->jupyter;
	if (strcmp(key, "ssh") == 0)
		return &p->ssh;
	if (strcmp(key, "vnc") == 0)
		return &p->vnc;
	return NULL;
}

int spec_read_host_ports(struct reader *r, const json_t *v, struct spec *io)
{
	char path[VALUE_FIELD_LEN];
	const char *key;
	json_t *value;

	if (!json_is_object(v))
		return value_bad(r, "must be an object");
	json_object_foreach((json_t *)v, key, value) {
		int *port = host_port(&io->host_ports, key);

		snprintf(path, sizeof(path), "host_ports.%s", key);
		value_at(r, path);
		if (!port)
			return value_bad(r, "there is no such key");
		if (value_int(r, value, 0, MAX_PORT, port) < 0)
			return -1;
	}
	return 0;
}

int spec_read_origins(struct reader *r, const json_t *v, struct spec *io)
{
	size_t i, k, given = io->norigins;
	json_t *entry;

	if (!json_is_array(v))
		return value_bad(r, "must be a list");
	json_array_foreach((json_t *)v, i, entry) {
		autofree char *origin = NULL;

		value_at_entry(r, "origins", i, NULL);
		if (value_text(r, entry, spec_text_origin, &origin) < 0)
			return -1;
		for (k = 0; k < io->norigins; k++)
			if (strcasecmp(io->origins[k], origin) == 0)
				break;
		if (k >= given && k < io->norigins)
			return value_bad(r, "'%.80s' is named twice", origin);
		if (k < given)
			continue;
		if (k == SPEC_MAX_ORIGINS)
			return value_bad(r, "there can be at most %d origins",
					 SPEC_MAX_ORIGINS);
		io->origins[io->norigins++] = steal(&origin);
	}
	return 0;
}

/* The text of a string, or of a number or flag as it would be written. */
static int var_value(struct reader *r, const json_t *v, char **ret)
{
	const char *complaint;

	if (json_is_integer(v)) {
		*ret = xasprintf("%lld", (long long)json_integer_value(v));
		return 0;
	}
	if (json_is_boolean(v)) {
		*ret = xstrdup(json_is_true(v) ? "true" : "false");
		return 0;
	}
	if (!json_is_string(v))
		return value_bad(r, "must be a text");
	complaint =
		spec_text_plain(json_string_value(v), json_string_length(v));
	if (complaint)
		return value_bad(r, "%s", complaint);
	*ret = xstrdup(json_string_value(v));
	return 0;
}

/* Set a variable; the value is taken. */
static void vars_put(struct spec_vars *vars, const char *name, char *value)
{
	for (size_t i = 0; i < vars->n; i++) {
		if (strcmp(vars->v[i].name, name) != 0)
			continue;
		free(vars->v[i].value);
		vars->v[i].value = value;
		return;
	}
	vars->v = xrealloc(vars->v, vars->n + 1, sizeof(*vars->v));
	vars->v[vars->n++] = (struct spec_var){ xstrdup(name), value };
}

static int read_vars(struct reader *r, const json_t *v, const char *map,
		     spec_text_check *check, struct spec_vars *io)
{
	char path[VALUE_FIELD_LEN];
	const char *name, *complaint;
	json_t *value;

	if (!json_is_object(v))
		return value_bad(r, "must be an object");
	json_object_foreach((json_t *)v, name, value) {
		char *text = NULL;

		snprintf(path, sizeof(path), "%s.%s", map, name);
		value_at(r, path);
		complaint = check(name);
		if (complaint)
			return value_bad(r, "'%.80s' %s", name, complaint);
		if (!spec_vars_get(io, name) && io->n == SPEC_MAX_VARS)
			return value_bad(r, "there can be at most %d",
					 SPEC_MAX_VARS);
		if (var_value(r, value, &text) < 0)
			return -1;
		vars_put(io, name, text);
	}
	return 0;
}

int spec_read_env(struct reader *r, const json_t *v, struct spec *io)
{
	return read_vars(r, v, "env", spec_text_env_name, &io->env);
}

int spec_read_labels(struct reader *r, const json_t *v, struct spec *io)
{
	return read_vars(r, v, "labels", spec_text_label_name, &io->labels);
}

json_t *spec_write_mounts(const struct spec *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->nmounts; i++) {
		json_t *m = json_object();

		json_put(m, "host", json_str(s->mounts[i].host));
		json_put(m, "guest", json_str(s->mounts[i].guest));
		json_put(m, "readonly", json_boolean(s->mounts[i].readonly));
		json_array_append_new(list, m);
	}
	return list;
}

json_t *spec_write_ports(const struct spec *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->nports; i++) {
		json_t *p = json_object();

		json_put(p, "host", json_integer(s->ports[i].host));
		json_put(p, "guest", json_integer(s->ports[i].guest));
		json_array_append_new(list, p);
	}
	return list;
}

json_t *spec_write_host_ports(const struct spec *s)
{
	json_t *ports = json_object();

	json_put(ports, "server", json_integer(s->host_ports.server));
	json_put(ports, "jupyter", json_integer(s->host_ports.jupyter));
	json_put(ports, "ssh", json_integer(s->host_ports.ssh));
	json_put(ports, "vnc", json_integer(s->host_ports.vnc));
	return ports;
}

json_t *spec_write_origins(const struct spec *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->norigins; i++)
		json_array_append_new(list, json_str(s->origins[i]));
	return list;
}

static json_t *write_vars(const struct spec_vars *vars)
{
	json_t *map = json_object();

	for (size_t i = 0; i < vars->n; i++)
		json_put(map, vars->v[i].name, json_str(vars->v[i].value));
	return map;
}

json_t *spec_write_env(const struct spec *s)
{
	return write_vars(&s->env);
}

json_t *spec_write_labels(const struct spec *s)
{
	return write_vars(&s->labels);
}

void spec_vars_done(struct spec_vars *vars)
{
	for (size_t i = 0; i < vars->n; i++) {
		free(vars->v[i].name);
		free(vars->v[i].value);
	}
	free(vars->v);
	*vars = (struct spec_vars){ 0 };
}

void spec_vars_own(struct spec_vars *vars)
{
	struct spec_var *borrowed = vars->v;

	vars->v = xcalloc(vars->n, sizeof(*vars->v));
	for (size_t i = 0; i < vars->n; i++) {
		vars->v[i].name = xstrdup(borrowed[i].name);
		vars->v[i].value = xstrdup(borrowed[i].value);
	}
}

const char *spec_vars_get(const struct spec_vars *vars, const char *name)
{
	for (size_t i = 0; i < vars->n; i++)
		if (strcmp(vars->v[i].name, name) == 0)
			return vars->v[i].value;
	return NULL;
}
