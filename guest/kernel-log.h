/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The log of kernels: what their processes print past Jupyter's protocol (why
 * one does not start, what a crash left), and when they start and die.  One
 * file for all of them, which they write themselves, for they outlive guestd.
 */

struct kernel_log;

/* In dir, which exists; below it nothing is trusted. */
struct kernel_log *kernel_log_new(const char *dir, const char *file);
void kernel_log_free(struct kernel_log *l);
/* From now on there; kernels that run stay where they are. */
void kernel_log_move(struct kernel_log *l, const char *dir, const char *file);
/* The caller's. */
char *kernel_log_path(const struct kernel_log *l);

/* A descriptor to append to; of /dev/null if nothing else can be. */
int kernel_log_open(const struct kernel_log *l);
/* A line of our own about a kernel. */
void kernel_log_say(const struct kernel_log *l, const char *id,
		    const char *name, const char *msg);
