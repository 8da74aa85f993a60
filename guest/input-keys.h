/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Names of keys, as X, xdotool and people write them. */

#include <stddef.h>

#include "common/err.h"

#define KEYS_MAX 8 /* of a chord */

/*
 * "ctrl+shift+t", "Page_Down", "alt+F4", "a", "é", "+": the keysyms, in the
 * order in which they are pressed.  SB_INVALID with names that are near.
 */
int keys_parse(const char *chord, unsigned long ret[KEYS_MAX], size_t *ret_n,
	       struct sb_err *err);

/* The keysym of a character; 0 if it cannot be typed. */
unsigned long keys_of_char(unsigned int c);
/* One character of UTF-8; returns its length, 0 if it is not UTF-8. */
size_t keys_next_char(const char *s, unsigned int *ret);
