/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Pictures in memory: 4 bytes for each pixel, blue, green, red and one that
 * means nothing.  Made smaller, hashed, and written as PNG, JPEG, WebP
 * or PPM.
 * Knows nothing of X; part of the module (screen-module.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/util.h"

#define PICTURE_MAX_SIDE 16383 /* more has no WebP */
#define PICTURE_MAX_PIXELS (64 * 1024 * 1024)

struct picture {
	int width, height;
	size_t stride; /* bytes from a row to the next */
	uint8_t *pixels;
};

struct rect {
	int x, y, width, height;
};

/* Memory of its own for a picture; picture_done() frees it. */
void picture_init(struct picture *p, int width, int height);
void picture_done(struct picture *p);

/*
 * How a picture that somebody was given lies on the screen: a part of it
 * (region, in pixels of the screen), shown in width x height.
 */
struct picture_map {
	struct rect region;
	int width, height;
};

/*
 * The region in the size that fits: at most scale times as large, and within
 * max_width and max_height (0: any), with the same shape, and never empty.
 */
void picture_map_fit(struct picture_map *m, const struct rect *region,
		     double scale, int max_width, int max_height);
/*
 * From a pixel of the picture to the pixel of the screen in its middle, and
 * from a pixel of the screen to the one of the picture that shows it.  The
 * second undoes the first exactly unless the picture is larger than the
 * region.  Points outside map to points outside.
 */
void picture_api_to_screen(const struct picture_map *m, int *x, int *y);
void picture_screen_to_api(const struct picture_map *m, int *x, int *y);
/* All pixels of the screen that a part of the picture shows, the one from
 * n[0], n[1] to before n[2], n[3]. */
void picture_api_to_rect(const struct picture_map *m, const int n[4],
			 struct rect *ret);

/* src in the size of dst: each pixel the mean of what it covers. */
void picture_scale(const struct picture *src, struct picture *dst);

/* Two hashes of the pixels, quick, not for secrets. */
void picture_hash(const struct picture *p, uint64_t ret[2]);

enum picture_format { PICTURE_PNG, PICTURE_JPEG, PICTURE_WEBP, PICTURE_PPM };

/*
 * Append the encoded picture.  quality is 1 to 100 and means nothing to some.
 */
int picture_encode(const struct picture *p, enum picture_format format,
		   int quality, struct buf *out, struct sb_err *err);

/* The parts of picture_encode(), one in a file. */
void picture_png(const struct picture *p, struct buf *out);
void picture_ppm(const struct picture *p, struct buf *out);
int picture_jpeg(const struct picture *p, int quality, struct buf *out,
		 struct sb_err *err);
int picture_webp(const struct picture *p, int quality, struct buf *out,
		 struct sb_err *err);

/* A row's width pixels as red, green and blue. */
void picture_rgb_row(const uint8_t *src, int width, uint8_t *dst);
