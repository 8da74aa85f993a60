/* SPDX-License-Identifier: Apache-2.0 */
/* What the user's terminal can do. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/util.h"
#include "host/ctl-term.h"

bool term_can_redraw(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && !str_empty(term) && strcmp(term, "dumb") != 0;
}

bool term_has_colours(int fd)
{
	return term_can_redraw(fd) && str_empty(getenv("NO_COLOR"));
}

int term_columns(int fd)
{
	struct winsize ws;

	if (ioctl(fd, TIOCGWINSZ, &ws) || !ws.ws_col)
		return 80;
	return ws.ws_col;
}

int term_pixels(int fd)
{
	struct winsize ws;

	if (ioctl(fd, TIOCGWINSZ, &ws) || !ws.ws_xpixel)
		return 640;
	return ws.ws_xpixel;
}

const char *term_colour(int fd, enum term_colour colour)
{
	static const char *const codes[] = {
		[TERM_PLAIN] = "\033[0m",   [TERM_BOLD] = "\033[1m",
		[TERM_RED] = "\033[31m",    [TERM_GREEN] = "\033[32m",
		[TERM_YELLOW] = "\033[33m",
	};

	return term_has_colours(fd) ? codes[colour] : "";
}
