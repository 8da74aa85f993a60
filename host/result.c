/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a cell: the object around the tree, and its buffers. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/json.h"
#include "host/result-check.h"
#include "host/result-private.h"

static int malformed(struct sb_err *err, const char *why)
{
	sb_fail(err, SB_GUEST, "the result of the cell is malformed: %s", why);
	return sb_hint(err, "what the cell printed is not affected");
}

static int too_large(struct sb_err *err, const char *what)
{
	sb_fail(err, SB_LIMIT, "the result of the cell is too large (%s)",
		what);
	return sb_hint(err, "write it to a file and fetch that");
}

const struct result_bytes *result_buffer(const struct result *r,
					 const json_t *node)
{
	return &r->buffers[json_integer_value(json_object_get(node, "b"))];
}

const char *result_kind(const json_t *node)
{
	return json_is_object(node) ? json_str_or(node, "t", "") : NULL;
}

/* The sum of what the buffers will take, before any is decoded. */
static int measure(const json_t *buffers, struct sb_err *err)
{
	const json_t *text;
	size_t i, total = 0;

	if (json_array_size(buffers) > RESULT_MAX_NODES)
		return too_large(err, "buffers");
	json_array_foreach(buffers, i, text) {
		if (!json_is_string(text))
			return malformed(err, "a buffer is no text");
		total += json_string_length(text) / 4 * 3;
		if (total > RESULT_MAX_BYTES)
			return too_large(err, "bytes");
	}
	return 0;
}

/* Only one text stands for the same bytes: the rest of the last digit is 0. */
static bool is_canonical(const char *text, size_t len, const char *data,
			 size_t n)
{
	autofree char *last = NULL;

	if (!len)
		return true;
	last = base64_encode(data + (n - 1) / 3 * 3, (n - 1) % 3 + 1);
	return memcmp(last, text + len - 4, 4) == 0;
}

static int read_buffers(struct result *r, const json_t *buffers,
			struct sb_err *err)
{
	const json_t *text;
	size_t i;

	if (buffers && !json_is_array(buffers))
		return malformed(err, "'buffers' is no list");
	if (measure(buffers, err) < 0)
		return -1;
	r->buffers = xcalloc(json_array_size(buffers) + 1, sizeof(*r->buffers));
	json_array_foreach(buffers, i, text) {
		const char *s = json_string_value(text);
		size_t len = json_string_length(text);
		struct result_bytes *b = &r->buffers[i];

		b->p = base64_decode(s, len, &b->len);
		r->n = i + 1;
		if (!b->p || (len && !b->len) ||
		    !is_canonical(s, len, b->p, b->len))
			return malformed(err, "a buffer is not base64");
	}
	return 0;
}

int result_parse(const json_t *typed, struct result **ret, struct sb_err *err)
{
	autoresult struct result *r = xcalloc(1, sizeof(*r));
	struct check_error why = { 0 };
	json_t *value;

	if (!json_is_object(typed))
		return malformed(err, "it is no object");
	if (json_int_or(typed, "version", 0) != 1)
		return malformed(err, "it is of another version");
	value = json_object_get(typed, "value");
	if (!value)
		return malformed(err, "it has no value");
	if (read_buffers(r, json_object_get(typed, "buffers"), err) < 0)
		return -1;
	if (check_tree(r, value, &why) < 0)
		return why.limit ? too_large(err, why.what)
				 : malformed(err, why.what);
	r->root = json_incref(value);
	*ret = steal(&r);
	return 0;
}

void result_free(struct result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		free(r->buffers[i].p);
	free(r->buffers);
	json_decref(r->root);
	free(r);
}
