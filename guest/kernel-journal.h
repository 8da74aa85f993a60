/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a kernel has said, message after message, numbered from 1 on: the
 * newest in memory, older ones in files without a name, the oldest forgotten.
 * Clients read from it at their own pace, so that none waits for another.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/util.h"

struct kernel_journal;

/*
 * What all journals share: a folder for files, and at most max bytes in it.  When
 * there is no more room, the one with the most there forgets its oldest.
 */
struct kernel_journals;
struct kernel_journals *kernel_journals_new(const char *dir, uint64_t max);
/* After all of them. */
void kernel_journals_free(struct kernel_journals *all);
/* How many bytes are in files. */
uint64_t kernel_journals_len(const struct kernel_journals *all);

/* At most max bytes are kept, of them about memory bytes not in files. */
struct kernel_journal *kernel_journal_new(struct kernel_journals *all,
					  size_t memory, uint64_t max);
void kernel_journal_free(struct kernel_journal *j);

/* Returns its number. */
uint64_t kernel_journal_add(struct kernel_journal *j, const void *data,
			    size_t len);
/* The one that was added last matters when the rest is forgotten, too: the last
 * few of these are kept apart, unless they are large. */
void kernel_journal_mark(struct kernel_journal *j, const void *data,
			 size_t len);
/* The first of those from number from on, and below to; 0 when there is none. */
uint64_t kernel_journal_marked(const struct kernel_journal *j, uint64_t from,
			       uint64_t to, const char **ret_data,
			       size_t *ret_len);
/* The number of the oldest that is kept, and that of the next to come. */
uint64_t kernel_journal_first(const struct kernel_journal *j);
uint64_t kernel_journal_next(const struct kernel_journal *j);

/* How many bytes the message has; 0 when it is not kept. */
size_t kernel_journal_size(const struct kernel_journal *j, uint64_t seq);

/*
 * A message's bytes; they are the journal's, until the next call of any of
 * these.  SB_NOTFOUND when it is not kept, SB_SYSTEM when its file fails.
 */
int kernel_journal_get(struct kernel_journal *j, uint64_t seq,
		       const char **ret_data, size_t *ret_len,
		       struct sb_err *err);
