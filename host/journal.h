/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A sandbox's journal: one JSON object a line in DIR/journal, appended before
 * what it says is acted on.  It is all that survives a daemon that is killed;
 * a last line that was cut off is ignored on reading.
 */

#include <jansson.h>

#include "common/err.h"

/* Append an entry; "time" is added to it. */
int journal_append(const char *dir, json_t *entry /* takes */,
		   struct sb_err *err);

/* Hand every entry to fn, oldest first, until one is refused with -1. */
int journal_replay(const char *dir,
		   int (*fn)(void *arg, const json_t *entry,
			     struct sb_err *err),
		   void *arg, struct sb_err *err);
