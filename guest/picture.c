/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: memory, scaling, hashing. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "guest/picture.h"

/* The four bytes of a pixel, for a processor to work on at once. */
typedef float channels __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(4)));

void picture_init(struct picture *p, int width, int height)
{
	*p = (struct picture){ width, height, (size_t)width * 4, NULL };
	p->pixels = xmalloc(p->stride * (size_t)height);
}

void picture_done(struct picture *p)
{
	free(p->pixels);
	*p = (struct picture){ 0 };
}

/* What one pixel covers of a line: n from first, and how much of each. */
struct span {
	int first, n;
	float head, body, tail; /* of the first, the last, and between */
};

/* Pixel i of n on a line of m. */
static struct span span_of(int i, int n, int m)
{
	double from = (double)i * m / n, to = (double)(i + 1) * m / n;
	struct span s = { .first = (int)from };
	int last = MIN((int)ceil(to) - 1, m - 1);

	s.n = MAX(last - s.first + 1, 1);
	if (s.n == 1) {
		s.head = 1;
		return s;
	}
	s.head = (float)((s.first + 1 - from) / (to - from));
	s.body = (float)(1 / (to - from));
	s.tail = (float)((to - last) / (to - from));
	return s;
}

static float weight(const struct span *s, int k)
{
	if (k == 0)
		return s->head;
	return k == s->n - 1 ? s->tail : s->body;
}

static channels load_pixel(const uint8_t *p)
{
	bytes b;

	memcpy(&b, p, sizeof(b));
	return __builtin_convertvector(b, channels);
}

static void mix_rows(const struct picture *src, const struct span *rows,
		     channels *ret)
{
	memset(ret, 0, (size_t)src->width * sizeof(*ret));
	for (int k = 0; k < rows->n; k++) {
		const uint8_t *row =
			src->pixels + (size_t)(rows->first + k) * src->stride;
		float w = weight(rows, k);

		for (int x = 0; x < src->width; x++)
			ret[x] += load_pixel(row + (size_t)x * 4) * w;
	}
}

static void mix_columns(const channels *row, const struct span *cols,
			uint8_t *ret)
{
	channels sum = { 0.5F, 0.5F, 0.5F, 0.5F }; /* to round */
	bytes b;

	row += cols->first;
	for (int k = 0; k < cols->n; k++)
		sum += row[k] * weight(cols, k);
	b = __builtin_convertvector(sum, bytes);
	memcpy(ret, &b, sizeof(b));
}

void picture_scale(const struct picture *src, struct picture *dst)
{
	autofree channels *row = xcalloc((size_t)src->width, sizeof(*row));
	autofree struct span *cols = xcalloc((size_t)dst->width, sizeof(*cols));

	for (int x = 0; x < dst->width; x++)
		cols[x] = span_of(x, dst->width, src->width);
	for (int y = 0; y < dst->height; y++) {
		struct span rows = span_of(y, dst->height, src->height);
		uint8_t *out = dst->pixels + (size_t)y * dst->stride;

		mix_rows(src, &rows, row);
		for (int x = 0; x < dst->width; x++)
			mix_columns(row, &cols[x], out + (size_t)x * 4);
	}
}

#define PRIME_1 0x9e3779b97f4a7c15ULL
#define PRIME_2 0xc2b2ae3d27d4eb4fULL
#define LANES 8

static uint64_t stir(uint64_t h, uint64_t v)
{
	h = (h ^ v) * PRIME_1;
	return h ^ (h >> 29);
}

/* Eight independent lanes of two pixels: a processor does them at once. */
static void hash_row(const uint8_t *p, size_t n, uint64_t lane[LANES])
{
	uint64_t v;

	for (; n >= LANES * sizeof(v); n -= LANES * sizeof(v))
		for (int i = 0; i < LANES; i++, p += sizeof(v)) {
			memcpy(&v, p, sizeof(v));
			lane[i] = stir(lane[i], v);
		}
	for (; n; n--, p++)
		lane[0] = stir(lane[0], *p);
}

void picture_hash(const struct picture *p, uint64_t ret[2])
{
	uint64_t lane[LANES];

	for (int i = 0; i < LANES; i++)
		lane[i] = (uint64_t)(i + 1) * PRIME_2;
	for (int y = 0; y < p->height; y++)
		hash_row(p->pixels + (size_t)y * p->stride,
			 (size_t)p->width * 4, lane);
	ret[0] = stir((uint64_t)p->width, PRIME_2);
	ret[1] = stir((uint64_t)p->height, PRIME_1);
	for (int i = 0; i < LANES; i++) {
		ret[0] = stir(ret[0], lane[i]);
		ret[1] = stir(ret[1], lane[LANES - 1 - i] * PRIME_2);
	}
}

int picture_encode(const struct picture *p, enum picture_format format,
		   int quality, struct buf *out, struct sb_err *err)
{
	switch (format) {
	case PICTURE_JPEG:
		return picture_jpeg(p, quality, out, err);
	case PICTURE_WEBP:
		return picture_webp(p, quality, out, err);
	case PICTURE_PPM:
		picture_ppm(p, out);
		return 0;
	default:
		picture_png(p, out);
		return 0;
	}
}
