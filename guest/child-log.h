/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>

/*
 * The log of processes that outlive guestd, kernels or the desktop's: what they
 * print past their protocols (why one does not start, what a crash left), and
 * when they start and end.  One file for all of a kind, which they write
 * themselves.
 */

struct child_log;

/* In dir, which exists; below it nothing is trusted. */
struct child_log *child_log_new(const char *dir, const char *file);
void child_log_free(struct child_log *l);
/* From now on there; processes that run stay where they are. */
void child_log_move(struct child_log *l, const char *dir, const char *file);
/* The caller's. */
char *child_log_path(const struct child_log *l);

/* A descriptor to append to; of /dev/null if nothing else can be. */
int child_log_open(const struct child_log *l);
/* A line of our own, with the members of who besides. */
void child_log_say(const struct child_log *l, const char *msg,
		   json_t *who /* takes */);
