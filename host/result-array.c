/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numpy: which ones there are, and their items. */
#include "config.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "host/result-private.h"

#define MAX_ITEM (1 << 20) /* bytes: what the kernel sends at most */

static const char *const units[] = {
	"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as",
};

/* "[25s]" behind M8 and m8, or nothing. */
static bool read_unit(const char *s, struct result_array *a)
{
	size_t n;

	a->step = 1;
	if (!*s)
		return true;
	if (*s++ != '[')
		return false;
	n = strspn(s, "0123456789");
	if (n > 9)
		return false;
	if (n)
		a->step = strtol(s, NULL, 10);
	s += n;
	n = strcspn(s, "]");
	if (!a->step || n > 2 || strcmp(s + n, "]") != 0)
		return false;
	memcpy(a->unit, s, n);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(a->unit, units[i]) == 0)
			return true;
	return false;
}

/* S and U have any length; the rest is a short list. */
static bool read_dtype(const char *s, struct result_array *a)
{
	static const char *const plain[] = {
		"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2",
		"<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16",
	};
	long long size;

	a->kind = s[0] ? s[1] : '\0';
	if (strncmp(s, "|S", 2) == 0 || strncmp(s, "<U", 2) == 0) {
		if (parse_num(s + 2, 0, MAX_ITEM, &size) < 0)
			return false;
		a->size = (size_t)size * (a->kind == 'U' ? 4 : 1);
		return true;
	}
	if (strncmp(s, "<M8", 3) == 0 || strncmp(s, "<m8", 3) == 0) {
		a->size = 8;
		return read_unit(s + 3, a);
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (strcmp(s, plain[i]) == 0) {
			a->size = strtoul(s + 2, NULL, 10);
			return true;
		}
	return false;
}

/* The product counts dimensions of 0 as 1, so that none is absurd. */
static bool read_shape(const json_t *shape, struct result_array *a)
{
	size_t product = 1;
	bool empty = false;

	if (!json_is_array(shape) || json_array_size(shape) > RESULT_MAX_DIMS)
		return false;
	a->ndim = json_array_size(shape);
	for (size_t i = 0; i < a->ndim; i++) {
		const json_t *dim = json_array_get(shape, i);
		json_int_t n = json_integer_value(dim);

		if (!json_is_integer(dim) || n < 0)
			return false;
		a->dim[i] = (size_t)n;
		empty |= n == 0;
		if (__builtin_mul_overflow(product, (size_t)(n ? n : 1),
					   &product) ||
		    product > INT64_MAX / MAX_ITEM / 4)
			return false;
	}
	a->count = empty ? 0 : product;
	return true;
}

const char *result_array_read(const json_t *node, struct result_array *a)
{
	*a = (struct result_array){ .dtype = json_str_or(node, "dtype", "") };
	if (!read_shape(json_object_get(node, "shape"), a))
		return "an array has no possible shape";
	if (strcmp(a->dtype, "O") == 0) {
		a->kind = 'O';
		a->items = json_object_get(node, "v");
		return json_is_array(a->items) ? NULL : "an array has no items";
	}
	if (!read_dtype(a->dtype, a))
		return "an array is of a type that we do not read";
	if (!a->size && a->count)
		return "an array has items of no size";
	return NULL;
}

void result_array_get(const struct result *r, const json_t *node,
		      struct result_array *a)
{
	result_array_read(node, a);
	if (a->kind != 'O')
		a->data = result_buffer(r, node)->p;
}

static uint32_t code_point(const char *p)
{
	uint32_t cp;

	memcpy(&cp, p, sizeof(cp));
	return le32toh(cp);
}

const char *result_array_check(const struct result_array *a, const char *data,
			       size_t len)
{
	if (len != a->count * a->size)
		return "an array has not the size of its shape";
	if (a->kind == 'b')
		for (size_t i = 0; i < len; i++)
			if ((unsigned char)data[i] > 1)
				return "a bool is neither true nor false";
	if (a->kind == 'U')
		for (size_t i = 0; i < len; i += 4)
			if (code_point(data + i) > 0x10ffff)
				return "a string is not Unicode";
	return NULL;
}

int64_t result_array_int(const struct result_array *a, size_t i)
{
	uint64_t v = 0;
	unsigned int shift = 64 - 8 * (unsigned int)a->size;

	memcpy(&v, a->data + i * a->size, a->size);
	v = le64toh(v) << shift;
	return a->kind == 'u' || a->kind == 'b' ? (int64_t)(v >> shift)
						: (int64_t)v >> shift;
}

int result_array_bits(const struct result_array *a)
{
	return (int)a->size * (a->kind == 'c' ? 4 : 8);
}

static double half(uint16_t h)
{
	double v = h & 0x3ff;
	int e = h >> 10 & 31;

	if (e == 31)
		v = v != 0 ? __builtin_nan("") : __builtin_inf();
	else if (e)
		v = (v + 1024) * (1 << e) / 0x1p25;
	else
		v /= 0x1p24;
	return h & 0x8000 ? -v : v;
}

double result_array_float(const struct result_array *a, size_t i, bool imag)
{
	size_t size = (size_t)result_array_bits(a) / 8;
	const char *p = a->data + i * a->size + (imag ? size : 0);
	union {
		uint64_t n;
		double v;
	} d = { 0 };
	union {
		uint32_t n;
		float v;
	} f;

	memcpy(&d.n, p, size);
	d.n = le64toh(d.n);
	if (size == 8)
		return d.v;
	if (size == 2)
		return half((uint16_t)d.n);
	f.n = (uint32_t)d.n;
	return (double)f.v;
}

/* UTF-8; a surrogate takes three bytes as well. */
static void add_char(struct buf *to, uint32_t cp)
{
	char s[4];
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n - 1; i > 0; i--, cp >>= 6)
		s[i] = (char)(0x80 | (cp & 0x3f));
	s[0] = (char)(first[n] | cp);
	buf_add(to, s, n);
}

void result_array_text(const struct result_array *a, size_t i, struct buf *to)
{
	const char *p = a->data + i * a->size;
	size_t n = a->size;

	if (a->kind == 'S') {
		while (n && !p[n - 1])
			n--;
		buf_add(to, p, n);
		return;
	}
	while (n && !code_point(p + n - 4))
		n -= 4;
	for (size_t at = 0; at < n; at += 4)
		add_char(to, code_point(p + at));
}
