/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * jansson, with the checks that it leaves to its caller: input is strict (no
 * duplicate keys, bounded), and text that is not UTF-8 is never lost.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/util.h"

static inline void json_auto_unref(json_t **j)
{
	json_decref(*j);
}
#define autojson __attribute__((cleanup(json_auto_unref)))

/* Parse text; SB_INVALID with line and column if it is not JSON. */
int json_parse(const char *text, size_t len, json_t **ret, struct sb_err *err);

/* The compact form; the caller's. */
char *json_print(const json_t *j);

/*
 * A JSON string of any bytes: what is not UTF-8 becomes U+FFFD.  Never NULL.
 */
json_t *json_text(const char *s, size_t len);

/* json_text of a C string, JSON null for NULL. */
json_t *json_str(const char *s);

/* Set key to value (taken); aborts on a NULL value, which is our mistake. */
void json_put(json_t *obj, const char *key, json_t *value /* takes */);

/*
 * Typed fields of an object that came from outside.  Absent fields leave *ret
 * as it is and return 0; a wrong type is SB_INVALID and names the field.
 */
int json_get_str(const json_t *obj, const char *key, const char **ret,
		 struct sb_err *err);
int json_get_int(const json_t *obj, const char *key, long long min,
		 long long max, long long *ret, struct sb_err *err);
int json_get_bool(const json_t *obj, const char *key, bool *ret,
		  struct sb_err *err);

/* SB_INVALID naming the first key of obj that is not in keys[] (NULL ends). */
int json_only(const json_t *obj, const char *const keys[], struct sb_err *err);

/*
 * Borrowed string of obj at key, or dflt.  For replies of our own programs,
 * where a missing field is no error.
 */
const char *json_str_or(const json_t *obj, const char *key, const char *dflt);
long long json_int_or(const json_t *obj, const char *key, long long dflt);
bool json_bool_or(const json_t *obj, const char *key, bool dflt);
