/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The user's terminal while a command runs in a pty of the guest. */

#include <stdbool.h>
#include <termios.h>

struct tty {
	int in_fd, out_fd;
	bool raw; /* saved is to be restored */
	struct termios saved;
};

/* Put the terminal in_fd into raw mode, if it is one. */
void tty_init(struct tty *t, int in_fd, int out_fd);
/* As it was before; may be called twice. */
void tty_done(struct tty *t);

/* Its size, or 80 x 24 where there is none. */
void tty_size(const struct tty *t, int *ret_cols, int *ret_rows);
