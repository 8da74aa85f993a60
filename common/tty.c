/* SPDX-License-Identifier: Apache-2.0 */
/* Raw mode and size of the user's terminal. */
#include "config.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "common/tty.h"

void tty_init(struct tty *t, int in_fd, int out_fd)
{
	struct termios raw;

	*t = (struct tty){ .in_fd = in_fd, .out_fd = out_fd };
	if (in_fd < 0 || tcgetattr(in_fd, &t->saved) < 0)
		return;
	raw = t->saved;
	cfmakeraw(&raw);
	t->raw = tcsetattr(in_fd, TCSADRAIN, &raw) == 0;
}

void tty_done(struct tty *t)
{
	if (t->raw)
		tcsetattr(t->in_fd, TCSADRAIN, &t->saved);
	t->raw = false;
}

void tty_size(const struct tty *t, int *ret_cols, int *ret_rows)
{
	struct winsize w;

	if ((ioctl(t->out_fd, TIOCGWINSZ, &w) < 0 &&
	     ioctl(t->in_fd, TIOCGWINSZ, &w) < 0) ||
	    !w.ws_col || !w.ws_row)
		w = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	*ret_cols = w.ws_col;
	*ret_rows = w.ws_row;
}
