/* SPDX-License-Identifier: Apache-2.0 */
/* Sixel from a guest's PPM. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/ctl-sixel.h"

#define BAND 6 /* rows in a character */
#define LEVELS 6
#define COLOURS (LEVELS * LEVELS * LEVELS)
#define STEP (100 / (LEVELS - 1)) /* percent, as Sixel counts */

/* A number from 1 on without zeros before it, and the byte after it. */
static const char *take_side(const char *p, const char *end, char after,
			     int *ret)
{
	int n = 0;

	if (!p || p == end || *p == '0')
		return NULL;
	for (; p < end && *p >= '0' && *p <= '9' && n <= SIXEL_MAX_SIDE; p++)
		n = n * 10 + (*p - '0');
	*ret = n;
	return n && p < end && *p == after ? p + 1 : NULL;
}

static const char *take_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	if (!p || (size_t)(end - p) < n || memcmp(p, word, n) != 0)
		return NULL;
	return p + n;
}

int ppm_read(const void *data, size_t len, struct ppm *ret, struct sb_err *err)
{
	const char *p = data, *end = p + len;

	*ret = (struct ppm){ 0 };
	p = take_word(p, end, "P6\n");
	p = take_side(p, end, ' ', &ret->width);
	p = take_side(p, end, '\n', &ret->height);
	p = take_word(p, end, "255\n");
	if (!p)
		return sb_fail(err, SB_GUEST, "what came is no ppm picture");
	if (ret->width > SIXEL_MAX_SIDE || ret->height > SIXEL_MAX_SIDE)
		return sb_fail(err, SB_GUEST,
			       "a picture of %dx%d pixels is too large",
			       ret->width, ret->height);
	if ((size_t)(end - p) != (size_t)ret->width * (size_t)ret->height * 3)
		return sb_fail(err, SB_GUEST,
			       "a picture of %dx%d pixels came with %zu bytes",
			       ret->width, ret->height, (size_t)(end - p));
	ret->rgb = (const unsigned char *)p;
	return 0;
}

/*
 * The levels beside a value, in turns (Bayer's) as often as it is near them;
 * a value that is a level stays as it is.
 */
static int level_of(int value, int x, int y)
{
	static const unsigned char turn[4][4] = {
		{ 0, 8, 2, 10 },
		{ 12, 4, 14, 6 },
		{ 3, 11, 1, 9 },
		{ 15, 7, 13, 5 },
	};
	int n = value * (LEVELS - 1), rest = n % 255;

	return n / 255 + (rest * 32 > (2 * turn[y % 4][x % 4] + 1) * 255);
}

static int colour_of(const unsigned char *rgb, int x, int y)
{
	return (level_of(rgb[0], x, y) * LEVELS + level_of(rgb[1], x, y)) *
		       LEVELS +
	       level_of(rgb[2], x, y);
}

struct encoder {
	const struct ppm *p;
	struct buf *out;
	/* Which rows of a band have a colour, for each of its columns. */
	uint8_t *bits;
	bool used[COLOURS];    /* in the band */
	bool defined[COLOURS]; /* to the terminal */
};

static void fill_band(struct encoder *e, int top)
{
	int width = e->p->width, bottom = MIN(top + BAND, e->p->height);
	const unsigned char *rgb = e->p->rgb + (size_t)top * (size_t)width * 3;

	for (int y = top; y < bottom; y++)
		for (int x = 0; x < width; x++, rgb += 3) {
			int c = colour_of(rgb, x, y);

			e->used[c] = true;
			e->bits[c * width + x] |= (uint8_t)(1 << (y - top));
		}
}

static void add_colour(struct encoder *e, int c)
{
	buf_addf(e->out, "#%d", c);
	if (!e->defined[c])
		buf_addf(e->out, ";2;%d;%d;%d", c / (LEVELS * LEVELS) * STEP,
			 c / LEVELS % LEVELS * STEP, c % LEVELS * STEP);
	e->defined[c] = true;
}

static void add_columns(struct buf *out, const uint8_t *bits, int width)
{
	int n;

	while (width && !bits[width - 1])
		width--;
	for (int x = 0; x < width; x += n) {
		char c = (char)('?' + bits[x]);

		for (n = 1; x + n < width && bits[x + n] == bits[x];)
			n++;
		if (n > 3)
			buf_addf(out, "!%d%c", n, c);
		else
			buf_add(out, (char[]){ c, c, c }, (size_t)n);
	}
}

/* One colour after the other, each from the left again ($). */
static void add_band(struct encoder *e)
{
	size_t width = (size_t)e->p->width;
	bool first = true;

	for (int c = 0; c < COLOURS; c++) {
		uint8_t *bits = e->bits + (size_t)c * width;

		if (!e->used[c])
			continue;
		if (!first)
			buf_adds(e->out, "$");
		first = false;
		add_colour(e, c);
		add_columns(e->out, bits, e->p->width);
		memset(bits, 0, width);
		e->used[c] = false;
	}
}

void sixel_encode(const struct ppm *p, struct buf *out)
{
	autofree uint8_t *bits = xcalloc(COLOURS, (size_t)p->width);
	struct encoder e = { .p = p, .out = out, .bits = bits };

	/* Square pixels; those below the last row stay as they are. */
	buf_addf(out, "\033P0;1;0q\"1;1;%d;%d", p->width, p->height);
	for (int y = 0; y < p->height; y += BAND) {
		if (y)
			buf_adds(out, "-");
		fill_band(&e, y);
		add_band(&e);
	}
	buf_adds(out, "\033\\");
}
