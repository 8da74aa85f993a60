/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Copies between host and guest, whichever way commands run in the guest:
 * through guestd or over SSH.
 */

#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

/*
 * Runs argv in the guest; its stdin comes from pull (bytes, 0 at the end, -1
 * on failure; NULL: empty), its output goes to push (0, or -1 to give up).
 */
struct copy_way {
	int (*run)(void *arg, const char *const argv[],
		   ssize_t (*pull)(void *io, char *data, size_t max,
				   struct sb_err *err),
		   int (*push)(void *io, int stream, const char *data,
			       size_t len, struct sb_err *err),
		   void *io, int *ret_status, struct sb_err *err);
	void *arg;
};

/*
 * Copy a file or a tree, modes kept.  progress (may be NULL) hears the bytes
 * so far.  Nothing half-written is left under the final name.
 */
int copy_put(const struct copy_way *way, const char *local, const char *remote,
	     void (*progress)(void *arg, size_t done), void *arg,
	     struct sb_err *err);
int copy_get(const struct copy_way *way, const char *remote, const char *local,
	     void (*progress)(void *arg, size_t done), void *arg,
	     struct sb_err *err);
