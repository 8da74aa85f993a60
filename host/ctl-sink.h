/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Where a guest's output goes: to our stdout and stderr, made harmless where
 * these are terminals, or, for --json, into one object.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/util.h"
#include "host/ctl-sanitize.h"

#define SINK_MAX_CAPTURE (16 << 20) /* bytes of each stream in --json */

struct sink {
	bool capture, truncated;
	bool unread; /* nobody reads our output any more */
	int64_t begin_ms;
	struct {
		bool terminal;
		struct sanitize filter;
		struct buf kept;
	} s[2];
};

void sink_init(struct sink *k, bool capture);
/* stream is STDOUT_FILENO or STDERR_FILENO; arg is the sink. */
int sink_push(void *arg, int stream, const char *data, size_t len,
	      struct sb_err *err);
/* The object of --json; the caller's. */
json_t *sink_json(const struct sink *k, int status);
void sink_print(const struct sink *k, int status);
void sink_done(struct sink *k);
