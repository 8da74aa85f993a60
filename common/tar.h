/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Tar streams in constant memory, in GNU's form, which every tar of a guest
 * reads.  Files, folders and symlinks only.
 */

#include <sys/types.h>

#include "common/err.h"
#include "common/util.h"

/*
 * Makes a stream of a local file or folder: the entry name, what is below it
 * and, last, an empty file called last, by which the receiver knows that
 * nothing was cut off.  An entry of the folder called skip is left out (NULL:
 * none).  With NULL for last, which is for receivers that know nothing but tar,
 * there is no such file, and what is neither file, folder nor symlink is left
 * out.  The strings but path are borrowed.
 */
struct tar_writer;
int tar_writer_new(const char *path, const char *name, const char *skip,
		   const char *last, struct tar_writer **ret,
		   struct sb_err *err);
void tar_writer_free(struct tar_writer *w);
/* The next bytes of the stream; 0 at its end, -1 on failure. */
ssize_t tar_writer_read(struct tar_writer *w, char *data, size_t max,
			struct sb_err *err);
DEFINE_AUTO(struct tar_writer *, tar_writer_free, tar_auto_writer)
#define autotarw __attribute__((cleanup(tar_auto_writer)))

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

/* A block of a header, and where its fields are. */
#define TAR_BLOCK 512
struct tar_header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char sum[8];
	char type;
	char link[100];
	char magic[8];
	char uname[32];
	char gname[32];
	char devmajor[8];
	char devminor[8];
	char prefix[155];
	char pad[12];
};
/* The sum over a header, its own field taken as spaces. */
unsigned int tar_sum(const struct tar_header *h);
