/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates. */

#include <stdbool.h>
#include <stddef.h>

/* How many bytes at s (n > 0 of them) make one character; 0 when they do not. */
size_t utf8_len(const char *s, size_t n);

bool utf8_is_valid(const char *s, size_t n);

/* How many characters valid UTF-8 has. */
size_t utf8_count(const char *s, size_t n);

/* The bytes of a character (surrogates too, as they are); their number. */
size_t utf8_encode(unsigned int c, char ret[4]);
