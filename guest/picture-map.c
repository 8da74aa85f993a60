/* SPDX-License-Identifier: Apache-2.0 */
/* How the pixels of a picture lie on those of the screen. */
#include "config.h"

#include <math.h>

#include "guest/picture.h"

void picture_map_fit(struct picture_map *m, const struct rect *region,
		     double scale, int max_width, int max_height)
{
	if (max_width)
		scale = fmin(scale, (double)max_width / region->width);
	if (max_height)
		scale = fmin(scale, (double)max_height / region->height);
	m->region = *region;
	m->width = MAX(1, (int)lround(region->width * scale));
	m->height = MAX(1, (int)lround(region->height * scale));
}

static long long divide_down(long long a, long long b)
{
	return a / b - (a % b < 0);
}

/* The middle of pixel i of n, as the pixel of m that it is in. */
static int move_middle(int i, int n, int m)
{
	return (int)divide_down((2LL * i + 1) * m, 2LL * n);
}

void picture_api_to_screen(const struct picture_map *m, int *x, int *y)
{
	*x = m->region.x + move_middle(*x, m->width, m->region.width);
	*y = m->region.y + move_middle(*y, m->height, m->region.height);
}

void picture_screen_to_api(const struct picture_map *m, int *x, int *y)
{
	*x = move_middle(*x - m->region.x, m->region.width, m->width);
	*y = move_middle(*y - m->region.y, m->region.height, m->height);
}

/* Where the edge before pixel i of n is among those of m pixels; up: the next
 * one if it is within a pixel. */
static int move_edge(int i, int n, int m, bool up)
{
	return (int)divide_down((long long)i * m + (up ? n - 1 : 0), n);
}

void picture_api_to_rect(const struct picture_map *m, const int n[4],
			 struct rect *ret)
{
	int x = move_edge(n[0], m->width, m->region.width, false);
	int y = move_edge(n[1], m->height, m->region.height, false);

	ret->width = move_edge(n[2], m->width, m->region.width, true) - x;
	ret->height = move_edge(n[3], m->height, m->region.height, true) - y;
	ret->x = m->region.x + x;
	ret->y = m->region.y + y;
}
