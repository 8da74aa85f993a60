/* SPDX-License-Identifier: Apache-2.0 */
/* A console's screen as a picture, in a font that is part of the program. */
#include "config.h"

#include <string.h>

#include "common/png.h"
#include "host/console.h"

/* PSF, version 1: a head, 512 glyphs of 8 by 16 dots, and for each the
 * characters that it stands for. */
static const uint8_t font[] = {
#include "console-font.inc"
};
#define FONT_HEAD 4
#define GLYPHS 512
#define GLYPH_W 8
#define GLYPH_H 16
#define PSF_END 0xffff	    /* of a glyph's characters */
#define PSF_SEQUENCE 0xfffe /* what follows are several for one glyph */

#define WIDTH (CONSOLE_COLS * GLYPH_W)
#define HEIGHT (CONSOLE_ROWS * GLYPH_H)
#define STRIDE (1 + WIDTH) /* the filter's number, then a row */

/* The 16 colours of a PC's text screen. */
static const uint8_t palette[16][3] = {
	{ 0x00, 0x00, 0x00 }, { 0xaa, 0x00, 0x00 }, { 0x00, 0xaa, 0x00 },
	{ 0xaa, 0x55, 0x00 }, { 0x00, 0x00, 0xaa }, { 0xaa, 0x00, 0xaa },
	{ 0x00, 0xaa, 0xaa }, { 0xaa, 0xaa, 0xaa }, { 0x55, 0x55, 0x55 },
	{ 0xff, 0x55, 0x55 }, { 0x55, 0xff, 0x55 }, { 0xff, 0xff, 0x55 },
	{ 0x55, 0x55, 0xff }, { 0xff, 0x55, 0xff }, { 0x55, 0xff, 0xff },
	{ 0xff, 0xff, 0xff },
};

/* The dots of a character, or NULL if the font has none. */
static const uint8_t *find_glyph(uint32_t ch)
{
	size_t at = FONT_HEAD + GLYPHS * GLYPH_H;
	unsigned int glyph = 0;
	bool sequence = false;

	for (; at + 1 < sizeof(font) && glyph < GLYPHS; at += 2) {
		unsigned int c = font[at] | font[at + 1] << 8;

		if (c == PSF_END) {
			glyph++;
			sequence = false;
		} else if (c == PSF_SEQUENCE) {
			sequence = true;
		} else if (c == ch && !sequence) {
			return &font[FONT_HEAD + glyph * GLYPH_H];
		}
	}
	return NULL;
}

static const uint8_t *glyph_of(uint32_t ch)
{
	const uint8_t *dots = find_glyph(ch ? ch : ' ');

	if (!dots)
		dots = find_glyph(0xfffd);
	return dots ? dots : find_glyph('?');
}

static void draw(uint8_t *rows, int row, int col,
		 const struct console_cell *cell, bool cursor)
{
	const uint8_t *dots = glyph_of(cell->c);
	uint8_t *p = rows + (size_t)row * GLYPH_H * STRIDE + 1 +
		     (size_t)col * GLYPH_W;

	for (int y = 0; y < GLYPH_H; y++, p += STRIDE) {
		uint8_t bits = cursor && y >= GLYPH_H - 2 ? 0xff : dots[y];

		for (int x = 0; x < GLYPH_W; x++)
			p[x] = bits & 0x80 >> x ? cell->fg : cell->bg;
	}
}

void console_png(const struct console *c, struct buf *to)
{
	autofree uint8_t *rows = xcalloc(HEIGHT, STRIDE);
	const struct png png = { .width = WIDTH,
				 .height = HEIGHT,
				 .kind = PNG_INDEXED,
				 .rows = rows,
				 .len = (size_t)HEIGHT * STRIDE,
				 .palette = palette,
				 .ncolours = ARRAY_SIZE(palette),
				 .level = 6 };

	for (int row = 0; row < CONSOLE_ROWS; row++)
		for (int col = 0; col < CONSOLE_COLS; col++)
			draw(rows, row, col, &c->cells[row][col],
			     row == c->row && col == c->col);
	png_write(&png, to);
}
