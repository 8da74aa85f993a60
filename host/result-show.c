/* SPDX-License-Identifier: Apache-2.0 */
/* A result as Python's REPL would show it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/result-private.h"

#define ELLIPSIS "\xe2\x80\xa6" /* "…": more was there */

typedef void show_fn(struct show *s, const json_t *node);

static size_t room(const struct show *s)
{
	return s->end - s->to->len;
}

void show_put(struct show *s, const char *text, size_t len)
{
	if (s->full)
		return;
	if (len > room(s)) {
		len = room(s);
		while (len && (text[len] & 0xc0) == 0x80)
			len--;
		s->full = true;
	}
	buf_add(s->to, text, len);
}

void show_puts(struct show *s, const char *text)
{
	show_put(s, text, strlen(text));
}

static void show_buf(struct show *s, const struct buf *b)
{
	if (b->len)
		show_put(s, b->p, b->len);
}

/* Not more of a text than can be shown: each byte makes at least one. */
static size_t some(const struct show *s, size_t len)
{
	return MIN(len, room(s) + 8);
}

static const json_t *value(const json_t *node)
{
	return json_object_get(node, "v");
}

static void show_string(struct show *s, const char *text, size_t len)
{
	autobuf struct buf b = { 0 };

	text_str(&b, text, some(s, len));
	show_buf(s, &b);
}

static void show_clean(struct show *s, const json_t *text)
{
	autobuf struct buf b = { 0 };

	if (!json_is_string(text))
		return;
	text_clean(&b, json_string_value(text),
		   some(s, json_string_length(text)), true);
	show_buf(s, &b);
}

static void show_items(struct show *s, const char *open, const json_t *items,
		       const char *close)
{
	const json_t *item;
	size_t i;

	show_puts(s, open);
	json_array_foreach(items, i, item) {
		if (s->full)
			return;
		if (i)
			show_puts(s, ", ");
		show_node(s, item);
	}
	show_puts(s, close);
}

static void show_int(struct show *s, const json_t *node)
{
	autobuf struct buf b = { 0 };

	number_hex(&b, json_string_value(value(node)));
	show_buf(s, &b);
}

static void show_word(struct show *s, const json_t *node)
{
	show_puts(s, json_string_value(value(node)));
}

/* A part of a complex number. */
static double float_of(const json_t *node)
{
	return json_is_object(node)
		       ? strtod(json_string_value(value(node)), NULL)
		       : json_number_value(node);
}

static void show_complex(struct show *s, const json_t *node)
{
	autobuf struct buf b = { 0 };

	number_complex(&b, float_of(json_array_get(value(node), 0)),
		       float_of(json_array_get(value(node), 1)), 64);
	show_buf(s, &b);
}

static void show_str(struct show *s, const json_t *node)
{
	const struct result_bytes *text = result_buffer(s->r, node);

	show_string(s, text->p, text->len);
}

static void show_bytes(struct show *s, const json_t *node)
{
	const struct result_bytes *data = result_buffer(s->r, node);
	bool array = strcmp(result_kind(node), "bytearray") == 0;
	autobuf struct buf b = { 0 };

	text_bytes(&b, data->p, some(s, data->len));
	show_puts(s, array ? "bytearray(" : "");
	show_buf(s, &b);
	show_puts(s, array ? ")" : "");
}

static void show_named(struct show *s, const json_t *node)
{
	const json_t *fields = json_object_get(node, "fields"), *item;
	size_t i;

	show_clean(s, json_object_get(node, "name"));
	show_puts(s, "(");
	json_array_foreach(value(node), i, item) {
		if (s->full)
			return;
		show_puts(s, i ? ", " : "");
		show_clean(s, json_array_get(fields, i));
		show_puts(s, "=");
		show_node(s, item);
	}
	show_puts(s, ")");
}

static void show_tuple(struct show *s, const json_t *node)
{
	bool one = json_array_size(value(node)) == 1;

	if (json_object_get(node, "name"))
		show_named(s, node);
	else
		show_items(s, "(", value(node), one ? ",)" : ")");
}

static void show_set(struct show *s, const json_t *node)
{
	bool frozen = strcmp(result_kind(node), "frozenset") == 0;

	if (json_array_size(value(node)) == 0)
		show_puts(s, frozen ? "frozenset()" : "set()");
	else
		show_items(s, frozen ? "frozenset({" : "{", value(node),
			   frozen ? "})" : "}");
}

static void show_dict(struct show *s, const json_t *node)
{
	const json_t *pair;
	size_t i;

	show_puts(s, "{");
	json_array_foreach(value(node), i, pair) {
		if (s->full)
			return;
		show_puts(s, i ? ", " : "");
		show_node(s, json_array_get(pair, 0));
		show_puts(s, ": ");
		show_node(s, json_array_get(pair, 1));
	}
	show_puts(s, "}");
}

static void show_range(struct show *s, const json_t *node)
{
	const json_t *v = value(node), *step = json_array_get(v, 2);

	show_puts(s, "range(");
	show_node(s, json_array_get(v, 0));
	show_puts(s, ", ");
	show_node(s, json_array_get(v, 1));
	if (!json_is_integer(step) || json_integer_value(step) != 1) {
		show_puts(s, ", ");
		show_node(s, step);
	}
	show_puts(s, ")");
}

static void show_time(struct show *s, const json_t *node)
{
	autobuf struct buf b = { 0 };

	time_repr(&b, result_kind(node), json_string_value(value(node)),
		  json_str_or(node, "zone", NULL));
	show_buf(s, &b);
}

static void show_timedelta(struct show *s, const json_t *node)
{
	static const char *const names[] = { "days", "seconds",
					     "microseconds" };
	autobuf struct buf b = { 0 };

	for (size_t i = 0; i < 3; i++) {
		json_int_t n =
			json_integer_value(json_array_get(value(node), i));

		if (n)
			buf_addf(&b, "%s%s=%lld", b.len ? ", " : "", names[i],
				 (long long)n);
	}
	show_puts(s, "datetime.timedelta(");
	show_puts(s, b.len ? b.p : "0");
	show_puts(s, ")");
}

static void show_quoted(struct show *s, const char *name, const json_t *node)
{
	show_puts(s, name);
	show_puts(s, "('");
	show_word(s, node);
	show_puts(s, "')");
}

static void show_decimal(struct show *s, const json_t *node)
{
	show_quoted(s, "Decimal", node);
}

static void show_uuid(struct show *s, const json_t *node)
{
	show_quoted(s, "UUID", node);
}

static void show_path(struct show *s, const json_t *node)
{
	show_puts(s, "PosixPath(");
	show_node(s, value(node));
	show_puts(s, ")");
}

static void show_fraction(struct show *s, const json_t *node)
{
	show_items(s, "Fraction(", value(node), ")");
}

static void show_scalar(struct show *s, const json_t *node)
{
	autobuf struct buf b = { 0 };
	struct result_array a;

	result_array_get(s->r, node, &a);
	if (a.kind == 'M' || a.kind == 'm')
		buf_addf(&b, "numpy.%s64(",
			 a.kind == 'M' ? "datetime" : "timedelta");
	show_item(s->r, &a, 0, &b);
	if (a.kind == 'm' && a.unit[0])
		buf_addf(&b, ",'%s'", a.unit);
	if (a.kind == 'M' || a.kind == 'm')
		buf_adds(&b, ")");
	show_buf(s, &b);
}

static void show_column(struct show *s, const json_t *node)
{
	show_items(s, "[", value(node), "]");
}

static void show_image(struct show *s, const json_t *node)
{
	const json_t *size = json_object_get(node, "size");
	const char *mime = json_str_or(node, "mime", "");
	autobuf struct buf b = { 0 };

	buf_adds(&b, "<image ");
	text_clean(&b, mime, strlen(mime), false);
	buf_addf(&b, ", %lld x %lld, %zu bytes>",
		 (long long)json_integer_value(json_array_get(size, 0)),
		 (long long)json_integer_value(json_array_get(size, 1)),
		 result_buffer(s->r, node)->len);
	show_buf(s, &b);
}

static void show_object(struct show *s, const json_t *node)
{
	show_clean(s, json_object_get(node, "repr"));
}

static void show_truncated(struct show *s, const json_t *node)
{
	show_puts(s, "<");
	show_clean(s, json_object_get(node, "type"));
	show_puts(s, " left out: ");
	show_clean(s, json_object_get(node, "reason"));
	show_puts(s, ">");
}

static void show_pickle(struct show *s, const json_t *node)
{
	autobuf struct buf b = { 0 };

	buf_addf(&b, "<pickle: %zu bytes>", result_buffer(s->r, node)->len);
	show_buf(s, &b);
}

/* A kind that this program does not know. */
static void show_unknown(struct show *s, const json_t *node)
{
	const json_t *type = json_object_get(node, "type");

	show_puts(s, "<");
	show_clean(s, json_is_string(type) ? type : json_object_get(node, "t"));
	show_puts(s, ": ");
	show_clean(s, json_object_get(node, "repr"));
	show_puts(s, ">");
}

static const struct {
	const char *kind;
	show_fn *fn;
} shows[] = {
	{ "int", show_int },
	{ "float", show_word },
	{ "complex", show_complex },
	{ "str", show_str },
	{ "bytes", show_bytes },
	{ "bytearray", show_bytes },
	{ "tuple", show_tuple },
	{ "set", show_set },
	{ "frozenset", show_set },
	{ "dict", show_dict },
	{ "range", show_range },
	{ "datetime", show_time },
	{ "date", show_time },
	{ "time", show_time },
	{ "timedelta", show_timedelta },
	{ "decimal", show_decimal },
	{ "uuid", show_uuid },
	{ "path", show_path },
	{ "fraction", show_fraction },
	{ "ndarray", show_array },
	{ "scalar", show_scalar },
	{ "dataframe", show_frame },
	{ "series", show_series },
	{ "index", show_index },
	{ "column", show_column },
	{ "missing", show_word },
	{ "image", show_image },
	{ "object", show_object },
	{ "truncated", show_truncated },
	{ "pickle", show_pickle },
};

static void show_simple(struct show *s, const json_t *node)
{
	autobuf struct buf b = { 0 };

	if (json_is_integer(node))
		buf_addf(&b, "%lld", (long long)json_integer_value(node));
	else if (json_is_real(node))
		number_float(&b, json_real_value(node), 64);
	else
		buf_adds(&b, json_is_true(node)	   ? "True"
			     : json_is_false(node) ? "False"
						   : "None");
	show_buf(s, &b);
}

void show_node(struct show *s, const json_t *node)
{
	const char *kind = result_kind(node);

	if (s->full)
		return;
	if (json_is_string(node)) {
		show_string(s, json_string_value(node),
			    json_string_length(node));
	} else if (json_is_array(node)) {
		show_items(s, "[", node, "]");
	} else if (!kind) {
		show_simple(s, node);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(shows); i++)
			if (strcmp(kind, shows[i].kind) == 0) {
				shows[i].fn(s, node);
				return;
			}
		show_unknown(s, node);
	}
}

void show_repr(const struct result *r, const json_t *node, struct buf *to,
	       size_t max)
{
	size_t mark = strlen(ELLIPSIS);
	struct show s = { .r = r,
			  .to = to,
			  .end = to->len + (max > mark ? max - mark : 0) };

	show_node(&s, node);
	if (s.full && max > mark)
		buf_adds(to, ELLIPSIS);
}

void result_show(const struct result *r, struct buf *to, size_t max)
{
	if (!json_is_null(r->root))
		show_repr(r, r->root, to, max);
}
