/* SPDX-License-Identifier: Apache-2.0 */
/* The connection file. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "guest/kernel/connection.h"

#define MAX_FILE 65536

static const char *const names[CHANNELS] = { "shell", "control", "stdin",
					     "iopub", "hb" };

const char *channel_name(enum channel c)
{
	return names[c];
}

static int load(const char *path, json_t **ret, struct sb_err *err)
{
	autofree char *text = NULL;
	size_t len;

	if (fs_read(path, MAX_FILE, &text, &len, err) < 0)
		return -1;
	if (json_parse(text, len, ret, err) < 0)
		return sb_wrap(err, "%s", path);
	if (json_is_object(*ret))
		return 0;
	json_decref(*ret);
	return sb_fail(err, SB_INVALID, "%s: not a JSON object", path);
}

static int read_address(const json_t *j, struct connection *c,
			struct sb_err *err)
{
	const char *transport = "tcp", *ip = "127.0.0.1";

	if (json_get_str(j, "transport", &transport, err) < 0 ||
	    json_get_str(j, "ip", &ip, err) < 0)
		return -1;
	if (strcmp(transport, "tcp") != 0 && strcmp(transport, "ipc") != 0)
		return sb_fail(err, SB_INVALID,
			       "'transport' must be tcp or ipc, not '%s'",
			       transport);
	if (strlen(ip) >= sizeof(c->ip))
		return sb_fail(err, SB_INVALID, "'ip' is too long");
	snprintf(c->transport, sizeof(c->transport), "%s", transport);
	snprintf(c->ip, sizeof(c->ip), "%s",
		 strcmp(ip, "*") == 0 && strcmp(transport, "tcp") == 0
			 ? "0.0.0.0"
			 : ip);
	return 0;
}

static int read_key(const json_t *j, struct wire_key *key, struct sb_err *err)
{
	const char *text = "", *scheme = "hmac-sha256";

	if (json_get_str(j, "key", &text, err) < 0 ||
	    json_get_str(j, "signature_scheme", &scheme, err) < 0)
		return -1;
	key->len = strlen(text);
	if (key->len > sizeof(key->bytes))
		return sb_fail(err, SB_INVALID, "'key' is too long");
	memcpy(key->bytes, text, key->len);
	if (key->len && strcmp(scheme, "hmac-sha256") != 0)
		return sb_fail(err, SB_INVALID,
			       "'signature_scheme' must be hmac-sha256");
	return 0;
}

static int parse(const json_t *j, struct connection *c, struct sb_err *err)
{
	if (read_address(j, c, err) < 0 || read_key(j, &c->key, err) < 0)
		return -1;
	for (int i = 0; i < CHANNELS; i++) {
		long long port = 0;
		char key[32];

		snprintf(key, sizeof(key), "%s_port", names[i]);
		if (json_get_int(j, key, 0, 65535, &port, err) < 0)
			return -1;
		c->ports[i] = (int)port;
	}
	return 0;
}

int connection_read(const char *path, struct connection *ret,
		    struct sb_err *err)
{
	autojson json_t *j = NULL;
	struct connection c = { 0 };

	if (load(path, &j, err) < 0)
		return -1;
	if (parse(j, &c, err) < 0)
		return sb_wrap(err, "%s", path);
	*ret = c;
	return 0;
}

int connection_write(const char *path, const struct connection *c,
		     struct sb_err *err)
{
	autojson json_t *j = NULL;
	autofree char *text = NULL;

	if (load(path, &j, err) < 0)
		return -1;
	for (int i = 0; i < CHANNELS; i++) {
		char key[32];

		snprintf(key, sizeof(key), "%s_port", names[i]);
		json_put(j, key, json_integer(c->ports[i]));
	}
	text = json_print(j);
	return fs_write_atomic(path, text, strlen(text), 0600, err);
}

void connection_url(const struct connection *c, enum channel ch, char *out,
		    size_t size)
{
	bool tcp = strcmp(c->transport, "tcp") == 0;

	if (tcp && !c->ports[ch])
		snprintf(out, size, "tcp://%s:*", c->ip);
	else
		snprintf(out, size, "%s://%s%s%d", c->transport, c->ip,
			 tcp ? ":" : "-", c->ports[ch]);
}
