/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Bytes that wait for a reader who is slower than their writer: what is put in
 * is taken out in the same order, once.  A little is kept in memory, what comes
 * after it in an unlinked file, whose disk space is given back as it is read.
 * An empty one has neither.  Belongs to the loop's thread.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/util.h"

/* Of all spools together. */
#define SPOOL_MEMORY_ALL (32 * 1024 * 1024)
#define SPOOL_FILES_ALL (1024 * 1024 * 1024)

struct spool;

/*
 * At most max bytes, of them at most memory bytes not in a file of dir
 * (borrowed).  Of what was taken from the file, up to 1 MiB still counts.
 */
struct spool *spool_new(const char *dir, size_t memory, uint64_t max);
void spool_free(struct spool *q);
DEFINE_AUTO(struct spool *, spool_free, spool_auto_free)
#define autospool __attribute__((cleanup(spool_auto_free)))

/* How many bytes are in it. */
uint64_t spool_len(const struct spool *q);

/*
 * All of the bytes or, when it fails, none.  SB_LIMIT when they are too many,
 * else it is the file that fails.
 */
int spool_put(struct spool *q, const void *data, size_t len,
	      struct sb_err *err);

/*
 * The oldest bytes, up to max; *ret_len may be less, but is 0 only when there
 * are none.  Fails when the file does.
 */
int spool_take(struct spool *q, void *data, size_t max, size_t *ret_len,
	       struct sb_err *err);
