/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Readers for single JSON values, which complain with the path of the value
 * that is wrong: "ports[1].guest: 99999 is not between 1 and 65535".  Shared
 * by the specification of a sandbox and the configuration of sandboxd.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "host/spec-text.h"

#define VALUE_FIELD_LEN 128

struct reader {
	char *field; /* VALUE_FIELD_LEN bytes: path of the value at hand */
	struct sb_err *err;
};

/* Fail with SB_INVALID and "FIELD: message". */
int value_bad(struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Say which value is at hand: "key", or "list[i].key", "list[i]". */
void value_at(struct reader *r, const char *key);
void value_at_entry(struct reader *r, const char *list, size_t i,
		    const char *key /* may be NULL */);

/*
 * Each leaves *out as it is when it fails.  A text that is there already is
 * freed; v may be NULL, which is as wrong as any other type.
 */
int value_text(struct reader *r, const json_t *v, spec_text_check *check,
	       char **out);
int value_int(struct reader *r, const json_t *v, int min, int max, int *out);
int value_flag(struct reader *r, const json_t *v, bool *out);
/* "2G", or bytes. */
int value_size(struct reader *r, const json_t *v, unsigned long long min,
	       unsigned long long max, unsigned long long *out);
/* "15m", or seconds, or null for 0. */
int value_time(struct reader *r, const json_t *v, long long max,
	       long long *out);
/* The index of a text in words[] (NULL ends it). */
int value_word(struct reader *r, const json_t *v, const char *const words[],
	       int *out);
