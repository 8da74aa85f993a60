/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Reading a log while it grows, is renamed to NAME.1 and begun
 * anew, or is truncated.  Every place in it has an id, with which reading can
 * go on later.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define LOG_READ_MAX_LINE (64 * 1024) /* longer ones come in pieces */
#define LOG_READ_MAX_TAIL (8 << 20)   /* bytes of one file */
#define LOG_READ_ID 48

/* Open the log, or what was renamed to NAME.1; -1 if there is none. */
typedef int (*log_opener)(void *arg, bool older);

struct log_reader;
struct log_reader *log_reader_new(log_opener open, void *arg);
void log_reader_free(struct log_reader *r);

/* Go to the last lines of it, of those that are not from before since_ms. */
void log_reader_tail(struct log_reader *r, long long lines, int64_t since_ms);

/* Go to where the id says; to the first line there is if that is no more.
 * SB_INVALID if it is not an id. */
int log_reader_seek(struct log_reader *r, const char *id, struct sb_err *err);

/*
 * The next line, without its end; false if there is none (yet).  The end of
 * the log counts as the end of a line if at_end.  *ret is good until the next
 * call.
 */
bool log_reader_next(struct log_reader *r, bool at_end, const char **ret,
		     size_t *ret_len);

/* The same for bytes, as they come: how many there are at *ret, 0 if none. */
size_t log_reader_bytes(struct log_reader *r, const char **ret);

/* The place after the last line that was returned. */
void log_reader_id(const struct log_reader *r, char ret[LOG_READ_ID]);
