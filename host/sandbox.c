/* SPDX-License-Identifier: Apache-2.0 */
/* One sandbox: its record and its journal. */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/util.h"
#include "host/journal.h"
#include "host/sandbox.h"

static const char *const state_names[] = {
	[SANDBOX_CREATING] = "creating",
	[SANDBOX_BOOTING] = "booting",
	[SANDBOX_INSTALLING] = "installing",
	[SANDBOX_READY] = "ready",
	[SANDBOX_PAUSED] = "paused",
	[SANDBOX_STOPPING] = "stopping",
	[SANDBOX_STOPPED] = "stopped",
	[SANDBOX_FAILED] = "failed",
	[SANDBOX_GONE] = "gone",
};
static_assert(ARRAY_SIZE(state_names) == SANDBOX_NSTATES,
	      "state_names[] out of step");

const char *sandbox_state_name(enum sandbox_state s)
{
	return state_names[s];
}

enum sandbox_state sandbox_state_of(const char *name)
{
	enum sandbox_state s = 0;

	while (s < SANDBOX_NSTATES && strcmp(state_names[s], name) != 0)
		s++;
	return s;
}

static struct sandbox *sandbox_alloc(void)
{
	struct sandbox *sb = xcalloc(1, sizeof(*sb));

	LIST_INIT(&sb->waiters);
	spec_init(&sb->spec);
	sb->cancel = cancel_new();
	return sb;
}

/* A random UUID (version 4). */
static void uuid_new(char out[SANDBOX_UUID_LEN + 1])
{
	char hex[2 * 16 + 1];

	random_hex(hex, 16);
	snprintf(out, SANDBOX_UUID_LEN + 1, "%.8s-%.4s-4%.3s-8%.3s-%.12s", hex,
		 hex + 8, hex + 12, hex + 15, hex + 18);
}

struct sandbox *sandbox_new(const char *state_dir, struct spec *spec)
{
	struct sandbox *sb = sandbox_alloc();

	memcpy(sb->id, "sb-", 3);
	random_hex(sb->id + 3, (SANDBOX_ID_LEN - 3) / 2);
	random_hex(sb->token, TOKEN_BYTES);
	uuid_new(sb->uuid);
	spec_done(&sb->spec);
	sb->spec = *spec;
	spec_init(spec);
	sb->name = xstrdup(sb->spec.name ? sb->spec.name : sb->id);
	sb->dir = xasprintf("%s/sandboxes/%s", state_dir, sb->id);
	sb->created_ms = clock_wall_ms();
	return sb;
}

void sandbox_free(struct sandbox *sb)
{
	if (!sb)
		return;
	assert(LIST_EMPTY(&sb->waiters));
	if (sb->ttl)
		loop_timer_free(sb->ttl);
	cancel_free(sb->cancel);
	json_decref(sb->receipt);
	image_done(&sb->image);
	spec_done(&sb->spec);
	free(sb->idempotency_key);
	free(sb->name);
	free(sb->dir);
	free(sb);
}

const char *sandbox_name(const struct sandbox *sb)
{
	return sb->retired ? sb->id : sb->name;
}

char *sandbox_path(const struct sandbox *sb, const char *file)
{
	return xasprintf("%s/%s", sb->dir, file);
}

char *sandbox_domain(const struct sandbox *sb)
{
	return xasprintf("sandbox-%s", sb->id);
}

int sandbox_port_of(const struct sandbox *sb, const char *name)
{
	for (size_t i = 0; i < sb->nports; i++)
		if (strcmp(sb->ports[i].name, name) == 0)
			return sb->ports[i].host;
	return 0;
}

/*
 * The journal.  What writes an entry first appends it, then hands the same
 * object to apply(), which is also what reads it back: so the two agree.
 */

/* Journals of older versions have no UUID: theirs is made of id and time. */
static int apply_uuid(struct sandbox *sb, const char *uuid, struct sb_err *err)
{
	if (!uuid) {
		snprintf(sb->uuid, sizeof(sb->uuid),
			 "%.8s-0000-4000-8000-%012" PRIx64, sb->id + 3,
			 (uint64_t)sb->created_ms & 0xffffffffffff);
		return 0;
	}
	if (strlen(uuid) != SANDBOX_UUID_LEN ||
	    strspn(uuid, "0123456789abcdef-") != SANDBOX_UUID_LEN)
		return sb_fail(err, SB_SYSTEM, "it has no valid UUID");
	memcpy(sb->uuid, uuid, sizeof(sb->uuid));
	return 0;
}

static int apply_create(struct sandbox *sb, const json_t *e, struct sb_err *err)
{
	const char *id = json_str_or(e, "id", "");
	const char *token = json_str_or(e, "token", "");

	if (strlen(id) != SANDBOX_ID_LEN || strlen(token) != TOKEN_LEN)
		return sb_fail(err, SB_SYSTEM, "journal has no valid id");
	memcpy(sb->id, id, sizeof(sb->id));
	memcpy(sb->token, token, sizeof(sb->token));
	free(sb->name);
	sb->name = xstrdup(json_str_or(e, "name", id));
	free(sb->idempotency_key);
	sb->idempotency_key = xstrdup0(
		json_string_value(json_object_get(e, "idempotency_key")));
	sb->created_ms = json_int_or(e, "created_ms", 0);
	if (apply_uuid(sb, json_str_or(e, "uuid", NULL), err) < 0)
		return -1;
	return spec_from_json(json_object_get(e, "spec"), &sb->spec, err);
}

static void apply_ports(struct sandbox *sb, const json_t *list)
{
	json_t *p;
	size_t i;

	sb->nports = 0;
	json_array_foreach(list, i, p) {
		struct sandbox_port *port = &sb->ports[sb->nports];

		if (sb->nports == ARRAY_SIZE(sb->ports))
			return;
		port->host = (int)json_int_or(p, "host", 0);
		port->guest = (int)json_int_or(p, "guest", 0);
		snprintf(port->name, sizeof(port->name), "%s",
			 json_str_or(p, "name", ""));
		sb->nports++;
	}
}

static int apply_state(struct sandbox *sb, const json_t *e, struct sb_err *err)
{
	enum sandbox_state s = sandbox_state_of(json_str_or(e, "state", ""));

	if (s == SANDBOX_NSTATES)
		return sb_fail(err, SB_SYSTEM, "journal has an unknown state");
	sb->state = s;
	sb->detail[0] = '\0';
	sb->cause = (struct sb_err){ 0 };
	if (json_object_get(e, "cause")) {
		sb_fail(&sb->cause, sb_code_of_name(json_str_or(e, "code", "")),
			"%s", json_str_or(e, "cause", ""));
		sb_hint(&sb->cause, "%s", json_str_or(e, "hint", ""));
	}
	if (s == SANDBOX_READY && !sb->ready_ms)
		sb->ready_ms = json_int_or(e, "time", clock_wall_ms());
	return 0;
}

static int apply(void *arg, const json_t *e, struct sb_err *err)
{
	const char *what = json_str_or(e, "entry", "");
	struct sandbox *sb = arg;

	if (strcmp(what, "create") == 0)
		return apply_create(sb, e, err);
	if (strcmp(what, "state") == 0)
		return apply_state(sb, e, err);
	if (strcmp(what, "image") == 0) {
		image_done(&sb->image);
		sb->kvm = json_bool_or(e, "kvm", false);
		return image_from_json(json_object_get(e, "image"), &sb->image,
				       err);
	}
	if (strcmp(what, "ports") == 0) {
		apply_ports(sb, json_object_get(e, "ports"));
	} else if (strcmp(what, "receipt") == 0) {
		json_decref(sb->receipt);
		sb->receipt = json_incref(json_object_get(e, "receipt"));
	} else if (strcmp(what, "expiry") == 0) {
		sb->expires_ms = json_int_or(e, "expires_ms", 0);
	}
	return 0;
}

static int write_entry(struct sandbox *sb, const char *what,
		       json_t *e /* takes */, struct sb_err *err)
{
	autojson json_t *keep = json_incref(e);

	json_put(e, "entry", json_string(what));
	if (journal_append(sb->dir, e, err) < 0)
		return -1;
	return apply(sb, keep, err);
}

int sandbox_write_create(struct sandbox *sb, struct sb_err *err)
{
	json_t *e = json_object();

	json_put(e, "id", json_string(sb->id));
	json_put(e, "name", json_str(sb->name));
	json_put(e, "token", json_string(sb->token));
	json_put(e, "uuid", json_string(sb->uuid));
	json_put(e, "created_ms", json_integer(sb->created_ms));
	if (sb->idempotency_key)
		json_put(e, "idempotency_key", json_str(sb->idempotency_key));
	json_put(e, "spec", spec_to_json(&sb->spec));
	return write_entry(sb, "create", e, err);
}

int sandbox_write_image(struct sandbox *sb, const struct image *img,
			struct sb_err *err)
{
	json_t *e = json_object();

	json_put(e, "image", image_to_json(img));
	json_put(e, "kvm", json_boolean(sb->kvm));
	return write_entry(sb, "image", e, err);
}

int sandbox_write_ports(struct sandbox *sb, const struct sandbox_port *ports,
			size_t n, struct sb_err *err)
{
	json_t *e = json_object(), *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, sandbox_port_json(sb, &ports[i]));
	json_put(e, "ports", list);
	return write_entry(sb, "ports", e, err);
}

int sandbox_write_receipt(struct sandbox *sb, json_t *receipt,
			  struct sb_err *err)
{
	json_t *e = json_object();

	json_put(e, "receipt", receipt);
	return write_entry(sb, "receipt", e, err);
}

int sandbox_write_expiry(struct sandbox *sb, int64_t wall_ms,
			 struct sb_err *err)
{
	json_t *e = json_object();

	json_put(e, "expires_ms", json_integer(wall_ms));
	return write_entry(sb, "expiry", e, err);
}

int sandbox_write_state(struct sandbox *sb, enum sandbox_state s,
			const struct sb_err *cause, struct sb_err *err)
{
	json_t *e = json_object();

	json_put(e, "state", json_string(state_names[s]));
	if (cause) {
		json_put(e, "code", json_string(sb_code_name(cause->code)));
		json_put(e, "cause", json_str(cause->msg));
		json_put(e, "hint", json_str(cause->hint));
	}
	return write_entry(sb, "state", e, err);
}

int sandbox_load(const char *dir, struct sandbox **ret, struct sb_err *err)
{
	struct sandbox *sb = sandbox_alloc();

	sb->dir = xstrdup(dir);
	if (journal_replay(dir, apply, sb, err) < 0 || !sb->id[0]) {
		if (!sb->id[0])
			sb_fail(err, SB_SYSTEM, "journal of '%s' is empty",
				dir);
		sandbox_free(sb);
		return -1;
	}
	*ret = sb;
	return 0;
}
