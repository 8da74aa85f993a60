/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Random tokens and ids, hex, SHA-256, and comparison in constant time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define TOKEN_BYTES 32
#define TOKEN_LEN (2 * TOKEN_BYTES) /* hex digits */
#define SHA256_LEN 32
#define SHA256_HEX_LEN 64

void random_bytes(void *p, size_t n);

/* n random bytes as 2n hex digits and a NUL. */
void random_hex(char *out, size_t n);

/* data as 2*len hex digits and a NUL. */
void hex_encode(char *out, const void *data, size_t len);

/* Whether two strings are equal, in a time that depends on b's length only. */
bool token_equal(const char *a, const char *b);

/* An incremental SHA-256. */
struct sha256;
struct sha256 *sha256_new(void);
void sha256_add(struct sha256 *s, const void *data, size_t len);
/* Add the bytes of a file. */
int sha256_add_file(struct sha256 *s, const char *path, struct sb_err *err);
/* The digest as hex; frees s. */
void sha256_finish(struct sha256 *s /* takes */, char out[SHA256_HEX_LEN + 1]);
