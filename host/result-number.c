/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as Python and numpy write them. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/result-private.h"

#define MAX_DECIMAL 3570 /* hexadecimal digits: Python refuses to print more */
#define NUMPY_DIGITS 8	 /* behind the point */

/* The nearest float of 16 bits. */
static double to_half(double v)
{
	double scale = 0x1p-24, a = v < 0 ? -v : v;

	while (a / scale >= 2048)
		scale *= 2;
	a = (a / scale + 0x1p52 - 0x1p52) * scale;
	return v < 0 ? -a : a;
}

static bool is_same(const char *text, double v, int bits)
{
	if (bits == 32)
		return (double)strtof(text, NULL) == v;
	return (bits == 16 ? to_half(strtod(text, NULL))
			   : strtod(text, NULL)) == v;
}

struct digits {
	char d[20]; /* without the point */
	int n;
	int exp; /* of the first one */
};

/* v is finite. */
static void shortest(double v, int bits, struct digits *ret)
{
	char text[40];
	int precision = 0;
	const char *e;

	do
		snprintf(text, sizeof(text), "%.*e", precision,
			 __builtin_fabs(v));
	while (++precision < 17 && !is_same(text, __builtin_fabs(v), bits));
	ret->n = 0;
	for (e = text; *e != 'e'; e++)
		if (*e >= '0' && *e <= '9' && ret->n < 19)
			ret->d[ret->n++] = *e;
	ret->d[ret->n] = '\0';
	ret->exp = atoi(e + 1);
}

static bool add_special(struct buf *to, double v)
{
	if (__builtin_isfinite(v))
		return false;
	buf_adds(to, __builtin_isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
	return true;
}

static void add_sign(struct buf *to, double v)
{
	if (__builtin_signbit(v))
		buf_adds(to, "-");
}

/* "1.5", "150." or "0.0015": no digit behind the point unless it is needed. */
static void add_positional(struct buf *to, const struct digits *d)
{
	int whole = MAX(d->exp + 1, 0);

	if (!whole)
		buf_adds(to, "0");
	for (int i = 0; i < whole; i++)
		buf_add(to, i < d->n ? &d->d[i] : "0", 1);
	buf_adds(to, ".");
	if (d->n == 1 && d->d[0] == '0')
		return;
	for (int i = d->exp + 1; i < 0; i++)
		buf_adds(to, "0");
	if (d->n > whole)
		buf_adds(to, d->d + whole);
}

void number_float(struct buf *to, double v, int bits)
{
	struct digits d;

	if (add_special(to, v))
		return;
	shortest(v, bits, &d);
	add_sign(to, v);
	if (d.exp >= -4 && d.exp < 16) {
		add_positional(to, &d);
		if (to->p[to->len - 1] == '.')
			buf_adds(to, "0");
		return;
	}
	buf_addf(to, "%c%s%se%c%02d", d.d[0], d.n > 1 ? "." : "", d.d + 1,
		 d.exp < 0 ? '-' : '+', abs(d.exp));
}

/* One part of a complex number: without ".0". */
static void add_part(struct buf *to, double v, int bits)
{
	number_float(to, v, bits);
	if (to->len > 2 && memcmp(to->p + to->len - 2, ".0", 2) == 0) {
		to->len -= 2;
		to->p[to->len] = '\0';
	}
}

void number_complex(struct buf *to, double re, double im, int bits)
{
	bool whole = re != 0 || __builtin_signbit(re);

	if (whole) {
		buf_adds(to, "(");
		add_part(to, re, bits);
		if (!__builtin_signbit(im) || __builtin_isnan(im))
			buf_adds(to, "+");
	}
	add_part(to, im, bits);
	buf_adds(to, whole ? "j)" : "j");
}

/* Nine decimal digits in each word, the lowest first. */
static size_t to_decimal(const char *hex, uint32_t *words)
{
	size_t n = 1;

	words[0] = 0;
	for (; *hex; hex++) {
		uint64_t carry = *hex <= '9' ? *hex - '0' : *hex - 'a' + 10;

		for (size_t i = 0; i < n; i++) {
			carry += (uint64_t)words[i] * 16;
			words[i] = (uint32_t)(carry % 1000000000);
			carry /= 1000000000;
		}
		if (carry)
			words[n++] = (uint32_t)carry;
	}
	return n;
}

void number_hex(struct buf *to, const char *hex)
{
	const char *digits = hex + (*hex == '-') + 2;
	uint32_t words[MAX_DECIMAL / 7 + 2];
	size_t n;

	if (strlen(digits) > MAX_DECIMAL) {
		buf_adds(to, hex);
		return;
	}
	n = to_decimal(digits, words);
	buf_addf(to, "%s%u", *hex == '-' ? "-" : "", words[n - 1]);
	while (--n > 0)
		buf_addf(to, "%09u", words[n - 1]);
}

void number_fixed(struct buf *to, double v, int bits)
{
	struct digits d;

	shortest(v, bits, &d);
	if (d.n - 1 - d.exp <= NUMPY_DIGITS) {
		add_sign(to, v);
		add_positional(to, &d);
		return;
	}
	buf_addf(to, "%.*f", NUMPY_DIGITS, v);
	while (to->p[to->len - 1] == '0')
		to->p[--to->len] = '\0';
}

void number_scientific(struct buf *to, double v, int bits, int min_digits,
		       int exp_digits)
{
	struct digits d;

	shortest(v, bits, &d);
	if (d.n - 1 > NUMPY_DIGITS) {
		char text[40];

		snprintf(text, sizeof(text), "%.*e", NUMPY_DIGITS,
			 __builtin_fabs(v));
		d.exp = atoi(strchr(text, 'e') + 1);
		d.d[0] = text[0];
		memcpy(d.d + 1, text + 2, NUMPY_DIGITS);
		for (d.n = NUMPY_DIGITS + 1; d.d[d.n - 1] == '0'; d.n--)
			;
		d.d[d.n] = '\0';
	}
	add_sign(to, v);
	buf_addf(to, "%c.%s", d.d[0], d.d + 1);
	for (int i = d.n - 1; i < min_digits; i++)
		buf_adds(to, "0");
	buf_addf(to, "e%c%0*d", d.exp < 0 ? '-' : '+', MAX(exp_digits, 2),
		 abs(d.exp));
}
