/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a cell shows (a bundle of the same thing in several MIME types) as text,
 * and its pictures as files.  All of it is the guest's: file names are made
 * here alone, and the text is not made harmless yet.
 */

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "common/util.h"

#define SHOW_MAX_FILE (128 * 1024 * 1024)
/* Of one cell, whatever numbers the guest gives it meanwhile. */
#define SHOW_MAX_FILES 10000
#define SHOW_MAX_BYTES (1024 * 1024 * 1024)

struct show {
	const char *dir; /* where files go; NULL: nowhere */
	int dir_fd;	 /* -1: not open yet */
	long long cell;	 /* its number */
	int next;	 /* of the cell's files */
	int files_left;	 /* that may be written, and */
	size_t room;	 /* bytes of them */
	json_t *files;	 /* the names that were written */
};

void show_init(struct show *s, const char *dir);
void show_done(struct show *s);
/* The folder of --out is made, if need be. */
int show_open(struct show *s, struct sb_err *err);

/* Another cell: it may write as much as any. */
void show_renew(struct show *s);

/* Files of the next bundles are called cell-N-… */
void show_begin(struct show *s, long long cell);

/*
 * Add the best text of a bundle to out, with its end of line, and a line for
 * each of its pictures.  is_result: it is the value of the cell, whose text
 * matters beside a picture.
 */
int show_bundle(struct show *s, const json_t *data, bool is_result,
		struct buf *out, struct sb_err *err);
