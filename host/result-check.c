/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of a result, node by node.  Each kind has one function that looks
 * at its fields; who shows the tree later relies on what is said here.
 */
#include "config.h"

#include <string.h>

#include "common/json.h"
#include "host/result-check.h"

int check_bad(struct check *c, const char *what)
{
	c->err->what = what;
	return -1;
}

static int over(struct check *c, const char *what)
{
	c->err->limit = true;
	return check_bad(c, what);
}

static const json_t *value(const json_t *node)
{
	return json_object_get(node, "v");
}

static int count_node(struct check *c)
{
	return ++c->nodes > RESULT_MAX_NODES ? over(c, "nodes") : 0;
}

static int count_text(struct check *c, const json_t *text)
{
	c->text += json_string_length(text);
	return c->text > RESULT_MAX_TEXT ? over(c, "text") : 0;
}

const char *check_text(const json_t *node, const char *key, size_t max)
{
	const json_t *s = json_object_get(node, key);

	if (!json_is_string(s) || json_string_length(s) > max ||
	    strlen(json_string_value(s)) != json_string_length(s))
		return NULL;
	return json_string_value(s);
}

/* Take the buffer at "b"; no other node may have it. */
static int take_buffer(struct check *c, const json_t *node)
{
	const json_t *b = json_object_get(node, "b");
	json_int_t i = json_integer_value(b);

	if (!json_is_integer(b) || i < 0 || (size_t)i >= c->r->n)
		return check_bad(c, "it has no such buffer");
	if (c->r->buffers[i].used)
		return check_bad(c, "two values share a buffer");
	c->r->buffers[i].used = true;
	return 0;
}

int check_items(struct check *c, const json_t *list)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(list))
		return check_bad(c, "a list is missing");
	json_array_foreach(list, i, item)
		if (check_node(c, item) < 0)
			return -1;
	return 0;
}

static int check_list(struct check *c, const json_t *node)
{
	return check_items(c, value(node));
}

static int check_int(struct check *c, const json_t *node)
{
	const json_t *v = value(node);

	if (json_string_length(v) > RESULT_MAX_DIGITS)
		return over(c, "digits of an int");
	if (!json_is_string(v) ||
	    !check_hex(json_string_value(v), json_string_length(v)))
		return check_bad(c, "an int is no number");
	return count_text(c, v);
}

static int check_float(struct check *c, const json_t *node)
{
	const char *v = check_text(node, "v", 4);

	if (!v || (strcmp(v, "nan") != 0 && strcmp(v, "inf") != 0 &&
		   strcmp(v, "-inf") != 0))
		return check_bad(c, "a float is no number");
	return 0;
}

static bool is_int(const json_t *node)
{
	const char *kind = result_kind(node);

	return json_is_integer(node) || (kind && strcmp(kind, "int") == 0);
}

static bool is_float(const json_t *node)
{
	const char *kind = result_kind(node);

	return json_is_number(node) || (kind && strcmp(kind, "float") == 0);
}

/* A list of n nodes, each of which is_kind accepts. */
static int check_parts(struct check *c, const json_t *list, size_t n,
		       bool (*is_kind)(const json_t *node))
{
	if (!json_is_array(list) || json_array_size(list) != n)
		return check_bad(c, "a number has too few or too many parts");
	for (size_t i = 0; i < n; i++)
		if (!is_kind(json_array_get(list, i)))
			return check_bad(c, "a part of a number is no number");
	return check_items(c, list);
}

static int check_complex(struct check *c, const json_t *node)
{
	return check_parts(c, value(node), 2, is_float);
}

static bool is_zero(const json_t *node)
{
	const char *v = json_str_or(node, "v", "0x1");

	if (json_is_integer(node))
		return json_integer_value(node) == 0;
	return v[strspn(v, "-0x")] == '\0';
}

static int check_range(struct check *c, const json_t *node)
{
	if (check_parts(c, value(node), 3, is_int) < 0)
		return -1;
	if (is_zero(json_array_get(value(node), 2)))
		return check_bad(c, "a range has no step");
	return 0;
}

static int check_fraction(struct check *c, const json_t *node)
{
	if (check_parts(c, value(node), 2, is_int) < 0)
		return -1;
	if (is_zero(json_array_get(value(node), 1)))
		return check_bad(c, "a fraction has the denominator 0");
	return 0;
}

static int check_timedelta(struct check *c, const json_t *node)
{
	static const json_int_t max[] = { 999999999, 86399, 999999 };
	const json_t *v = value(node);

	if (!json_is_array(v) || json_array_size(v) != 3)
		return check_bad(c,
				 "a timedelta has too few or too many parts");
	for (size_t i = 0; i < 3; i++) {
		const json_t *part = json_array_get(v, i);
		json_int_t n = json_integer_value(part);

		if (!json_is_integer(part) || n > max[i] ||
		    n < (i ? 0 : -max[0]))
			return check_bad(c, "a timedelta is out of range");
	}
	return 0;
}

static int check_str(struct check *c, const json_t *node)
{
	const struct result_bytes *b;
	uint32_t cp;

	if (take_buffer(c, node) < 0)
		return -1;
	b = result_buffer(c->r, node);
	for (size_t i = 0, n; i < b->len; i += n) {
		n = text_char(b->p + i, b->len - i, &cp);
		if (!n)
			return check_bad(c, "a string is not UTF-8");
	}
	return 0;
}

static int check_fields(struct check *c, const json_t *node)
{
	const json_t *fields = json_object_get(node, "fields"), *field;
	const char *name = check_text(node, "name", 256);
	size_t i;

	if (!name || !check_name(name, strlen(name)) ||
	    json_array_size(fields) != json_array_size(value(node)))
		return check_bad(c, "a named tuple has not the right names");
	json_array_foreach(fields, i, field)
		if (!check_name(json_string_value(field),
				json_string_length(field)))
			return check_bad(
				c, "a named tuple has not the right names");
	return 0;
}

static int check_tuple(struct check *c, const json_t *node)
{
	if (check_list(c, node) < 0)
		return -1;
	if (!json_object_get(node, "name") && !json_object_get(node, "fields"))
		return 0;
	return check_fields(c, node);
}

/* What Python cannot have in a set, nor as a key. */
static bool is_hashable(const json_t *node)
{
	static const char *const never[] = {
		"bytearray", "set",    "dict",	 "ndarray",
		"dataframe", "series", "column", "index",
	};
	const char *kind = result_kind(node);
	const json_t *item;
	size_t i;

	if (!kind)
		return !json_is_array(node);
	for (i = 0; i < ARRAY_SIZE(never); i++)
		if (strcmp(kind, never[i]) == 0)
			return false;
	if (strcmp(kind, "tuple") == 0)
		json_array_foreach(value(node), i, item)
			if (!is_hashable(item))
				return false;
	return true;
}

static int check_set(struct check *c, const json_t *node)
{
	const json_t *item;
	size_t i;

	if (check_list(c, node) < 0)
		return -1;
	json_array_foreach(value(node), i, item)
		if (!is_hashable(item))
			return check_bad(c, "a set holds what has no hash");
	return 0;
}

static int check_dict(struct check *c, const json_t *node)
{
	const json_t *pair;
	size_t i;

	if (!json_is_array(value(node)))
		return check_bad(c, "a list is missing");
	json_array_foreach(value(node), i, pair) {
		if (json_array_size(pair) != 2)
			return check_bad(c, "a dict has no pairs");
		if (check_items(c, pair) < 0)
			return -1;
		if (!is_hashable(json_array_get(pair, 0)))
			return check_bad(c, "a key of a dict has no hash");
	}
	return 0;
}

static int check_time(struct check *c, const json_t *node)
{
	autobuf struct buf text = { 0 };
	const char *v = check_text(node, "v", 64);
	const char *zone = check_text(node, "zone", 64);

	if (json_object_get(node, "zone") && (!zone || !time_zone_ok(zone)))
		return check_bad(c, "a time zone has no name of one");
	if (!v || !time_repr(&text, result_kind(node), v, zone))
		return check_bad(c, "a date or time is out of range");
	return 0;
}

static int check_decimal_node(struct check *c, const json_t *node)
{
	const char *v = check_text(node, "v", RESULT_MAX_DIGITS);

	return v && check_decimal(v) ? count_text(c, value(node))
				     : check_bad(c, "a Decimal is no number");
}

static int check_uuid_node(struct check *c, const json_t *node)
{
	const char *v = check_text(node, "v", 36);

	return v && check_uuid(v) ? 0 : check_bad(c, "a UUID is none");
}

static int check_path(struct check *c, const json_t *node)
{
	const char *kind = result_kind(value(node));

	if (!json_is_string(value(node)) && (!kind || strcmp(kind, "str") != 0))
		return check_bad(c, "a path is no string");
	return check_node(c, value(node));
}

static int check_array(struct check *c, const json_t *node)
{
	struct result_array a;
	const char *why = result_array_read(node, &a);
	const struct result_bytes *b;

	if (why)
		return check_bad(c, why);
	if (a.kind == 'O')
		return json_array_size(a.items) == a.count
			       ? check_items(c, a.items)
			       : check_bad(c,
					   "an array has not the size of its "
					   "shape");
	if (take_buffer(c, node) < 0)
		return -1;
	b = result_buffer(c->r, node);
	why = result_array_check(&a, b->p, b->len);
	return why ? check_bad(c, why) : 0;
}

static int check_scalar(struct check *c, const json_t *node)
{
	if (json_array_size(json_object_get(node, "shape")) != 0 ||
	    strcmp(json_str_or(node, "dtype", ""), "O") == 0)
		return check_bad(c, "a scalar has a shape");
	return check_array(c, node);
}

static int check_missing(struct check *c, const json_t *node)
{
	const char *v = check_text(node, "v", 8);

	return v && (strcmp(v, "NaT") == 0 || strcmp(v, "<NA>") == 0)
		       ? 0
		       : check_bad(c, "a missing value is of no kind");
}

static int check_image(struct check *c, const json_t *node)
{
	const json_t *size = json_object_get(node, "size");

	if (!check_text(node, "mime", 64) || !check_text(node, "mode", 16) ||
	    json_array_size(size) != 2 ||
	    !json_is_integer(json_array_get(size, 0)) ||
	    !json_is_integer(json_array_get(size, 1)))
		return check_bad(c, "an image has no size");
	return take_buffer(c, node);
}

static int check_object(struct check *c, const json_t *node)
{
	const json_t *type = json_object_get(node, "type");
	const json_t *repr = json_object_get(node, "repr");

	if (!json_is_string(type) || !json_is_string(repr))
		return check_bad(c, "an object has no type");
	return count_text(c, type) < 0 ? -1 : count_text(c, repr);
}

static int check_truncated(struct check *c, const json_t *node)
{
	return check_text(node, "type", 4096) && check_text(node, "reason", 64)
		       ? 0
		       : check_bad(c, "what was left out has no type");
}

static const struct {
	const char *kind;
	check_fn *fn;
} checks[] = {
	{ "int", check_int },
	{ "float", check_float },
	{ "complex", check_complex },
	{ "str", check_str },
	{ "bytes", take_buffer },
	{ "bytearray", take_buffer },
	{ "tuple", check_tuple },
	{ "set", check_set },
	{ "frozenset", check_set },
	{ "dict", check_dict },
	{ "range", check_range },
	{ "datetime", check_time },
	{ "date", check_time },
	{ "time", check_time },
	{ "timedelta", check_timedelta },
	{ "decimal", check_decimal_node },
	{ "uuid", check_uuid_node },
	{ "path", check_path },
	{ "fraction", check_fraction },
	{ "ndarray", check_array },
	{ "scalar", check_scalar },
	{ "dataframe", check_frame },
	{ "series", check_series },
	{ "index", check_index },
	{ "column", check_column },
	{ "missing", check_missing },
	{ "image", check_image },
	{ "object", check_object },
	{ "truncated", check_truncated },
	{ "pickle", take_buffer },
};

static int check_any(struct check *c, const json_t *node)
{
	const char *kind = result_kind(node);

	if (json_is_string(node))
		return count_text(c, node);
	if (json_is_array(node))
		return check_items(c, node);
	if (!kind)
		return 0;
	if (!*kind)
		return check_bad(c, "a value is of no type");
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (strcmp(kind, checks[i].kind) == 0)
			return checks[i].fn(c, node);
	return 0; /* opaque */
}

int check_node(struct check *c, const json_t *node)
{
	int status;

	if (count_node(c) < 0)
		return -1;
	if (c->depth >= RESULT_MAX_DEPTH)
		return over(c, "depth");
	c->depth++;
	status = check_any(c, node);
	c->depth--;
	return status;
}

int check_tree(struct result *r, const json_t *root, struct check_error *err)
{
	struct check c = { .r = r, .err = err };

	return check_node(&c, root);
}
