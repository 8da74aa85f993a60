/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Base64, without libcrypto: loading that takes longer than most commands. */

#include <stddef.h>

/* Base64 (with padding) of data; the caller's. */
char *base64_encode(const void *data, size_t len);

/* The bytes of base64 with padding, NUL-terminated, the caller's; NULL when it
 * is not valid. */
char *base64_decode(const char *text, size_t len, size_t *ret_len);
