/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Lines of a log, ours as JSON objects ("ts", "level", "msg" and what else a
 * record has) and others as text.
 */

#include <jansson.h>
#include <stdint.h>

#include "common/util.h"

/* The object that the line is, or {"msg": LINE}. */
json_t *log_line_json(const char *line, size_t len);

/* When it was written, in ms since 1970; -1 if it does not say. */
int64_t log_line_time(const char *line, size_t len);

/*
 * For people: "TIME LEVEL: MESSAGE NAME=VALUE ...".  Control bytes are
 * escaped, so that a foreign string cannot drive a terminal.  No end of line.
 */
void log_record_text(const json_t *record, struct buf *out);
