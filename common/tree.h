/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Building a file tree as a guest says it: one file, or a folder and what is
 * below it, as name in the folder dir_fd.  Paths are walked component by
 * component without following symlinks, and only new things are made, so that
 * whatever is asked for happens below dir_fd/name.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"

struct tree {
	int dir_fd;	  /* borrowed */
	const char *name; /* of the root in dir_fd; borrowed */
	unsigned int entries;
	bool is_dir; /* the root is a folder */
};

/* The first of these makes the root, whatever path says. */
int tree_make_dir(struct tree *t, const char *path, mode_t mode,
		  struct sb_err *err);
/* Opened for writing; the fd is the caller's. */
int tree_make_file(struct tree *t, const char *path, mode_t mode, int *ret_fd,
		   struct sb_err *err);
/* SB_DENIED if it would point out of the tree. */
int tree_make_symlink(struct tree *t, const char *path, const char *target,
		      struct sb_err *err);
/* Another name for a file that was made before. */
int tree_make_hardlink(struct tree *t, const char *path, const char *target,
		       struct sb_err *err);
