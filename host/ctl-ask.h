/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Questions that the user's terminal answers itself. */

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the terminal fd says that it shows Sixel.  Not if it is not ours to
 * ask, and not if there is no answer in half a second.  What is typed before
 * the answer is lost; the terminal's modes are as they were.
 */
bool ask_sixel(int fd);

/*
 * The answer to "what are you" (DA1) at the end of what came: whether Sixel is
 * in it, or -1 while it is not all there.
 */
int ask_answer(const char *text);
