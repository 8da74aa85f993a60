/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What sandboxctl says: results on stdout, everything else on stderr.  Strings
 * that may come from a guest go through sanitize_line() or out_json().
 */

#include <jansson.h>
#include <stddef.h>
#include <time.h>

#include "common/err.h"
#include "host/ctl.h"

/* One JSON value on stdout: indented on a terminal, else on one line. */
void out_json(const json_t *j);

/* An error on stderr, as a sentence or, with --json, as a problem object. */
void out_error(const struct ctl *c, const struct sb_err *err);

/* A note or a warning on stderr: "sandboxctl: …". */
void out_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Flush stdout; -1 if what was printed did not all arrive. */
int out_flush(struct sb_err *err);

#define OUT_SIZE_LEN 24
/* "512 M", "1.5 G"; "-" for 0. */
const char *out_size(unsigned long long bytes, char out[OUT_SIZE_LEN]);
/* "12s", "5m", "3h", "4d" */
const char *out_span(long long seconds, char out[OUT_SIZE_LEN]);

/* Seconds since 1970 of an ISO 8601 time in UTC, or -1. */
time_t out_parse_time(const char *iso);
