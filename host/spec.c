/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The specification of a sandbox: defaults, copies, and the way from and to
 * JSON.  A table says of each key what may stand there.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/util.h"
#include "host/spec-list.h"
#include "host/spec-value.h"
#include "host/spec.h"

#define MAX_CPUS 64
#define MAX_BYTES (1ULL << 50)
#define MAX_TTL (10LL * 365 * 86400)
#define MAX_PORT 65535
#define MAX_KERNELS 1000

static_assert(SPEC_FIELD_LEN == VALUE_FIELD_LEN, "one length for a path");

static const char *const network_words[] = {
	[SPEC_NET_NONE] = "none",
	[SPEC_NET_OPEN] = "open",
	NULL,
};

static const char *const restart_words[] = {
	[SPEC_RESTART_NO] = "no",
	[SPEC_RESTART_ON_FAILURE] = "on-failure",
	[SPEC_RESTART_ALWAYS] = "always",
	NULL,
};

enum kind {
	KIND_TEXT,  /* char *, judged by .check */
	KIND_INT,   /* int */
	KIND_FLAG,  /* bool */
	KIND_SIZE,  /* unsigned long long */
	KIND_TIME,  /* long long */
	KIND_WORD,  /* enum, index into .words */
	KIND_OTHER, /* what .read and .write know */
};

struct field {
	const char *key;
	enum kind kind;
	size_t offset;
	unsigned long long min, max;
	bool nullable;
	spec_text_check *check;
	const char *const *words;
	int (*read)(struct reader *r, const json_t *v, struct spec *io);
	json_t *(*write)(const struct spec *s);
};

/* clang-format off */
#define KEY(k, kd) .key = #k, .kind = kd, .offset = offsetof(struct spec, k)
#define TEXT(k, c) { KEY(k, KIND_TEXT), .check = c }
#define MAYBE_TEXT(k, c) { KEY(k, KIND_TEXT), .check = c, .nullable = true }
#define INT(k, lo, hi) { KEY(k, KIND_INT), .min = lo, .max = hi }
#define FLAG(k) { KEY(k, KIND_FLAG) }
#define SIZE(k, lo) { KEY(k, KIND_SIZE), .min = lo, .max = MAX_BYTES }
#define TIME(k, hi) { KEY(k, KIND_TIME), .max = hi }
#define WORD(k) { KEY(k, KIND_WORD), .words = k##_words }
#define OTHER(k) { .key = #k, .kind = KIND_OTHER, \
	.read = spec_read_##k, .write = spec_write_##k }

/* In the order in which the man page explains them. */
static const struct field fields[] = {
	MAYBE_TEXT(name, spec_text_name),
	FLAG(unique_name),
	MAYBE_TEXT(template, spec_text_name),
	TEXT(image, spec_text_name),
	INT(cpus, 1, MAX_CPUS),
	SIZE(memory, SPEC_MIN_MEMORY),
	SIZE(disk, SPEC_MIN_DISK),
	OTHER(mounts),
	OTHER(ports),
	FLAG(auto_ports),
	TEXT(listen, spec_text_address),
	OTHER(host_ports),
	OTHER(env),
	OTHER(labels),
	TIME(ttl, MAX_TTL),
	WORD(network),
	FLAG(preserve),
	WORD(restart),
	FLAG(debug),
	TEXT(user, spec_text_user),
	TEXT(workspace, spec_text_guest_path),
	TEXT(display, spec_text_display),
	TEXT(shared_dir, spec_text_guest_path),
	INT(server_port, 1, MAX_PORT),
	OTHER(origins),
	INT(jupyter_port, 0, MAX_PORT),
	INT(max_kernels, 1, MAX_KERNELS),
	TIME(kernel_idle, MAX_TTL),
	FLAG(warm_kernel),
	TEXT(server_log, spec_text_file),
	TEXT(jupyter_log, spec_text_file),
};
/* clang-format on */

static void *place(const struct spec *s, const struct field *f)
{
	return (char *)s + f->offset;
}

void spec_init(struct spec *s)
{
	*s = (struct spec){
		.image = xstrdup("base"),
		.cpus = 2,
		.memory = 1ULL << 30,
		.disk = 8ULL << 30,
		.listen = xstrdup("127.0.0.1"),
		.network = SPEC_NET_NONE,
		.restart = SPEC_RESTART_NO,
		.user = xstrdup("user"),
		.workspace = xstrdup("/home/user/workspace"),
		.display = xstrdup("1280x800"),
		.shared_dir = xstrdup("/shared"),
		.server_port = 8765,
		.jupyter_port = 8888,
		.max_kernels = 64,
		.warm_kernel = true,
		.server_log = xstrdup("guestd.log"),
		.jupyter_log = xstrdup("jupyter.log"),
	};
}

void spec_done(struct spec *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].kind == KIND_TEXT)
			free(*(char **)place(s, &fields[i]));
	for (size_t i = 0; i < s->nmounts; i++) {
		free(s->mounts[i].host);
		free(s->mounts[i].guest);
	}
	for (size_t i = 0; i < s->norigins; i++)
		free(s->origins[i]);
	spec_vars_done(&s->env);
	spec_vars_done(&s->labels);
	*s = (struct spec){ 0 };
}

void spec_copy(struct spec *dst, const struct spec *src)
{
	*dst = *src;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char **text = place(dst, &fields[i]);

		if (fields[i].kind == KIND_TEXT)
			*text = xstrdup0(*text);
	}
	for (size_t i = 0; i < dst->nmounts; i++) {
		dst->mounts[i].host = xstrdup(src->mounts[i].host);
		dst->mounts[i].guest = xstrdup(src->mounts[i].guest);
	}
	for (size_t i = 0; i < dst->norigins; i++)
		dst->origins[i] = xstrdup(src->origins[i]);
	spec_vars_own(&dst->env);
	spec_vars_own(&dst->labels);
}

static int read_field(struct reader *r, const struct field *f, const json_t *v,
		      struct spec *io)
{
	void *out = place(io, f);

	if (f->nullable && json_is_null(v)) {
		util_free(out);
		*(char **)out = NULL;
		return 0;
	}
	switch (f->kind) {
	case KIND_TEXT:
		return value_text(r, v, f->check, out);
	case KIND_INT:
		return value_int(r, v, f->min, f->max, out);
	case KIND_FLAG:
		return value_flag(r, v, out);
	case KIND_SIZE:
		return value_size(r, v, f->min, f->max, out);
	case KIND_TIME:
		return value_time(r, v, f->max, out);
	case KIND_WORD:
		return value_word(r, v, f->words, out);
	case KIND_OTHER:
		return f->read(r, v, io);
	}
	return 0;
}

static const struct field *field_find(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (strcmp(fields[i].key, key) == 0)
			return &fields[i];
	return NULL;
}

int spec_from_json_at(const json_t *obj, struct spec *io,
		      char ret_field[SPEC_FIELD_LEN], struct sb_err *err)
{
	struct reader r = { .field = ret_field, .err = err };
	autospec struct spec work = { 0 };
	struct spec old = *io;
	const char *key;
	json_t *v;

	value_at(&r, "");
	if (!json_is_object(obj))
		return value_bad(&r, "must be an object with keys and values");
	spec_copy(&work, io);
	json_object_foreach((json_t *)obj, key, v) {
		const struct field *f = field_find(key);

		value_at(&r, key);
		if (!f) {
			value_bad(&r, "there is no such key");
			return sb_hint(err, "sandbox-template(5) lists them");
		}
		if (read_field(&r, f, v, &work) < 0)
			return -1;
	}
	*io = work;
	work = old;
	return 0;
}

int spec_from_json(const json_t *obj, struct spec *io, struct sb_err *err)
{
	char field[SPEC_FIELD_LEN];

	return spec_from_json_at(obj, io, field, err);
}

static json_t *write_field(const struct spec *s, const struct field *f)
{
	const void *in = place(s, f);

	switch (f->kind) {
	case KIND_TEXT:
		return json_str(*(char *const *)in);
	case KIND_INT:
		return json_integer(*(const int *)in);
	case KIND_FLAG:
		return json_boolean(*(const bool *)in);
	case KIND_SIZE:
		return json_integer(*(const unsigned long long *)in);
	case KIND_TIME:
		if (!*(const long long *)in)
			return json_null();
		return json_integer(*(const long long *)in);
	case KIND_WORD:
		return json_str(f->words[*(const int *)in]);
	case KIND_OTHER:
		return f->write(s);
	}
	return NULL;
}

json_t *spec_to_json(const struct spec *s)
{
	json_t *obj = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		json_put(obj, fields[i].key, write_field(s, &fields[i]));
	return obj;
}

const char *spec_network_name(enum spec_network network)
{
	return network_words[network];
}

const char *spec_restart_name(enum spec_restart restart)
{
	return restart_words[restart];
}
