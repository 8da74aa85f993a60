/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Pictures that come from a guest.  They are not decoded on the host: their
 * first bytes are looked at, and what is shown on a terminal goes there as
 * base64, which cannot hold an escape sequence, or is drawn here from plain
 * pixels.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define PICTURE_MAX (64 << 20) /* bytes */

/* The words that pictures are called by, as in --format. */
#define PICTURE_FORMATS "png|jpeg|webp|ppm"

/* The format that the name of a file ends with, NULL if none does. */
const char *picture_format_of(const char *path);
/* ".png" */
const char *picture_suffix(const char *format);

/* SB_GUEST unless it begins as a picture of that format does. */
int picture_check(const char *format, const void *data, size_t len,
		  struct sb_err *err);

/*
 * How the terminal fd shows pictures, as far as the environment says so beyond
 * doubt, but not within tmux and screen, which pass none on; or else as the
 * terminal says itself, if it may be asked.
 */
enum picture_terminal {
	PICTURE_NOT_SHOWN,
	PICTURE_KITTY,
	PICTURE_ITERM,
	PICTURE_SIXEL,
};
enum picture_terminal picture_terminal(int fd, bool may_ask);

/* Whether a PNG (checked) is small enough to be shown. */
bool picture_can_show(const void *data, size_t len);
int picture_show(enum picture_terminal how, int fd, const void *data,
		 size_t len, struct sb_err *err);
