/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the user's terminal can do. */

#include <stdbool.h>

/* Whether fd is a terminal on which lines can be redrawn. */
bool term_can_redraw(int fd);

/* Whether fd is a terminal that wants colours ($NO_COLOR, TERM=dumb). */
bool term_has_colours(int fd);

/* Columns of the terminal fd; 80 if it does not say. */
int term_columns(int fd);
/* Its width in pixels; 640 if it does not say. */
int term_pixels(int fd);

enum term_colour { TERM_PLAIN, TERM_BOLD, TERM_RED, TERM_GREEN, TERM_YELLOW };

/* The sequence that switches to a colour on fd: "" where there are none. */
const char *term_colour(int fd, enum term_colour colour);
