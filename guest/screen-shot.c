/* SPDX-License-Identifier: Apache-2.0 */
/* A screenshot, from the X server to the bytes of a file. */
#include "config.h"

#include <stdio.h>

#include "common/range.h"
#include "guest/screen-module.h"

/* The pixels, and all that makes another file of the same pixels. */
static void make_tag(struct screen_shot *s, const struct picture *p)
{
	uint64_t h[2];

	picture_hash(p, h);
	snprintf(s->tag, sizeof(s->tag), "\"%016llx%08llx-%d.%d.%x.%x\"",
		 (unsigned long long)h[0], (unsigned long long)h[1] >> 32,
		 (int)s->format, s->quality, (unsigned int)s->map.width,
		 (unsigned int)s->map.height);
}

static int check_size(const struct picture_map *m, struct sb_err *err)
{
	if (m->width <= PICTURE_MAX_SIDE && m->height <= PICTURE_MAX_SIDE &&
	    (long long)m->width * m->height <= PICTURE_MAX_PIXELS)
		return 0;
	sb_fail(err, SB_LIMIT, "a picture of %dx%d pixels is too large",
		m->width, m->height);
	return sb_hint(err, "ask for a smaller region or scale");
}

static int encode(struct screen_shot *s, const struct picture *p,
		  struct sb_err *err)
{
	struct picture small;
	int r;

	if (s->map.width == p->width && s->map.height == p->height)
		return picture_encode(p, s->format, s->quality, &s->data, err);
	picture_init(&small, s->map.width, s->map.height);
	picture_scale(p, &small);
	r = picture_encode(&small, s->format, s->quality, &s->data, err);
	picture_done(&small);
	return r;
}

int screen_shot_job(struct x11 *x, void *arg, struct sb_err *err)
{
	struct screen_shot *s = arg;
	struct picture p;

	if (x11_size(x, &s->screen_width, &s->screen_height, err) < 0)
		return -1;
	if (!s->has_region)
		s->region = (struct rect){ 0, 0, s->screen_width,
					   s->screen_height };
	if (s->width)
		s->map = (struct picture_map){ s->region, s->width, s->height };
	else
		picture_map_fit(&s->map, &s->region, s->scale, s->max_width,
				s->max_height);
	if (x11_capture(x, &s->region, &p, err) < 0 ||
	    check_size(&s->map, err) < 0 ||
	    x11_cursor(x, &s->pointer, err) < 0 ||
	    (s->cursor && x11_draw_cursor(x, &s->region, &p, err) < 0))
		return -1;
	make_tag(s, &p);
	s->unchanged = s->known && etag_listed(s->known, s->tag);
	return s->unchanged ? 0 : encode(s, &p, err);
}
