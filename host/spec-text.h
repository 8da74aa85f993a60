/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the texts in a specification may look like. */

#include <stddef.h>

/*
 * Judge a text: NULL if it is fine, else what is wrong with it, worded to
 * follow the quoted text ("is not a name (…)").
 */
typedef const char *spec_text_check(const char *s);

const char *spec_text_name(const char *s);
const char *spec_text_user(const char *s);
const char *spec_text_address(const char *s);
const char *spec_text_display(const char *s);
const char *spec_text_origin(const char *s);
const char *spec_text_file(const char *s);
const char *spec_text_host_path(const char *s);
const char *spec_text_guest_path(const char *s);
const char *spec_text_env_name(const char *s);
const char *spec_text_label_name(const char *s);

/*
 * What holds for every text: bounded, no NUL, newline or other control byte.
 * The complaint stands alone, for such a text is better not shown.
 */
const char *spec_text_plain(const char *s, size_t len);

/* A number of bytes with the largest unit that fits, such as "256M". */
#define SPEC_SIZE_LEN 24
const char *spec_text_size(unsigned long long bytes, char out[SPEC_SIZE_LEN]);
