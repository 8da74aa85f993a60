/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a cell gave back, checked: nothing in it can hurt who reads it.  The
 * format is in sandbox-kernel(1), RESULTS.  It comes from a guest, so it is
 * refused as a whole if any part of it is not as described there; types that
 * we do not know stay opaque.
 */

#include <jansson.h>

#include "common/err.h"
#include "common/util.h"

#define RESULT_MAX_BYTES (64 << 20) /* of all buffers */
#define RESULT_MAX_TEXT (64 << 20)  /* of all strings */
#define RESULT_MAX_NODES 201000	  /* 200,000, and marks of what was left out */
#define RESULT_MAX_DEPTH 72	  /* 64, and what a frame adds */
#define RESULT_MAX_DIGITS 1000000 /* hexadecimal, of an int */
#define RESULT_MAX_DIMS 32	  /* of an array, as numpy has it */

struct result;

/* typed: "result" of POST /v1/run.  SB_GUEST if it is malformed, SB_LIMIT if
 * it is too large. */
int result_parse(const json_t *typed, struct result **ret, struct sb_err *err);
void result_free(struct result *r);

/*
 * As Python's REPL would show it (nothing for None), at most max bytes, clean
 * for a terminal: no control characters but newlines between the lines.
 */
void result_show(const struct result *r, struct buf *to, size_t max);

/*
 * As plain JSON, for --json: lists, numbers, strings, and objects for what has
 * strings as keys; what JSON has not stays an object with "t".
 */
json_t *result_plain(const struct result *r);

DEFINE_AUTO(struct result *, result_free, auto_result_cleanup)
#define autoresult __attribute__((cleanup(auto_result_cleanup)))
