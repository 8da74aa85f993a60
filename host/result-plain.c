/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result as plain JSON.  What JSON has not keeps its "t"; the bytes of a
 * buffer are "base64" there.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/json.h"
#include "host/result-private.h"

#define MAX_ITEMS 1000000 /* of all arrays that become lists, and these lists */

struct plain {
	const struct result *r;
	size_t items;
};

typedef json_t *plain_fn(struct plain *p, const json_t *node);

static json_t *plain_node(struct plain *p, const json_t *node);

static const json_t *value(const json_t *node)
{
	return json_object_get(node, "v");
}

static json_t *plain_list(struct plain *p, const json_t *items)
{
	json_t *list = json_array();
	const json_t *item;
	size_t i;

	json_array_foreach(items, i, item)
		json_array_append_new(list, plain_node(p, item));
	return list;
}

static json_t *of_kind(const json_t *node)
{
	json_t *j = json_object();

	json_put(j, "t", json_str(result_kind(node)));
	return j;
}

/* {"t": ..., "v": [...]} */
static json_t *plain_items(struct plain *p, const json_t *node)
{
	json_t *j = of_kind(node);

	json_put(j, "v", plain_list(p, value(node)));
	return j;
}

static json_t *plain_tuple(struct plain *p, const json_t *node)
{
	return plain_list(p, value(node));
}

/* Without what an attacker may have put beside the fields that we checked. */
static json_t *plain_fields(struct plain *p, const json_t *node)
{
	static const char *const fields[] = {
		"v", "zone", "type", "repr", "size", "mime", "reason", "mode"
	};
	json_t *j = of_kind(node);

	(void)p;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (json_object_get(node, fields[i]))
			json_put(j, fields[i],
				 json_deep_copy(
					 json_object_get(node, fields[i])));
	return j;
}

static json_t *plain_int(struct plain *p, const json_t *node)
{
	long long v;

	errno = 0;
	v = strtoll(json_string_value(value(node)), NULL, 16);
	return errno ? plain_fields(p, node) : json_integer(v);
}

static void put_bytes(json_t *j, const struct result_bytes *b)
{
	char *text = base64_encode(b->p, b->len);

	json_put(j, "base64", json_str(text));
	free(text);
}

static json_t *plain_bytes(struct plain *p, const json_t *node)
{
	json_t *j = plain_fields(p, node);

	put_bytes(j, result_buffer(p->r, node));
	return j;
}

static json_t *plain_str(struct plain *p, const json_t *node)
{
	const struct result_bytes *b = result_buffer(p->r, node);

	return json_text(b->p, b->len);
}

static json_t *plain_path(struct plain *p, const json_t *node)
{
	return plain_node(p, value(node));
}

/* An object can stand for the dict: its keys are strings, none is "t". */
static bool is_object(const json_t *pairs)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(pairs, i, pair) {
		const json_t *key = json_array_get(pair, 0);
		const char *s = json_string_value(key);

		if (!s || strlen(s) != json_string_length(key) ||
		    strcmp(s, "t") == 0)
			return false;
	}
	return true;
}

static json_t *plain_dict(struct plain *p, const json_t *node)
{
	const json_t *pair;
	json_t *j;
	size_t i;

	if (!is_object(value(node)))
		return plain_items(p, node);
	j = json_object();
	json_array_foreach(value(node), i, pair)
		json_put(j, json_string_value(json_array_get(pair, 0)),
			 plain_node(p, json_array_get(pair, 1)));
	return j;
}

static json_t *plain_float(double v)
{
	if (__builtin_isfinite(v))
		return json_real(v);
	return json_pack("{ss, ss}", "t", "float", "v",
			 __builtin_isnan(v) ? "nan"
			 : v < 0	    ? "-inf"
					    : "inf");
}

static json_t *plain_item(struct plain *p, const struct result_array *a,
			  size_t i)
{
	autobuf struct buf b = { 0 };

	switch (a->kind) {
	case 'O':
		return plain_node(p, json_array_get(a->items, i));
	case 'b':
		return json_boolean(result_array_int(a, i));
	case 'f':
		return plain_float(result_array_float(a, i, false));
	case 'U':
		result_array_text(a, i, &b);
		return b.p ? json_text(b.p, b.len) : json_string("");
	case 'i':
	case 'm':
		return json_integer(result_array_int(a, i));
	case 'u':
		if (result_array_int(a, i) >= 0)
			return json_integer(result_array_int(a, i));
	}
	show_item(p->r, a, i, &b);
	return json_text(b.p, b.len);
}

static json_t *plain_axis(struct plain *p, const struct result_array *a,
			  size_t axis, size_t *next)
{
	json_t *list;

	if (axis == a->ndim)
		return plain_item(p, a, (*next)++);
	list = json_array();
	for (size_t i = 0; i < a->dim[axis]; i++)
		json_array_append_new(list, plain_axis(p, a, axis + 1, next));
	return list;
}

/* How many lists it becomes: dimensions of 1 multiply them, and take no byte
 * of the guest's. */
static size_t count_lists(const struct result_array *a)
{
	size_t n = 0, product = 1;

	for (size_t axis = 0; axis < a->ndim; axis++) {
		n += product;
		product *= a->dim[axis];
	}
	return n;
}

/* Lists of lists, or the shape and all items in a row if there are very many. */
static json_t *plain_array(struct plain *p, const json_t *node)
{
	struct result_array a;
	size_t next = 0, cost;
	json_t *j;

	result_array_get(p->r, node, &a);
	if (!a.count)
		return a.ndim ? json_array() : json_null();
	cost = count_lists(&a) + (a.kind == 'O' ? 0 : a.count);
	if (cost <= MAX_ITEMS - p->items && a.size <= 65536) {
		p->items += cost;
		return plain_axis(p, &a, 0, &next);
	}
	j = of_kind(node);
	json_put(j, "dtype", json_str(a.dtype));
	json_put(j, "shape", json_deep_copy(json_object_get(node, "shape")));
	if (a.kind == 'O')
		json_put(j, "v", plain_list(p, a.items));
	else
		put_bytes(j, result_buffer(p->r, node));
	return j;
}

static json_t *plain_index(struct plain *p, const json_t *node)
{
	return plain_node(p, json_object_get(node, "data"));
}

static json_t *plain_frame(struct plain *p, const json_t *node)
{
	static const char *const parts[] = { "name", "columns", "index" };
	const json_t *data = json_object_get(node, "data");
	json_t *j = of_kind(node);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (json_object_get(node, parts[i]))
			json_put(
				j, parts[i],
				plain_node(p, json_object_get(node, parts[i])));
	json_put(j, "data", plain_node(p, data));
	return j;
}

static const struct {
	const char *kind;
	plain_fn *fn;
} plains[] = {
	{ "int", plain_int },	      { "str", plain_str },
	{ "bytes", plain_bytes },     { "bytearray", plain_bytes },
	{ "image", plain_bytes },     { "pickle", plain_bytes },
	{ "tuple", plain_tuple },     { "set", plain_items },
	{ "frozenset", plain_items }, { "complex", plain_items },
	{ "range", plain_items },     { "fraction", plain_items },
	{ "dict", plain_dict },	      { "path", plain_path },
	{ "ndarray", plain_array },   { "scalar", plain_array },
	{ "index", plain_index },     { "column", plain_tuple },
	{ "dataframe", plain_frame }, { "series", plain_frame },
};

static json_t *plain_node(struct plain *p, const json_t *node)
{
	const char *kind = result_kind(node);

	if (json_is_array(node))
		return plain_list(p, node);
	if (json_is_string(node))
		return json_text(json_string_value(node),
				 json_string_length(node));
	if (!kind)
		return json_deep_copy(node);
	for (size_t i = 0; i < ARRAY_SIZE(plains); i++)
		if (strcmp(kind, plains[i].kind) == 0)
			return plains[i].fn(p, node);
	return plain_fields(p, node);
}

json_t *result_plain(const struct result *r)
{
	struct plain p = { .r = r };

	return plain_node(&p, r->root);
}
