/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Files and folders, done safely. */

#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

/* Create path and its missing parents; an existing folder is fine. */
int fs_mkdirs(const char *path, mode_t mode, struct sb_err *err);

/* Remove a whole tree, without following symlinks; a missing one is fine. */
int fs_remove_tree(const char *path, struct sb_err *err);

/* Replace path by data in one step (temporary file, fsync, rename). */
int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode,
		    struct sb_err *err);

/*
 * Read a whole file of at most max bytes; *ret is NUL-terminated and the
 * caller's.  ret_len may be NULL.
 */
int fs_read(const char *path, size_t max, char **ret, size_t *ret_len,
	    struct sb_err *err);

/* The first line of a small file, without its end; the caller's. */
int fs_read_line(const char *path, char **ret, struct sb_err *err);

/*
 * Open a regular file for reading below dir, where the path may neither leave
 * dir nor pass through a symlink: for folders in which a guest can write.
 */
int fs_open_beneath(const char *dir, const char *path, int *ret_fd,
		    struct sb_err *err);

/* The same for appending; it is made if it is not there. */
int fs_append_beneath(const char *dir, const char *path, int *ret_fd,
		      struct sb_err *err);

/* Write all of data to fd, also across short writes. */
int fs_write_all(int fd, const void *data, size_t len);
/* The same at a place of the file, wherever fd stands. */
int fs_write_at(int fd, const void *data, size_t len, off_t pos);
/* How many of len bytes are there, which is less only at the file's end; -1. */
ssize_t fs_read_at(int fd, void *data, size_t len, off_t pos);
