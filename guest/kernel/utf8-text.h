/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Output of any program as text that JSON can carry. */

#include "common/util.h"

/* The beginning of a character whose rest has not come yet. */
struct utf8_rest {
	unsigned char bytes[4];
	size_t len;
};

/*
 * Append data to out as valid UTF-8: U+FFFD stands for what is not.  A
 * character that data ends in the middle of stays in rest for the next call.
 */
void utf8_clean(struct utf8_rest *rest, const char *data, size_t len,
		struct buf *out);

/* There is no next call: U+FFFD for what is left. */
void utf8_finish(struct utf8_rest *rest, struct buf *out);

/* len, or a little less so that no character is cut (valid text only). */
size_t utf8_cut(const char *text, size_t len, size_t max);

/* Append valid text as a JSON string, with its quotes. */
void utf8_quote(const char *text, size_t len, struct buf *out);
