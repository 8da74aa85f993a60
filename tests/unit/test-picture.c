/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: coordinates there and back, scaling, hashes, files. */
#include "config.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "guest/picture.h"
#include "tests/unit/tap.h"

static uint32_t seed = 1;

static uint32_t next_random(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static void fill(struct picture *p, bool random)
{
	for (size_t i = 0; i < p->stride * (size_t)p->height; i++)
		p->pixels[i] = (uint8_t)(random ? next_random() : 77);
}

/* Whatever is shown at most as large as it is comes back exactly. */
static bool comes_back(int width, int height, const struct picture_map *m)
{
	for (int y = 0; y < m->height; y++)
		for (int x = 0; x < m->width; x++) {
			int a = x, b = y;

			picture_api_to_screen(m, &a, &b);
			if (a < m->region.x || a >= m->region.x + width ||
			    b < m->region.y || b >= m->region.y + height)
				return false;
			picture_screen_to_api(m, &a, &b);
			if (a != x || b != y)
				return false;
		}
	return true;
}

static void test_map(void)
{
	static const int sizes[][2] = {
		{ 1280, 800 }, { 1, 1 }, { 7, 3 }, { 777, 555 }, { 64, 999 }
	};
	static const double scales[] = { 1,    0.8,    0.5,  0.3333,
					 0.01, 0.9999, 0.75, 0.625 };
	struct picture_map m;
	int x = -1, y = 800;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t k = 0; k < ARRAY_SIZE(scales); k++) {
			struct rect r = { 11, 5, sizes[i][0], sizes[i][1] };

			picture_map_fit(&m, &r, scales[k], 0, 0);
			if (!comes_back(r.width, r.height, &m))
				ok(false, "a point comes back");
		}
	ok(true, "all points come back from the screen");
	picture_map_fit(&m, &(struct rect){ 0, 0, 1280, 800 }, 1, 1024, 0);
	is_int(m.width, 1024, "as wide as it may be");
	is_int(m.height, 640, "  and of the same shape");
	picture_map_fit(&m, &(struct rect){ 0, 0, 1280, 800 }, 1, 1024, 320);
	is_int(m.width, 512, "the smaller limit counts");
	picture_map_fit(&m, &(struct rect){ 0, 0, 1280, 800 }, 0.5, 4000, 4000);
	is_int(m.width, 640, "limits make nothing larger");
	picture_api_to_screen(&m, &x, &y);
	ok(x < 0 && y >= 800, "what is outside stays outside");
	picture_map_fit(&m, &(struct rect){ 0, 0, 1280, 1 }, 0.01, 0, 0);
	is_int(m.height, 1, "a picture has a pixel at least");
}

static bool shows(const struct picture_map *m, const int n[4],
		  const struct rect *want)
{
	struct rect r;

	picture_api_to_rect(m, n, &r);
	return memcmp(&r, want, sizeof(r)) == 0;
}

static void test_part(void)
{
	struct picture_map m = { { 0, 0, 1280, 800 }, 640, 400 };

	ok(shows(&m, (int[]){ 0, 0, 640, 400 }, &m.region), "all of it");
	ok(shows(&m, (int[]){ 10, 20, 11, 30 },
		 &(struct rect){ 20, 40, 2, 20 }),
	   "a part, to its last pixel");
	m = (struct picture_map){ { 5, 7, 300, 300 }, 200, 200 };
	ok(shows(&m, (int[]){ 1, 1, 2, 3 }, &(struct rect){ 6, 8, 2, 4 }),
	   "what is in it with a half of it, too");
	m = (struct picture_map){ { 0, 0, 100, 100 }, 1000, 1000 };
	ok(shows(&m, (int[]){ 999, 0, 1000, 1 }, &(struct rect){ 99, 0, 1, 1 }),
	   "a pixel at least");
}

static void test_scale(void)
{
	struct picture a, b;
	bool same = true;

	picture_init(&a, 97, 31);
	picture_init(&b, 40, 7);
	fill(&a, false);
	picture_scale(&a, &b);
	for (size_t i = 0; i < b.stride * (size_t)b.height; i++)
		same = same && b.pixels[i] == 77;
	ok(same, "one colour stays that colour");
	picture_done(&b);
	fill(&a, true);
	picture_init(&b, 97, 31);
	picture_scale(&a, &b);
	ok(memcmp(a.pixels, b.pixels, a.stride * 31) == 0,
	   "the same size is the same picture");
	picture_done(&a);
	picture_done(&b);
	picture_init(&a, 2, 2);
	memset(a.pixels, 0, 16);
	a.pixels[0] = 255; /* blue of one in four */
	picture_init(&b, 1, 1);
	picture_scale(&a, &b);
	is_int(b.pixels[0], 64, "four pixels become their mean");
	is_int(b.pixels[1], 0, "  of each colour");
	picture_done(&a);
	picture_done(&b);
}

static void test_hash(void)
{
	uint64_t h[2], k[2];
	struct picture p;
	bool differ = true;

	picture_init(&p, 33, 9);
	fill(&p, true);
	picture_hash(&p, h);
	for (size_t i = 0; i < p.stride * 9; i++) {
		p.pixels[i] ^= 1;
		picture_hash(&p, k);
		differ = differ && h[0] != k[0];
		p.pixels[i] ^= 1;
	}
	ok(differ, "each bit counts");
	picture_hash(&p, k);
	ok(h[0] == k[0] && h[1] == k[1], "the same has the same hash");
	p.width = 9;
	p.height = 33;
	p.stride = 36;
	picture_hash(&p, k);
	ok(h[0] != k[0], "and so does the shape count");
	picture_done(&p);
}

/* The rows that a PNG has inside, with the byte of the filter before each. */
static uint8_t *unpack(const struct buf *b, size_t len)
{
	const uint8_t *p = (const uint8_t *)b->p + 8 + 25; /* after IHDR */
	size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 |
		   p[3];
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	uint8_t *rows = xmalloc(len);
	size_t got = 0;

	if (libdeflate_zlib_decompress(d, p + 8, n, rows, len, &got) != 0 ||
	    got != len)
		memset(rows, 0xee, len);
	libdeflate_free_decompressor(d);
	return rows;
}

/* All widths, as pixels are taken four at a time. */
static void test_png(void)
{
	bool same = true;

	for (int w = 1; w < 12; w++) {
		size_t len = ((size_t)w * 3 + 1) * 2;
		autobuf struct buf b = { 0 };
		autofree uint8_t *rows = NULL;
		struct picture p;

		picture_init(&p, w, 2);
		fill(&p, true);
		if (w % 2) /* rows that are alike */
			memcpy(p.pixels + p.stride, p.pixels, p.stride);
		picture_png(&p, &b);
		rows = unpack(&b, len);
		for (int x = 0; x < w; x++)
			for (int c = 0; c < 3; c++)
				same = same && rows[1 + x * 3 + c] ==
						       p.pixels[x * 4 + 2 - c];
		is_int(rows[len / 2], w % 2 ? 2 : 0, "its filter");
		picture_done(&p);
	}
	ok(same, "with all pixels as they were");
}

static void test_codecs(void)
{
	autobuf struct buf b = { 0 };
	struct picture p;
	struct sb_err err;

	picture_init(&p, 1, 1);
	fill(&p, false);
	is_int(picture_encode(&p, PICTURE_JPEG, 1, &b, &err), 0, "a JPEG");
	ok(b.len > 4 && memcmp(b.p, "\xff\xd8\xff", 3) == 0, "  is one");
	b.len = 0;
	is_int(picture_encode(&p, PICTURE_WEBP, 100, &b, &err), 0, "a WebP");
	ok(b.len > 12 && memcmp(b.p + 8, "WEBP", 4) == 0, "  is one");
	b.len = 0;
	p.pixels[0] = 3, p.pixels[1] = 2, p.pixels[2] = 1;
	is_int(picture_encode(&p, PICTURE_PPM, 0, &b, &err), 0, "a PPM");
	is_int(b.len, 14, "  of that length");
	is_str(b.p, "P6\n1 1\n255\n\1\2\3", "  is red, green and blue");
	picture_done(&p);
	picture_init(&p, 1, 16384);
	fill(&p, false);
	is_int(picture_encode(&p, PICTURE_WEBP, 50, &b, &err), -1,
	       "a WebP that is too high is refused");
	picture_done(&p);
}

int main(void)
{
	test_map();
	test_part();
	test_scale();
	test_hash();
	test_png();
	test_codecs();
	return tap_done();
}
