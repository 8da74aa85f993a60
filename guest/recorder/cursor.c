/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <X11/Xlib.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "guest/recorder/cursor.h"

#define MAX_SIDE 1024

void cursor_done(struct cursor *c)
{
	free(c->argb);
	free(c->under);
	*c = (struct cursor){ 0 };
}

void cursor_load(struct cursor *c, XFixesCursorImage *image)
{
	size_t n;

	if (!image)
		return;
	c->width = MIN(image->width, MAX_SIDE);
	c->height = MIN(image->height, MAX_SIDE);
	c->hot_x = image->xhot;
	c->hot_y = image->yhot;
	n = (size_t)c->width * (size_t)c->height;
	c->argb = xrealloc(c->argb, n + 1, sizeof(*c->argb));
	c->under = xrealloc(c->under, n + 1, sizeof(*c->under));
	/* A long for each pixel, whatever its size. */
	for (size_t i = 0; i < n; i++) {
		size_t row = i / (size_t)c->width, col = i % (size_t)c->width;

		c->argb[i] = (uint32_t)image->pixels[row * image->width + col];
	}
	XFree(image);
}

void cursor_move(struct cursor *c, int x, int y)
{
	c->x = x;
	c->y = y;
}

static uint32_t *pixel(const struct canvas *to, int x, int y)
{
	return (uint32_t *)(to->pixels + (size_t)y * (size_t)to->stride) + x;
}

static uint32_t blend(uint32_t under, uint32_t over)
{
	uint32_t rest = 255 - (over >> 24), out = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		uint32_t u = under >> shift & 0xff, o = over >> shift & 0xff;

		out |= MIN(255, o + (u * rest + 127) / 255) << shift;
	}
	return out;
}

void cursor_draw(struct cursor *c, const struct canvas *to, int *ret_from,
		 int *ret_to)
{
	int x0 = c->x - c->hot_x, y0 = c->y - c->hot_y;
	uint32_t *keep = c->under;

	c->canvas = *to;
	c->left = MAX(0, x0);
	c->top = MAX(0, y0);
	c->right = MAX(c->left, MIN(x0 + c->width, to->width));
	c->bottom = MAX(c->top, MIN(y0 + c->height, to->height));
	for (int y = c->top; y < c->bottom; y++)
		for (int x = c->left; x < c->right; x++) {
			uint32_t *p = pixel(to, x, y);

			*keep++ = *p;
			*p = blend(*p, c->argb[(y - y0) * c->width + x - x0]);
		}
	*ret_from = c->top;
	*ret_to = c->bottom;
}

void cursor_undraw(struct cursor *c)
{
	const uint32_t *keep = c->under;

	for (int y = c->top; y < c->bottom; y++)
		for (int x = c->left; x < c->right; x++)
			*pixel(&c->canvas, x, y) = *keep++;
	c->bottom = c->top = 0;
}
