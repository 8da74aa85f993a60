/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Bytes of any kind in JSON: text as it is, all else as base64. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/util.h"

/* UTF-8 without NUL. */
bool text_is_valid(const char *data, size_t len);

/* len without the beginning of a character whose rest is not there yet. */
size_t text_whole(const char *data, size_t len);

/* A string of valid text, or of its base64. */
json_t *text_json(const char *data, size_t len, bool base64);

/* The bytes that base64 text stands for; SB_INVALID naming field. */
int text_decode(const char *text, const char *field, struct buf *ret,
		struct sb_err *err);
