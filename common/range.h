/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The Range of a request, and the entity tags it goes with (RFC 9110). */

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum range_kind {
	RANGE_ALL,  /* none, or one that is to be ignored */
	RANGE_PART, /* *ret_offset and *ret_length are set */
	RANGE_BAD,  /* nothing of it is in the file: 416 */
};

/*
 * What a Range header (may be NULL) asks of a file of size bytes.  Of several
 * ranges, which one may ignore, none is served.
 */
enum range_kind range_parse(const char *header, uint64_t size,
			    uint64_t *ret_offset, uint64_t *ret_length);

/* A strong tag, in its quotes, that changes with the file. */
#define ETAG_LEN 80
void etag_of(const struct stat *st, char ret[ETAG_LEN]);
/* Whether a list such as If-None-Match has the tag, by weak comparison. */
bool etag_listed(const char *list, const char *tag);
