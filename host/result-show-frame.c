/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, series and indexes of pandas, as small tables. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/result-private.h"

#define MAX_ROWS 60 /* then only the first and last few are shown */
#define EDGE_ROWS 5
#define MAX_COLUMNS 12
#define EDGE_COLUMNS 5
#define MAX_LABELS 100 /* of an index */
#define EDGE_LABELS 10
#define MAX_CELL 200 /* bytes */

#define GAP SIZE_MAX /* the place of "..." */

/* Which of n rows or columns are shown. */
struct pick {
	size_t v[MAX_LABELS], n;
};

static struct pick pick(size_t n, size_t max, size_t edge)
{
	struct pick p = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (n > max && i == edge) {
			p.v[p.n++] = GAP;
			i = n - edge;
		}
		p.v[p.n++] = i;
	}
	return p;
}

static const json_t *data_of(const json_t *node)
{
	return json_object_get(node, "data");
}

static bool is_kind(const json_t *node, const char *kind)
{
	const char *t = result_kind(node);

	return t && strcmp(t, kind) == 0;
}

static int64_t range_part(const json_t *range, size_t i)
{
	return json_integer_value(
		json_array_get(json_object_get(range, "v"), i));
}

static size_t range_length(const json_t *range)
{
	__int128 step = range_part(range, 2);
	__int128 span = (__int128)range_part(range, 1) - range_part(range, 0);

	if (step < 0) {
		step = -step;
		span = -span;
	}
	return span <= 0 ? 0 : (size_t)((span + step - 1) / step);
}

size_t result_rows(const json_t *node)
{
	if (is_kind(node, "index"))
		return result_rows(data_of(node));
	if (is_kind(node, "range"))
		return range_length(node);
	if (is_kind(node, "ndarray"))
		return (size_t)json_integer_value(
			json_array_get(json_object_get(node, "shape"), 0));
	if (is_kind(node, "column"))
		return json_array_size(json_object_get(node, "v"));
	return json_array_size(node);
}

/* Times stand in a table without "T" and quotes. */
static void add_time(struct buf *to, const char *iso)
{
	for (; *iso; iso++)
		buf_add(to,
			*iso == 'T' && iso[1] >= '0' && iso[1] <= '9' ? " "
								      : iso,
			1);
}

/* Without ".000000000", which most times of pandas end with. */
static void cut_fraction(struct buf *b)
{
	char *point = strchr(b->p, '.');

	if (point && !point[1 + strspn(point + 1, "0")])
		*point = '\0';
}

static void node_text(const struct result *r, const json_t *node,
		      struct buf *to)
{
	if (json_is_string(node))
		text_clean(to, json_string_value(node),
			   MIN(json_string_length(node), MAX_CELL), false);
	else if (is_kind(node, "datetime") || is_kind(node, "date"))
		add_time(to, json_str_or(node, "v", ""));
	else
		show_repr(r, node, to, MAX_CELL);
}

static void array_text(const struct result *r, const json_t *node, size_t i,
		       struct buf *to)
{
	autobuf struct buf b = { 0 };
	struct result_array a;

	result_array_get(r, node, &a);
	if (a.kind == 'O') {
		node_text(r, json_array_get(a.items, i), to);
	} else if (a.kind == 'M') {
		number_datetime(&b, result_array_int(&a, i), a.unit);
		cut_fraction(&b);
		add_time(to, b.p);
	} else if (a.kind == 'f') {
		double x = result_array_float(&a, i, false);

		if (__builtin_isnan(x))
			buf_adds(to, "NaN");
		else
			number_float(to, x, result_array_bits(&a));
	} else {
		show_item(r, &a, i, to);
	}
}

/* Item i of a column or an index, as it stands in a table; the caller's. */
static char *cell_text(const struct result *r, const json_t *node, size_t i)
{
	struct buf b = { 0 };

	if (i == GAP)
		return xstrdup("...");
	if (is_kind(node, "index"))
		return cell_text(r, data_of(node), i);
	buf_add(&b, "", 0);
	if (is_kind(node, "range"))
		buf_addf(&b, "%lld",
			 (long long)((uint64_t)range_part(node, 0) +
				     i * (uint64_t)range_part(node, 2)));
	else if (is_kind(node, "ndarray"))
		array_text(r, node, i, &b);
	else if (is_kind(node, "column"))
		node_text(r, json_array_get(json_object_get(node, "v"), i), &b);
	else
		node_text(r, json_array_get(node, i), &b);
	for (size_t k = 0; k < b.len; k++)
		if (b.p[k] == '\n')
			b.p[k] = ' ';
	return b.p;
}

/* The float of a cell; false if it is none, or not a finite one. */
static bool cell_float(const struct result_array *a, size_t i, double *ret)
{
	if (a->kind != 'f' || i == GAP)
		return false;
	*ret = result_array_float(a, i, false);
	return __builtin_isfinite(*ret);
}

/*
 * How many zeros all numbers have at their end when written with six digits
 * behind the point; -1 if one cannot be written so.
 */
static int common_zeros(const struct result_array *a, const struct pick *rows)
{
	int zeros = 5;
	double x;

	for (size_t i = 0; i < rows->n; i++) {
		char text[32];
		int end;

		if (!cell_float(a, rows->v[i], &x))
			continue;
		if (__builtin_fabs(x) >= 1e9 ||
		    (x != 0 && __builtin_fabs(x) < 1e-4))
			return -1;
		end = snprintf(text, sizeof(text), "%.6f", x);
		for (int n = 0; n < zeros; n++)
			if (text[end - 1 - n] != '0')
				zeros = n;
	}
	return zeros;
}

/* Floats of a column have the same number of digits behind the point. */
static void align_floats(const struct result *r, const json_t *column,
			 const struct pick *rows, char **cell, size_t stride)
{
	struct result_array a;
	int zeros;
	double x;

	if (!is_kind(column, "ndarray"))
		return;
	result_array_get(r, column, &a);
	zeros = common_zeros(&a, rows);
	for (size_t i = 0; i < rows->n && zeros >= 0; i++)
		if (cell_float(&a, rows->v[i], &x)) {
			free(cell[i * stride]);
			cell[i * stride] = xasprintf("%.*f", 6 - zeros, x);
		}
}

struct table {
	char **cell; /* rows of columns */
	size_t rows, columns;
};

static void set_table(struct show *s, const struct table *t)
{
	size_t width[MAX_COLUMNS + 2] = { 0 };

	for (size_t i = 0; i < t->rows * t->columns; i++)
		width[i % t->columns] =
			MAX(width[i % t->columns],
			    text_width(t->cell[i], strlen(t->cell[i])));
	for (size_t i = 0; i < t->rows * t->columns && !s->full; i++) {
		size_t column = i % t->columns;
		size_t have = text_width(t->cell[i], strlen(t->cell[i]));

		if (i && !column)
			show_puts(s, "\n");
		if (!column)
			show_puts(s, t->cell[i]);
		for (size_t n = have; n < width[column] + (column ? 2 : 0); n++)
			show_puts(s, " ");
		if (column)
			show_puts(s, t->cell[i]);
	}
}

static void free_table(struct table *t)
{
	for (size_t i = 0; i < t->rows * t->columns; i++)
		free(t->cell[i]);
	free(t->cell);
}

/* Put column `from` of the frame, or its index, into column `at`. */
static void fill(struct show *s, struct table *t, size_t at, const json_t *from,
		 const struct pick *rows)
{
	size_t first = t->rows - rows->n;

	for (size_t i = 0; i < rows->n; i++)
		t->cell[(first + i) * t->columns + at] =
			from ? cell_text(s->r, from, rows->v[i])
			     : xstrdup("...");
	if (from && at)
		align_floats(s->r, from, rows,
			     &t->cell[first * t->columns + at], t->columns);
}

static void show_size(struct show *s, size_t rows, size_t columns)
{
	char text[80];

	snprintf(text, sizeof(text), "\n\n[%zu rows x %zu columns]", rows,
		 columns);
	show_puts(s, text);
}

void show_frame(struct show *s, const json_t *node)
{
	const json_t *names = json_object_get(node, "columns");
	const json_t *index = json_object_get(node, "index");
	size_t n = result_rows(index), m = result_rows(names);
	struct pick rows = pick(n, MAX_ROWS, EDGE_ROWS);
	struct pick columns = pick(m, MAX_COLUMNS, EDGE_COLUMNS);
	struct table t = { .rows = rows.n + 1, .columns = columns.n + 1 };

	t.cell = xcalloc(t.rows * t.columns, sizeof(*t.cell));
	t.cell[0] = xstrdup("");
	fill(s, &t, 0, index, &rows);
	for (size_t i = 0; i < columns.n; i++) {
		size_t k = columns.v[i];

		t.cell[i + 1] = cell_text(s->r, names, k);
		fill(s, &t, i + 1,
		     k == GAP ? NULL : json_array_get(data_of(node), k), &rows);
	}
	if (!n || !m)
		show_puts(s, "Empty DataFrame\n");
	set_table(s, &t);
	if (rows.n != n || columns.n != m || !n || !m)
		show_size(s, n, m);
	free_table(&t);
}

/* "dtype: int64" of a column. */
static void add_type(const struct result *r, const json_t *column,
		     struct buf *to)
{
	struct result_array a;
	autobuf struct buf b = { 0 };

	if (is_kind(column, "ndarray")) {
		result_array_get(r, column, &a);
		show_dtype(&a, &b);
		if (b.len && b.p[0] == '\'')
			buf_add(to, b.p + 1, b.len - 2);
		else
			buf_add(to, b.p, b.len);
	} else {
		text_clean(to, json_str_or(column, "dtype", ""),
			   strlen(json_str_or(column, "dtype", "")), false);
	}
}

void show_series(struct show *s, const json_t *node)
{
	const json_t *index = json_object_get(node, "index");
	const json_t *name = json_object_get(node, "name");
	size_t n = result_rows(index);
	struct pick rows = pick(n, MAX_ROWS, EDGE_ROWS);
	struct table t = { .rows = rows.n, .columns = 2 };
	autobuf struct buf b = { 0 };

	t.cell = xcalloc(t.rows * t.columns + 1, sizeof(*t.cell));
	fill(s, &t, 0, index, &rows);
	fill(s, &t, 1, data_of(node), &rows);
	set_table(s, &t);
	free_table(&t);
	buf_adds(&b, n ? "\n" : "Series([], ");
	if (!json_is_null(name)) {
		buf_adds(&b, "Name: ");
		node_text(s->r, name, &b);
		buf_adds(&b, ", ");
	}
	if (rows.n != n)
		buf_addf(&b, "Length: %zu, ", n);
	buf_adds(&b, "dtype: ");
	add_type(s->r, data_of(node), &b);
	buf_adds(&b, n ? "" : ")");
	show_put(s, b.p, b.len);
}

static void show_names(struct show *s, const json_t *names)
{
	bool many = json_array_size(names) > 1;

	if (!many && json_is_null(json_array_get(names, 0)))
		return;
	show_puts(s, many ? ", names=" : ", name=");
	show_node(s, many ? names : json_array_get(names, 0));
}

static void show_range_index(struct show *s, const json_t *range)
{
	char text[120];

	snprintf(text, sizeof(text),
		 "RangeIndex(start=%lld, stop=%lld, step=%lld",
		 (long long)range_part(range, 0),
		 (long long)range_part(range, 1),
		 (long long)range_part(range, 2));
	show_puts(s, text);
}

/* The labels as in a list. */
static void show_labels(struct show *s, const json_t *data)
{
	struct pick p = pick(result_rows(data), MAX_LABELS - 1, EDGE_LABELS);
	struct result_array a = { 0 };

	if (is_kind(data, "ndarray"))
		result_array_get(s->r, data, &a);
	show_puts(s, "[");
	for (size_t i = 0; i < p.n && !s->full; i++) {
		autobuf struct buf b = { 0 };

		show_puts(s, i ? ", " : "");
		if (p.v[i] == GAP)
			buf_adds(&b, "...");
		else if (a.kind)
			show_item(s->r, &a, p.v[i], &b);
		else
			show_repr(s->r,
				  json_array_get(
					  json_is_array(data)
						  ? data
						  : json_object_get(data, "v"),
					  p.v[i]),
				  &b, MAX_CELL);
		show_put(s, b.p, b.len);
	}
	show_puts(s, "]");
}

void show_index(struct show *s, const json_t *node)
{
	const json_t *data = data_of(node);
	autobuf struct buf b = { 0 };

	if (is_kind(data, "range")) {
		show_range_index(s, data);
	} else if (json_is_array(data)) {
		show_puts(s, "MultiIndex(");
		show_labels(s, data);
	} else {
		show_puts(s, "Index(");
		show_labels(s, data);
		buf_adds(&b, ", dtype='");
		add_type(s->r, data, &b);
		buf_adds(&b, "'");
		show_put(s, b.p, b.len);
	}
	show_names(s, json_object_get(node, "names"));
	show_puts(s, ")");
}
