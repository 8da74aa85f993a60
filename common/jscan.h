/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Looking into JSON text without taking it apart: messages pass through the
 * gateway as the bytes that they came as, and only few of their fields matter
 * to it.  Nothing is allocated.
 */

#include <stdbool.h>
#include <stddef.h>

/* A run of bytes in someone else's memory. */
struct part {
	const char *p;
	size_t len;
};

static inline struct part part_of(const char *s)
{
	return (struct part){ s, __builtin_strlen(s) };
}
bool part_is(struct part a, const char *s);
bool part_equal(struct part a, struct part b);

#define JSCAN_MAX_DEPTH 512

/* Whether text is one JSON object, as far as brackets and strings go. */
bool jscan_is_object(struct part text);

/* How many values it is made of, at most; of text that is an object. */
size_t jscan_values(struct part text);

/*
 * The value of a key of the outermost object, as its bytes; false when there
 * is none.  A key that is written with escapes is not found.
 */
bool jscan_get(struct part object, const char *key, struct part *ret);

/* The same for a string: what is between its quotes, escapes as they are. */
bool jscan_str(struct part object, const char *key, struct part *ret);
