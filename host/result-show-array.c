/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays as numpy shows them.  The items that are shown are written first,
 * all to one width, and then set into lines and brackets.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "host/result-private.h"

/* The settings that numpy comes with. */
#define THRESHOLD 1000 /* items; then only the edges are shown */
#define EDGE 3
#define LINE 75

/* No array is longer than this on the screen; numpy knows no such limit. */
#define MAX_SHOWN 10000
#define MAX_ITEM 4096 /* bytes, of an object */

struct view {
	struct show *s;
	struct result_array a;
	bool edges;
	size_t *index; /* of the items that are shown */
	char **word;
	size_t n, cap, next;
};

static void show_stamp(const struct result_array *a, size_t i, bool quoted,
		       struct buf *to)
{
	int64_t v = result_array_int(a, i);

	if (quoted)
		buf_adds(to, "'");
	if (v != INT64_MIN && __builtin_mul_overflow(v, a->step, &v))
		buf_adds(to, "?");
	else if (a->kind == 'M' || v == INT64_MIN)
		number_datetime(to, v, a->unit);
	else
		buf_addf(to, "%lld", (long long)v);
	if (quoted)
		buf_adds(to, "'");
}

static void show_text(const struct result_array *a, size_t i, struct buf *to)
{
	autobuf struct buf text = { 0 };

	result_array_text(a, i, &text);
	buf_add(&text, "", 0);
	if (a->kind == 'S')
		text_bytes(to, text.p, MIN(text.len, MAX_ITEM));
	else
		text_str(to, text.p, MIN(text.len, MAX_ITEM));
}

void show_item(const struct result *r, const struct result_array *a, size_t i,
	       struct buf *to)
{
	int64_t n;

	switch (a->kind) {
	case 'O':
		show_repr(r, json_array_get(a->items, i), to, MAX_ITEM);
		break;
	case 'f':
		number_float(to, result_array_float(a, i, false),
			     result_array_bits(a));
		break;
	case 'c':
		number_complex(to, result_array_float(a, i, false),
			       result_array_float(a, i, true),
			       result_array_bits(a));
		break;
	case 'S':
	case 'U':
		show_text(a, i, to);
		break;
	case 'M':
	case 'm':
		n = result_array_int(a, i);
		show_stamp(a, i, a->kind == 'M' || n == INT64_MIN, to);
		break;
	case 'b':
		buf_adds(to, result_array_int(a, i) ? "True" : "False");
		break;
	case 'u':
		buf_addf(to, "%llu",
			 (unsigned long long)result_array_int(a, i));
		break;
	default:
		buf_addf(to, "%lld", (long long)result_array_int(a, i));
	}
}

static bool is_cut(const struct view *v, size_t axis)
{
	return v->edges && v->a.dim[axis] > 2 * EDGE;
}

/* Choose the items from first on, in the order in which they are shown. */
static bool choose(struct view *v, size_t axis, size_t first, size_t stride)
{
	if (axis == v->a.ndim) {
		if (v->n == MAX_SHOWN)
			return false;
		if (v->n == v->cap) {
			v->cap = v->cap ? v->cap * 2 : 64;
			v->index =
				xrealloc(v->index, v->cap, sizeof(*v->index));
		}
		v->index[v->n++] = first;
		return true;
	}
	stride /= v->a.dim[axis];
	for (size_t i = 0; i < v->a.dim[axis]; i++) {
		if (is_cut(v, axis) && i == EDGE)
			i = v->a.dim[axis] - EDGE;
		if (!choose(v, axis + 1, first + i * stride, stride))
			return false;
	}
	return true;
}

static void pad(struct buf *b, size_t n)
{
	while (n--)
		buf_adds(b, " ");
}

/* How the floats of one array are written: as FloatingFormat of numpy does. */
struct floats {
	const struct view *v;
	bool imag, scientific;
	int bits;
	size_t left, right; /* of the point */
	int digits, exp_digits;
};

static double float_at(const struct floats *f, size_t i)
{
	return result_array_float(&f->v->a, f->v->index[i], f->imag);
}

static void measure_range(struct floats *f)
{
	double low = 0, high = 0;

	for (size_t i = 0; i < f->v->n; i++) {
		double x = __builtin_fabs(float_at(f, i));

		if (!__builtin_isfinite(x) || x == 0)
			continue;
		low = low == 0 || x < low ? x : low;
		high = x > high ? x : high;
	}
	f->scientific = high != 0 &&
			(high >= 1e8 || low < 1e-4 || high / low > 1000);
}

/* The widths of one finite number. */
static void measure_one(struct floats *f, double x)
{
	autobuf struct buf b = { 0 };
	const char *point, *e;

	if (f->scientific)
		number_scientific(&b, x, f->bits, 0, 2);
	else
		number_fixed(&b, x, f->bits);
	point = strchr(b.p, '.');
	e = strchr(b.p, 'e');
	if (!e)
		e = b.p + b.len;
	f->left = MAX(f->left,
		      (size_t)(point - b.p) + (f->imag && b.p[0] != '-'));
	f->digits = MAX(f->digits, (int)(e - point) - 1);
	f->exp_digits = MAX(f->exp_digits, (int)(b.p + b.len - e) - 2);
}

static void measure_floats(struct floats *f)
{
	bool special = false, negative = false;
	size_t need;

	measure_range(f);
	for (size_t i = 0; i < f->v->n; i++) {
		double x = float_at(f, i);

		if (__builtin_isfinite(x)) {
			measure_one(f, x);
			continue;
		}
		special = true;
		negative |= !__builtin_isnan(x) && x < 0;
	}
	f->right = (size_t)f->digits +
		   (f->scientific ? (size_t)f->exp_digits + 2 : 0);
	need = 3 + (negative || f->imag);
	if (special && f->left + f->right + 1 < need)
		f->left = need - f->right - 1;
}

static void add_float(const struct floats *f, size_t i, struct buf *to)
{
	autobuf struct buf b = { 0 };
	double x = float_at(f, i);
	bool finite = __builtin_isfinite(x);
	const char *point;
	size_t behind = 0;

	if (f->imag && (!__builtin_signbit(x) || __builtin_isnan(x)))
		buf_adds(&b, "+");
	if (!finite)
		number_float(&b, x, f->bits);
	else if (f->scientific)
		number_scientific(&b, x, f->bits, f->digits, f->exp_digits);
	else
		number_fixed(&b, x, f->bits);
	point = finite ? strchr(b.p, '.') : NULL;
	if (finite && !f->scientific)
		behind = (size_t)f->digits - strlen(point + 1);
	if (f->left + f->right + 1 > b.len + behind)
		pad(to, f->left + f->right + 1 - b.len - behind);
	buf_add(to, b.p, b.len);
	pad(to, behind);
}

static void write_floats(struct view *v)
{
	struct floats re = { .v = v, .bits = result_array_bits(&v->a) };
	struct floats im = re;

	im.imag = true;
	measure_floats(&re);
	if (v->a.kind == 'c')
		measure_floats(&im);
	for (size_t i = 0; i < v->n; i++) {
		struct buf b = { 0 };
		size_t end;

		add_float(&re, i, &b);
		if (v->a.kind == 'c') {
			add_float(&im, i, &b);
			for (end = b.len; b.p[end - 1] == ' '; end--)
				;
			pad(&b, 1);
			memmove(b.p + end + 1, b.p + end, b.len - end - 1);
			b.p[end] = 'j';
		}
		v->word[i] = b.p;
	}
}

/* Numbers stand under each other; strings and objects do not. */
static void write_items(struct view *v)
{
	bool aligned = v->a.kind != 'S' && v->a.kind != 'U' &&
		       v->a.kind != 'O' && v->a.ndim;
	size_t width = 0;

	for (size_t i = 0; i < v->n; i++) {
		struct buf b = { 0 };

		show_item(v->s->r, &v->a, v->index[i], &b);
		v->word[i] = b.p;
		width = MAX(width, b.len);
	}
	if (v->a.kind == 'b')
		width = 5;
	for (size_t i = 0; aligned && i < v->n; i++) {
		struct buf b = { 0 };

		pad(&b, width - strlen(v->word[i]));
		buf_adds(&b, v->word[i]);
		free(v->word[i]);
		v->word[i] = b.p;
	}
}

static void newline(struct show *s, size_t indent)
{
	show_puts(s, "\n");
	while (indent--)
		show_puts(s, " ");
}

/* One row: as many items on a line as fit. */
static void set_row(struct view *v, size_t indent, size_t width)
{
	size_t line = indent, n = v->a.dim[v->a.ndim - 1];
	bool cut = is_cut(v, v->a.ndim - 1);

	for (size_t i = 0; i < (cut ? 2 * EDGE + 1 : n); i++) {
		const char *word = cut && i == EDGE ? "..."
						    : v->word[v->next++];
		size_t len = text_width(word, strlen(word));

		if (i && line + 2 + len > width && line + 2 > indent) {
			show_puts(v->s, ",");
			newline(v->s, indent);
			line = indent;
		} else if (i) {
			show_puts(v->s, ", ");
			line += 2;
		}
		show_puts(v->s, word);
		line += len;
	}
}

static void set_axis(struct view *v, size_t axis, size_t indent, size_t width)
{
	size_t left = v->a.ndim - axis, n;
	bool cut;

	if (!left) {
		show_puts(v->s, v->word[v->next++]);
		return;
	}
	show_puts(v->s, "[");
	cut = is_cut(v, axis);
	n = cut ? 2 * EDGE + 1 : v->a.dim[axis];
	if (left == 1)
		set_row(v, indent, width - 1);
	for (size_t i = 0; left > 1 && i < n && !v->s->full; i++) {
		if (i) {
			show_puts(v->s, ",");
			for (size_t k = 2; k < left; k++)
				show_puts(v->s, "\n");
			newline(v->s, indent);
		}
		if (cut && i == EDGE)
			show_puts(v->s, "...");
		else
			set_axis(v, axis + 1, indent + 1, width - 1);
	}
	show_puts(v->s, "]");
}

void show_dtype(const struct result_array *a, struct buf *b)
{
	static const char *const names[] = { "iint", "uuint", "ffloat",
					     "ccomplex" };

	if (a->kind == 'O' || a->kind == 'b') {
		buf_adds(b, a->kind == 'O' ? "object" : "bool");
	} else if (a->kind == 'M' || a->kind == 'm') {
		buf_addf(b, "'%s64%s'",
			 a->kind == 'M' ? "datetime" : "timedelta",
			 a->dtype + 3);
	} else if (a->kind == 'S' || a->kind == 'U') {
		buf_addf(b, "'%s'", a->dtype);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (names[i][0] == a->kind)
				buf_addf(b, "%s%zu", names[i] + 1, a->size * 8);
	}
}

static bool is_usual(const struct result_array *a)
{
	return a->count &&
	       (a->kind == 'b' || strcmp(a->dtype, "<i8") == 0 ||
		strcmp(a->dtype, "<f8") == 0 || strcmp(a->dtype, "<c16") == 0);
}

static void add_shape(const struct result_array *a, struct buf *b)
{
	buf_adds(b, "shape=(");
	for (size_t i = 0; i < a->ndim; i++)
		buf_addf(b, "%s%zu", i ? ", " : "", a->dim[i]);
	buf_adds(b, a->ndim == 1 ? ",)" : ")");
}

static void set_items(struct view *v)
{
	autobuf struct buf b = { 0 };

	if (v->a.count && v->word) {
		set_axis(v, 0, strlen("array( "), LINE - 1);
		return;
	}
	if (v->a.count || v->a.ndim != 1) {
		buf_adds(&b, v->a.count ? "..., " : "[], ");
		add_shape(&v->a, &b);
	}
	show_puts(v->s, b.len ? b.p : "[]");
}

/* The type behind the items, on the same line if it fits. */
static void set_dtype(struct view *v, size_t start)
{
	const struct buf *to = v->s->to;
	autobuf struct buf b = { 0 };
	size_t line = to->len;

	if (is_usual(&v->a)) {
		show_puts(v->s, ")");
		return;
	}
	buf_adds(&b, "dtype=");
	show_dtype(&v->a, &b);
	buf_adds(&b, ")");
	while (line > start && to->p[line - 1] != '\n')
		line--;
	show_puts(v->s, ",");
	if (text_width(to->p + line, to->len - line) + b.len + 1 > LINE)
		newline(v->s, strlen("array("));
	else
		show_puts(v->s, " ");
	show_puts(v->s, b.p);
}

void show_array(struct show *s, const json_t *node)
{
	struct view v = { .s = s };
	size_t start = s->to->len;

	result_array_get(s->r, node, &v.a);
	v.edges = v.a.count > THRESHOLD;
	if (v.a.count && choose(&v, 0, 0, v.a.count)) {
		v.word = xcalloc(v.n, sizeof(*v.word));
		if (v.a.kind == 'f' || v.a.kind == 'c')
			write_floats(&v);
		else
			write_items(&v);
	}
	show_puts(s, "array(");
	set_items(&v);
	set_dtype(&v, start);
	for (size_t i = 0; v.word && i < v.n; i++)
		free(v.word[i]);
	free(v.word);
	free(v.index);
}
