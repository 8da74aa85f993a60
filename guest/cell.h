/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A cell: code that a kernel is given, and all that comes back until it is
 * done.  It belongs to the loop's thread.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/loop.h"
#include "guest/kernel.h"

struct cell;

struct cell_config {
	struct loop *loop;
	struct kernel *k;
	const char *code;
	const char *result; /* "auto", "pickle" or "none" */
	/* To run, and to wait before for its turn; 0: any. */
	int64_t timeout_ms;
	size_t max_output; /* bytes of stdout, and of stderr */
	bool merged;	   /* keep both in their order as well */
	/* Output as it comes ("stdout", "stderr", "output"); may be NULL. */
	void (*on_output)(void *arg, const char *event, const json_t *content);
	/* Once, when all is there; never from within cell_start(). */
	void (*on_end)(void *arg);
	void *arg;
};
struct cell *cell_start(const struct cell_config *cfg);
/* Not before on_end: without it nobody would see to its time. */
void cell_free(struct cell *c);

/*
 * After on_end: how it ended, and whether there is so much of it that another
 * thread should ask.
 */
json_t *cell_answer(const struct cell *c);
/* stdout and stderr, if both were wanted. */
json_t *cell_output(const struct cell *c);
bool cell_is_large(const struct cell *c);
