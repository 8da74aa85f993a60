/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Reading tar streams of a guest, in constant memory. */

#include "common/tar.h"

/*
 * Unpacks a stream that is not trusted: one file, or a folder "." and what is
 * below it, as name in the folder dir_fd (borrowed), where name must not exist
 * yet.  Nothing is ever written elsewhere, symlinks may only point into the
 * tree, and setuid bits, owners and devices do not exist.
 */
struct tar_reader;
struct tar_reader *tar_reader_new(int dir_fd, const char *name);
void tar_reader_free(struct tar_reader *r);
int tar_reader_write(struct tar_reader *r, const char *data, size_t len,
		     struct sb_err *err);
/* -1 unless the stream was whole. */
int tar_reader_end(struct tar_reader *r, struct sb_err *err);
DEFINE_AUTO(struct tar_reader *, tar_reader_free, tar_auto_reader)
#define autotarr __attribute__((cleanup(tar_auto_reader)))
