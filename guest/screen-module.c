/* SPDX-License-Identifier: Apache-2.0 */
/* The table of guestd-screen.so. */
#include "config.h"

#include "guest/screen-module.h"

static int size_job(struct x11 *x, void *arg, struct sb_err *err)
{
	struct screen_size *s = arg;

	if (x11_size(x, &s->width, &s->height, err) < 0)
		return -1;
	return x11_cursor(x, &s->pointer, err);
}

static int wallpaper_job(struct x11 *x, void *arg, struct sb_err *err)
{
	return x11_wallpaper(x, err);
}

static int resize_job(struct x11 *x, void *arg, struct sb_err *err)
{
	const struct screen_size *s = arg;

	if (x11_resize(x, s->width, s->height, err) < 0 ||
	    x11_wallpaper(x, err) < 0)
		return -1;
	return size_job(x, arg, err);
}

extern const struct screen_module screen_module;
__attribute__((visibility("default")))
const struct screen_module screen_module = {
	.open = x11_open,
	.close = x11_close,
	.fd = x11_fd,
	.dead = x11_dead,
	.shot = screen_shot_job,
	.size = size_job,
	.resize = resize_job,
	.windows = screen_windows_job,
	.window = screen_window_job,
	.wallpaper = wallpaper_job,
	.input = screen_input_job,
	.input_end = screen_input_end,
	.clipboard = screen_clipboard_job,
};
