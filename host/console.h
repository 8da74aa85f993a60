/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The screen of a serial console: what a terminal of 100 by 30 characters
 * would show of the bytes that a machine wrote.  They come from a guest, so
 * this knows what consoles use (text, colours, moving about, erasing), skips
 * the rest of the terminal's language, and answers nothing.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/log-read.h"
#include "common/util.h"

#define CONSOLE_COLS 100
#define CONSOLE_ROWS 30
#define CONSOLE_ARGS 8

struct console_cell {
	uint32_t c;	/* a character of Unicode; 0: empty */
	uint8_t fg, bg; /* of 16 colours */
};

struct console {
	struct console_cell cells[CONSOLE_ROWS][CONSOLE_COLS];
	int row, col;
	bool wrap; /* the next character begins a line */
	uint8_t fg, bg;
	bool bold, inverse;
	/* Where in an escape sequence we are, and its numbers. */
	int state;
	unsigned int args[CONSOLE_ARGS];
	size_t nargs;
	bool is_private;
	/* A character of several bytes that has begun. */
	char utf8[4];
	size_t nutf8;
};

void console_init(struct console *c);
void console_feed(struct console *c, const char *data, size_t n);
/* What the end of a log makes of it. */
void console_read(struct console *c, struct log_reader *r);

/* As lines of UTF-8, without the empty end of each and of the screen. */
void console_text(const struct console *c, struct buf *to);

/* As a picture: PNG, 800 by 480. */
void console_png(const struct console *c, struct buf *to);
