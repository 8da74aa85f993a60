/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels as red, green and blue, and PPM, which is them and a line. */
#include "config.h"

#include "guest/picture.h"

static uint32_t rgb_of(const uint8_t *bgrx)
{
	return bgrx[2] | (uint32_t)bgrx[1] << 8 | (uint32_t)bgrx[0] << 16;
}

static void store_le32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

/* Four pixels at a time make three words. */
void picture_rgb_row(const uint8_t *src, int width, uint8_t *dst)
{
	int x = 0;

	for (; x + 4 <= width; x += 4, src += 16, dst += 12) {
		uint32_t a = rgb_of(src), b = rgb_of(src + 4),
			 c = rgb_of(src + 8), d = rgb_of(src + 12);

		store_le32(dst, a | b << 24);
		store_le32(dst + 4, b >> 8 | c << 16);
		store_le32(dst + 8, c >> 16 | d << 8);
	}
	for (; x < width; x++, src += 4, dst += 3) {
		dst[0] = src[2];
		dst[1] = src[1];
		dst[2] = src[0];
	}
}

void picture_ppm(const struct picture *p, struct buf *out)
{
	size_t n = (size_t)p->width * 3;

	buf_addf(out, "P6\n%d %d\n255\n", p->width, p->height);
	buf_reserve(out, n * (size_t)p->height);
	for (int y = 0; y < p->height; y++, out->len += n)
		picture_rgb_row(p->pixels + (size_t)y * p->stride, p->width,
				(uint8_t *)out->p + out->len);
	out->p[out->len] = 0;
}
