/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the files of the result decoder know of each other. */

#include <stdint.h>

#include "host/result.h"

struct result_bytes {
	char *p;
	size_t len;
	bool used; /* a buffer belongs to one node: nothing multiplies it */
};

struct result {
	json_t *root; /* the checked tree */
	struct result_bytes *buffers;
	size_t n;
};

/* The buffer of a node that was checked. */
const struct result_bytes *result_buffer(const struct result *r,
					 const json_t *node);

/* The word at "t"; NULL if the node is no object. */
const char *result_kind(const json_t *node);

/* ---- result-array.c: arrays of numpy ---- */

struct result_array {
	char kind;   /* b i u f c M m S U, or O */
	size_t size; /* of one item, in bytes */
	char unit[4];
	int64_t step; /* of M and m: how many units */
	size_t ndim, dim[RESULT_MAX_DIMS];
	size_t count;
	const char *data;    /* or */
	const json_t *items; /* of kind O */
	const char *dtype;
};

/* Read dtype and shape; NULL, or what is wrong. */
const char *result_array_read(const json_t *node, struct result_array *a);
/* The same with the data, of a node that was checked. */
void result_array_get(const struct result *r, const json_t *node,
		      struct result_array *a);
/* Whether len bytes at data are items of it; NULL, or what is wrong. */
const char *result_array_check(const struct result_array *a, const char *data,
			       size_t len);
int64_t result_array_int(const struct result_array *a, size_t i);
double result_array_float(const struct result_array *a, size_t i, bool imag);
/* Bytes of item i of kind S, or UTF-8 of kind U, without the NULs behind. */
void result_array_text(const struct result_array *a, size_t i, struct buf *to);
/* The bits of one float of it. */
int result_array_bits(const struct result_array *a);

/* ---- result-text.c: how Python writes simple values ---- */

/* Length of the character at s; also of a surrogate.  0: there is none. */
size_t text_char(const char *s, size_t n, uint32_t *ret);
/* As repr() writes a string or bytes. */
void text_str(struct buf *to, const char *s, size_t n);
void text_bytes(struct buf *to, const char *s, size_t n);
/* A foreign text as it is, but with what a terminal must not see escaped. */
void text_clean(struct buf *to, const char *s, size_t n, bool newlines);
/* Characters, which is columns for most of them. */
size_t text_width(const char *s, size_t n);

/* ---- result-number.c ---- */

/* The shortest digits that give the float of 16, 32 or 64 bits again, as
 * repr() writes them. */
void number_float(struct buf *to, double v, int bits);
void number_complex(struct buf *to, double re, double im, int bits);
/* "-0x1f", which was checked, in decimal; as it is if it is very long. */
void number_hex(struct buf *to, const char *hex);
/* As numpy writes it: unique, at most 8 digits behind the point. */
void number_fixed(struct buf *to, double v, int bits);
void number_scientific(struct buf *to, double v, int bits, int min_digits,
		       int exp_digits);
/* A datetime64 of that many units. */
void number_datetime(struct buf *to, int64_t v, const char *unit);

/* ---- result-time.c ---- */

/* repr() of date, time, datetime; false when the text is none of the kind. */
bool time_repr(struct buf *to, const char *kind, const char *iso,
	       const char *zone);
bool time_zone_ok(const char *zone);

/* ---- result-show*.c ---- */

struct show {
	const struct result *r;
	struct buf *to;
	size_t end; /* to->len must not pass it */
	bool full;
};

void show_put(struct show *s, const char *text, size_t len);
void show_puts(struct show *s, const char *text);
void show_node(struct show *s, const json_t *node);
/* repr() of a node, of at most max bytes. */
void show_repr(const struct result *r, const json_t *node, struct buf *to,
	       size_t max);
void show_array(struct show *s, const json_t *node);
/* One item, as in a list. */
void show_item(const struct result *r, const struct result_array *a, size_t i,
	       struct buf *to);
/* "int64", "object", "'<U3'". */
void show_dtype(const struct result_array *a, struct buf *to);
void show_frame(struct show *s, const json_t *node);
void show_series(struct show *s, const json_t *node);
void show_index(struct show *s, const json_t *node);

/* How many rows an index, column or array has, after it was checked. */
size_t result_rows(const json_t *node);
