/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How far something long has come, on stderr: one line that is redrawn on a
 * terminal (what, how far, seconds), a plain line for each step elsewhere.
 */

#include <stdbool.h>

struct progress;

/* quiet: say nothing.  what (copied) begins the line. */
struct progress *progress_new(const char *what, bool quiet);

/* The step that has begun; percent below 0: unknown. */
void progress_step(struct progress *p, const char *text, int percent);

/* Seconds since progress_new(). */
double progress_seconds(const struct progress *p);

/* Take the line away and end; p may be NULL. */
void progress_free(struct progress *p);
