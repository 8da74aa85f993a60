/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the control channel. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "common/http1.h"
#include "common/json.h"
#include "common/token.h"
#include "guest/desktop.h"
#include "guest/message.h"

#define MAX_ENV_BYTES (32 * 1024)

static int require(const json_t *msg, const char *key, const char **ret,
		   struct sb_err *err)
{
	*ret = NULL;
	if (json_get_str(msg, key, ret, err) < 0)
		return -1;
	return *ret ? 0 : sb_fail(err, SB_INVALID, "'%s' is missing", key);
}

/* Whether s is 1 to max characters, alphanumeric or one of more. */
static bool is_word(const char *s, size_t max, const char *more)
{
	size_t n = strlen(s);

	if (n < 1 || n > max)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr(more, *s))
			return false;
	return true;
}

/* RFC 1123: one label. */
static bool is_hostname(const char *s)
{
	return is_word(s, 63, "-") && s[0] != '-' && !str_ends(s, "-");
}

static bool is_env_name(const char *s)
{
	return is_word(s, 256, "_") && !isdigit((unsigned char)s[0]);
}

/* Absolute, and without a part that leads elsewhere. */
static bool is_mount_path(const char *s)
{
	size_t n = strlen(s);

	if (s[0] != '/' || n < 2 || n > 1024 || s[n - 1] == '/')
		return false;
	for (; s; s = strchr(s + 1, '/'))
		if (s[1] == '/' || str_starts(s, "/./") ||
		    str_starts(s, "/../") || strcmp(s, "/.") == 0 ||
		    strcmp(s, "/..") == 0)
			return false;
	return true;
}

static int parse_env(const json_t *msg, struct message_personalise *p,
		     struct sb_err *err)
{
	json_t *env = json_object_get(msg, "env"), *value;
	const char *name;
	size_t bytes = 0;

	if (!env)
		return 0;
	if (!json_is_object(env))
		return sb_fail(err, SB_INVALID, "'env' must be an object");
	json_object_foreach(env, name, value) {
		if (!is_env_name(name))
			return sb_fail(err, SB_INVALID,
				       "env: '%s' is not a variable's name",
				       name);
		if (!json_is_string(value) ||
		    strpbrk(json_string_value(value), "\r\n"))
			return sb_fail(err, SB_INVALID,
				       "env: '%s' must be one line of text",
				       name);
		bytes += strlen(name) + json_string_length(value) + 2;
	}
	if (bytes > MAX_ENV_BYTES)
		return sb_fail(err, SB_LIMIT, "env: more than %d bytes",
			       MAX_ENV_BYTES);
	p->env = env;
	return 0;
}

static int parse_mount(const json_t *j, struct message_mount *m,
		       struct sb_err *err)
{
	static const char *const keys[] = { "tag", "path", "readonly", NULL };

	if (!json_is_object(j))
		return sb_fail(err, SB_INVALID, "must be an object");
	if (json_only(j, keys, err) < 0 ||
	    require(j, "tag", &m->tag, err) < 0 ||
	    require(j, "path", &m->path, err) < 0 ||
	    json_get_bool(j, "readonly", &m->readonly, err) < 0)
		return -1;
	if (!is_word(m->tag, 31, "-_"))
		return sb_fail(err, SB_INVALID, "bad tag");
	if (!is_mount_path(m->path))
		return sb_fail(err, SB_INVALID,
			       "'path' must be an absolute, plain path");
	return 0;
}

static int parse_mounts(const json_t *msg, struct message_personalise *p,
			struct sb_err *err)
{
	json_t *list = json_object_get(msg, "mounts"), *j;
	size_t i;

	if (!list)
		return 0;
	if (!json_is_array(list))
		return sb_fail(err, SB_INVALID, "'mounts' must be an array");
	if (json_array_size(list) > MESSAGE_MAX_MOUNTS)
		return sb_fail(err, SB_LIMIT, "more than %d mounts",
			       MESSAGE_MAX_MOUNTS);
	json_array_foreach(list, i, j)
		if (parse_mount(j, &p->mount[i], err) < 0)
			return sb_wrap(err, "mounts[%zu]", i);
	p->nmounts = json_array_size(list);
	return 0;
}

static int hex_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

static int parse_entropy(const json_t *msg, struct message_personalise *p,
			 struct sb_err *err)
{
	const char *hex = NULL;
	size_t n;

	if (json_get_str(msg, "entropy", &hex, err) < 0)
		return -1;
	n = hex ? strlen(hex) : 0;
	if (n % 2 || n / 2 > MESSAGE_MAX_ENTROPY)
		return sb_fail(err, SB_INVALID,
			       "'entropy' must be at most %d bytes in hex",
			       MESSAGE_MAX_ENTROPY);
	for (size_t i = 0; i < n / 2; i++) {
		int hi = hex_digit(hex[2 * i]), lo = hex_digit(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return sb_fail(err, SB_INVALID,
				       "'entropy' must be hex digits");
		p->entropy[i] = hi << 4 | lo;
	}
	p->nentropy = n / 2;
	return 0;
}

static int parse_names(const json_t *msg, struct message_personalise *p,
		       struct sb_err *err)
{
	if (require(msg, "id", &p->id, err) < 0 ||
	    require(msg, "token", &p->token, err) < 0 ||
	    require(msg, "hostname", &p->hostname, err) < 0)
		return -1;
	if (!is_word(p->id, 64, "-_"))
		return sb_fail(err, SB_INVALID, "bad id");
	if (!is_word(p->token, 256, "-._~+/=") || strlen(p->token) < 32)
		return sb_fail(err, SB_INVALID,
			       "the token must have 32 characters or more");
	if (!is_hostname(p->hostname))
		return sb_fail(err, SB_INVALID, "'%s' is not a host name",
			       p->hostname);
	return 0;
}

/* Or nothing. */
static bool is_file_name(const char *s)
{
	return !s || (is_word(s, 128, "-_.") && s[0] != '.');
}

static int check_origins(const json_t *msg, struct sb_err *err)
{
	json_t *list = json_object_get(msg, "origins"), *j;
	size_t i;

	if (list && !json_is_array(list))
		return sb_fail(err, SB_INVALID, "'origins' must be an array");
	if (json_array_size(list) > MESSAGE_MAX_ORIGINS)
		return sb_fail(err, SB_LIMIT, "more than %d origins",
			       MESSAGE_MAX_ORIGINS);
	json_array_foreach(list, i, j) {
		const char *s = json_string_value(j);

		if (!s || (strcmp(s, "*") != 0 && !http1_is_origin(s)))
			return sb_fail(err, SB_INVALID,
				       "origins[%zu] is not a web origin", i);
	}
	return 0;
}

/* How guestd itself is to be. */
static int parse_server(const json_t *msg, struct message_personalise *p,
			struct sb_err *err)
{
	long long port = 0, jupyter = 0, kernels, idle;
	int width, height;
	bool warm;

	if (json_get_str(msg, "workspace", &p->workspace, err) < 0 ||
	    json_get_str(msg, "server_log", &p->server_log, err) < 0 ||
	    json_get_str(msg, "jupyter_log", &p->jupyter_log, err) < 0 ||
	    json_get_int(msg, "server_port", 1, 65535, &port, err) < 0 ||
	    json_get_str(msg, "display", &p->display, err) < 0 ||
	    json_get_int(msg, "jupyter_port", 0, 65535, &jupyter, err) < 0 ||
	    json_get_int(msg, "max_kernels", 1, 1000, &kernels, err) < 0 ||
	    json_get_int(msg, "kernel_idle", 0, INT_MAX, &idle, err) < 0 ||
	    json_get_bool(msg, "warm_kernel", &warm, err) < 0 ||
	    json_get_bool(msg, "debug", &p->debug, err) < 0 ||
	    check_origins(msg, err) < 0)
		return -1;
	if (p->display &&
	    desktop_parse_size(p->display, &width, &height, err) < 0)
		return sb_wrap(err, "'display'");
	p->server_port = (int)port;
	p->jupyter_port = (int)jupyter;
	if (p->workspace && !is_mount_path(p->workspace))
		return sb_fail(err, SB_INVALID,
			       "'workspace' must be an absolute, plain path");
	if (!is_file_name(p->server_log) || !is_file_name(p->jupyter_log))
		return sb_fail(err, SB_INVALID,
			       "'server_log' and 'jupyter_log' must be plain "
			       "file names");
	return 0;
}

int message_parse_personalise(const json_t *msg,
			      struct message_personalise *ret,
			      struct sb_err *err)
{
	static const char *const keys[] = {
		"type",		"id",	       "token",	  "hostname",
		"env",		"mounts",      "entropy", "time_ms",
		"workspace",	"server_log",  "debug",	  "server_port",
		"jupyter_port", "jupyter_log", "display", "max_kernels",
		"kernel_idle",	"warm_kernel", "origins", NULL
	};
	struct message_personalise p = { 0 };
	long long time_ms = 0;

	if (json_only(msg, keys, err) < 0 || parse_names(msg, &p, err) < 0 ||
	    parse_env(msg, &p, err) < 0 || parse_mounts(msg, &p, err) < 0 ||
	    parse_entropy(msg, &p, err) < 0 || parse_server(msg, &p, err) < 0 ||
	    json_get_int(msg, "time_ms", 0, INT64_MAX / 1000000, &time_ms,
			 err) < 0)
		return -1;
	p.time_ms = time_ms;
	p.json = json_incref((json_t *)msg);
	*ret = p;
	return 0;
}

void message_personalise_done(struct message_personalise *p)
{
	json_decref(p->json);
	*p = (struct message_personalise){ 0 };
}

json_t *message_error(const struct sb_err *err)
{
	json_t *j = json_object();

	json_put(j, "type", json_str("error"));
	json_put(j, "code", json_str(sb_code_name(err->code)));
	json_put(j, "message", json_str(err->msg));
	return j;
}
