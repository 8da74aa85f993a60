/* SPDX-License-Identifier: Apache-2.0 */
/* PNG: 8 bits for each of red, green and blue. */
#include "config.h"

#include <string.h>

#include "common/png.h"
#include "guest/picture.h"

#define LEVEL 1
#define FILTER_NONE 0
#define FILTER_UP 2

/*
 * A row like the one above is one of zeros; others stay as they are.  On a
 * screen, of text and areas of one colour, other filters cost more time than
 * they save.
 */
static void take_rows(const struct picture *p, uint8_t *dst)
{
	size_t n = (size_t)p->width * 3;
	const uint8_t *above = NULL;

	for (int y = 0; y < p->height; y++, dst += n + 1) {
		const uint8_t *row = p->pixels + (size_t)y * p->stride;

		if (above && memcmp(above, row, (size_t)p->width * 4) == 0) {
			dst[0] = FILTER_UP;
			memset(dst + 1, 0, n);
		} else {
			dst[0] = FILTER_NONE;
			picture_rgb_row(row, p->width, dst + 1);
		}
		above = row;
	}
}

void picture_png(const struct picture *p, struct buf *out)
{
	size_t raw = ((size_t)p->width * 3 + 1) * (size_t)p->height;
	autofree uint8_t *rows = xmalloc(raw);
	const struct png png = { .width = (unsigned int)p->width,
				 .height = (unsigned int)p->height,
				 .kind = PNG_RGB,
				 .rows = rows,
				 .len = raw,
				 .level = LEVEL };

	take_rows(p, rows);
	png_write(&png, out);
}
