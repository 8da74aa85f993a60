/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a process has printed: every byte in its order, with the stream that
 * it came from, readable again from any offset of either stream or of both
 * merged.  A little is kept in memory; more goes to an unlinked file, up to
 * OUTPUT_MAX, and OUTPUT_MAX_ALL for all together.  What comes after that is
 * counted and dropped.  Belongs to the loop's thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util.h"

#define OUTPUT_MEMORY (64 * 1024)
#define OUTPUT_MAX (64 * 1024 * 1024)
#define OUTPUT_MAX_ALL (1024 * 1024 * 1024) /* in the files of all */

enum output_stream {
	OUTPUT_STDOUT,
	OUTPUT_STDERR,
	OUTPUT_MERGED,
	OUTPUT_NSTREAMS
};

struct output;

/* dir (borrowed) is where the file goes, when there is need for one. */
struct output *output_new(const char *dir);
void output_free(struct output *o);
DEFINE_AUTO(struct output *, output_free, output_auto_free)
#define autooutput __attribute__((cleanup(output_auto_free)))

/* Keep bytes of stdout or stderr. */
void output_add(struct output *o, enum output_stream stream, const void *data,
		size_t len);

/* How many bytes are kept, and how many were printed. */
uint64_t output_kept(const struct output *o, enum output_stream stream);
uint64_t output_total(const struct output *o, enum output_stream stream);

/*
 * Let go of the output before an offset of the merged one, roughly: then there
 * is room for more.  It cannot be read any more, though it still counts as
 * kept.
 */
void output_forget(struct output *o, uint64_t offset);
/* From which offset on the merged output can be read. */
uint64_t output_first(const struct output *o);

/* Copy up to max bytes from offset on; returns how many, 0 at the end. */
size_t output_read(const struct output *o, enum output_stream stream,
		   uint64_t offset, void *data, size_t max);

/*
 * The same of the merged output, but at most to where the stream changes:
 * *ret_stream is the one that the bytes came from, *ret_offset the place of
 * the first of them in it.
 */
size_t output_read_piece(const struct output *o, uint64_t offset, void *data,
			 size_t max, enum output_stream *ret_stream,
			 uint64_t *ret_offset);
