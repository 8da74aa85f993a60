/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Logging to stderr or to a file of bounded size, one line a record.
 * Control bytes in a message are escaped, so that a foreign string cannot
 * forge a line or drive a terminal.
 */

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"

enum log_level {
	LOG_LEVEL_ERR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

/*
 * Log to path from now on (appending; renamed to path.1 when it grows past
 * 4 MiB), as JSON lines if json.  Until then records go to stderr as text.
 */
int log_open(const char *path, bool json, struct sb_err *err);
/* Where it is now, the caller's; NULL: stderr. */
char *log_path(void);
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

void log_write(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same with more fields, which must not hold a secret. */
void log_fields(enum log_level level, json_t *fields /* takes */,
		const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#define log_err(...) log_write(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warn(...) log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)
