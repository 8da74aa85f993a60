/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The pointer, drawn into a picture and taken out of it again. */

#include <X11/extensions/Xfixes.h>
#include <stdint.h>

struct canvas {
	uint8_t *pixels; /* B, G, R, - */
	int width, height, stride;
};

struct cursor {
	int x, y; /* of its hot spot */
	int hot_x, hot_y;
	int width, height;
	uint32_t *argb; /* premultiplied */
	/* What was under it. */
	uint32_t *under;
	struct canvas canvas;
	int left, top, right, bottom;
};

void cursor_done(struct cursor *c);
void cursor_load(struct cursor *c, XFixesCursorImage *image /* takes */);
void cursor_move(struct cursor *c, int x, int y);
/* The rows that it covers: from ret_from to ret_to, the latter not. */
void cursor_draw(struct cursor *c, const struct canvas *to, int *ret_from,
		 int *ret_to);
void cursor_undraw(struct cursor *c);
