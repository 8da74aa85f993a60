/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "common/utf8.h"
#include "host/console.h"

enum { TEXT, ESC, CSI, CHARSET, STRING, STRING_ESC };

#define GREY 7
#define BLACK 0
#define BRIGHT 8
#define UNKNOWN 0xfffd
#define ARG_MAX 9999

/* Of a log.  More than a screen, as a line may be drawn over many times; fewer
 * bytes than there may be, as each takes its time. */
#define LINES 1000
#define MAX_BYTES (1 << 20)
#define MAX_READ (4 * LOG_READ_MAX_TAIL) /* it may grow meanwhile */

static struct console_cell blank(const struct console *c)
{
	return (struct console_cell){ .fg = c->fg, .bg = c->bg };
}

static void erase(struct console *c, int row, int from, int to)
{
	for (int i = from; i < to; i++)
		c->cells[row][i] = blank(c);
}

static void erase_rows(struct console *c, int from, int to)
{
	for (int i = from; i < to; i++)
		erase(c, i, 0, CONSOLE_COLS);
}

static void set_style(struct console *c)
{
	c->fg = GREY;
	c->bg = BLACK;
	c->bold = c->inverse = false;
}

void console_init(struct console *c)
{
	memset(c, 0, sizeof(*c));
	set_style(c);
	erase_rows(c, 0, CONSOLE_ROWS);
}

static void move_to(struct console *c, int row, int col)
{
	c->row = MAX(0, MIN(row, CONSOLE_ROWS - 1));
	c->col = MAX(0, MIN(col, CONSOLE_COLS - 1));
	c->wrap = false;
}

static void line_feed(struct console *c)
{
	if (c->row < CONSOLE_ROWS - 1) {
		c->row++;
		return;
	}
	memmove(c->cells[0], c->cells[1],
		sizeof(c->cells[0]) * (CONSOLE_ROWS - 1));
	erase(c, CONSOLE_ROWS - 1, 0, CONSOLE_COLS);
}

static void put(struct console *c, uint32_t ch)
{
	uint8_t fg = c->fg | (c->bold ? BRIGHT : 0);
	struct console_cell *cell;

	if (c->wrap) {
		move_to(c, c->row, 0);
		line_feed(c);
	}
	cell = &c->cells[c->row][c->col];
	cell->c = ch;
	cell->fg = c->inverse ? c->bg : fg;
	cell->bg = c->inverse ? fg : c->bg;
	if (c->col < CONSOLE_COLS - 1)
		c->col++;
	else
		c->wrap = true;
}

static uint32_t decode(const char *s, size_t len)
{
	uint32_t ch = (unsigned char)s[0];

	if (len == 1)
		return ch;
	ch &= 0x7f >> len;
	for (size_t i = 1; i < len; i++)
		ch = ch << 6 | (s[i] & 0x3f);
	return ch;
}

/* The controls beyond ASCII, which are escape sequences in one, are skipped:
 * the screen as text must not have any. */
static void put_character(struct console *c, uint32_t ch)
{
	if (ch < 0x80 || ch > 0x9f)
		put(c, ch);
}

/* A byte of a character beyond ASCII. */
static void take_utf8(struct console *c, char byte)
{
	size_t len;

	c->utf8[c->nutf8++] = byte;
	len = utf8_len(c->utf8, c->nutf8);
	if (len == 0 && c->nutf8 < sizeof(c->utf8))
		return; /* it may go on */
	c->nutf8 = 0;
	put_character(c, len ? decode(c->utf8, len) : UNKNOWN);
}

static void control(struct console *c, char byte)
{
	switch (byte) {
	case '\033':
		c->state = ESC;
		break;
	case '\n':
		/* A serial line's \r may have been lost: begin a line. */
		move_to(c, c->row, 0);
		line_feed(c);
		break;
	case '\r':
		move_to(c, c->row, 0);
		break;
	case '\b':
		move_to(c, c->row, c->col - 1);
		break;
	case '\t':
		move_to(c, c->row, (c->col | 7) + 1);
		break;
	}
}

static void take_text(struct console *c, char byte)
{
	unsigned char u = (unsigned char)byte;

	if (u >= 0x80) {
		take_utf8(c, byte);
		return;
	}
	if (c->nutf8) {
		c->nutf8 = 0;
		put(c, UNKNOWN);
	}
	if (u < 0x20)
		control(c, byte);
	else if (u != 0x7f)
		put(c, u);
}

static unsigned int arg(const struct console *c, size_t i, unsigned int dflt)
{
	return i < c->nargs && c->args[i] ? c->args[i] : dflt;
}

static void style(struct console *c, unsigned int n)
{
	if (n == 0)
		set_style(c);
	else if (n == 1 || n == 22)
		c->bold = n == 1;
	else if (n == 7 || n == 27)
		c->inverse = n == 7;
	else if (n >= 30 && n <= 37)
		c->fg = n - 30;
	else if (n == 39)
		c->fg = GREY;
	else if (n >= 40 && n <= 47)
		c->bg = n - 40;
	else if (n == 49)
		c->bg = BLACK;
	else if (n >= 90 && n <= 97)
		c->fg = (n - 90) | BRIGHT;
	else if (n >= 100 && n <= 107)
		c->bg = (n - 100) | BRIGHT;
}

static void styles(struct console *c)
{
	if (c->nargs == 0)
		style(c, 0);
	for (size_t i = 0; i < c->nargs; i++) {
		/* 256 and more colours: not ours, and their numbers neither. */
		if (c->args[i] == 38 || c->args[i] == 48)
			break;
		style(c, c->args[i]);
	}
}

/* Erase from here to the end (0), from the begin to here (1) or all (2, 3). */
static void erase_line(struct console *c, unsigned int how)
{
	erase(c, c->row, how ? 0 : c->col,
	      how == 1 ? c->col + 1 : CONSOLE_COLS);
}

static void erase_screen(struct console *c, unsigned int how)
{
	if (how < 2)
		erase_line(c, how);
	erase_rows(c, how ? 0 : c->row + 1, how == 1 ? c->row : CONSOLE_ROWS);
}

/* Move what is right of here by n: to the right, or to the left if n < 0. */
static void shift(struct console *c, int n)
{
	struct console_cell *line = c->cells[c->row];
	int room = CONSOLE_COLS - c->col, by = MIN(n < 0 ? -n : n, room);
	int from = n < 0 ? c->col + by : c->col;
	int to = n < 0 ? c->col : c->col + by;

	memmove(&line[to], &line[from], sizeof(*line) * (room - by));
	if (n < 0)
		erase(c, c->row, CONSOLE_COLS - by, CONSOLE_COLS);
	else
		erase(c, c->row, c->col, c->col + by);
}

static void sequence(struct console *c, char last)
{
	int n = (int)arg(c, 0, 1);

	if (c->is_private)
		return;
	switch (last) {
	case 'A':
		move_to(c, c->row - n, c->col);
		break;
	case 'B':
		move_to(c, c->row + n, c->col);
		break;
	case 'C':
		move_to(c, c->row, c->col + n);
		break;
	case 'D':
		move_to(c, c->row, c->col - n);
		break;
	case 'G':
		move_to(c, c->row, n - 1);
		break;
	case 'd':
		move_to(c, n - 1, c->col);
		break;
	case 'H':
	case 'f':
		move_to(c, n - 1, (int)arg(c, 1, 1) - 1);
		break;
	case 'J':
		erase_screen(c, arg(c, 0, 0));
		break;
	case 'K':
		erase_line(c, arg(c, 0, 0));
		break;
	case 'X':
		erase(c, c->row, c->col, MIN(c->col + n, CONSOLE_COLS));
		break;
	case '@':
		shift(c, n);
		break;
	case 'P':
		shift(c, -n);
		break;
	case 'm':
		styles(c);
		break;
	}
}

static void take_escape(struct console *c, char byte)
{
	c->state = TEXT;
	switch (byte) {
	case '[':
		c->state = CSI;
		c->nargs = 0;
		c->is_private = false;
		break;
	case ']': /* a title and the like */
	case 'P':
	case '^':
	case '_':
	case 'X':
		c->state = STRING;
		break;
	case '(':
	case ')':
	case '#':
	case '%':
		c->state = CHARSET;
		break;
	case 'c':
		console_init(c);
		break;
	}
}

static void take_sequence(struct console *c, char byte)
{
	unsigned int *n;

	if (byte >= '0' && byte <= '9') {
		if (c->nargs == 0)
			c->args[c->nargs++] = 0;
		n = &c->args[c->nargs - 1];
		*n = MIN(*n * 10 + (byte - '0'), ARG_MAX);
	} else if (byte == ';' || byte == ':') {
		if (c->nargs == 0)
			c->args[c->nargs++] = 0;
		if (c->nargs < CONSOLE_ARGS)
			c->args[c->nargs++] = 0;
	} else if (byte >= '<' && byte <= '?') {
		c->is_private = true;
	} else if (byte >= '@' && byte <= '~') {
		c->state = TEXT;
		sequence(c, byte);
	} else if (byte < ' ') {
		/* A new line within a sequence is rather the end of it. */
		c->state = TEXT;
		take_text(c, byte);
	}
}

static void take(struct console *c, char byte)
{
	switch (c->state) {
	case TEXT:
		take_text(c, byte);
		break;
	case ESC:
		take_escape(c, byte);
		break;
	case CSI:
		take_sequence(c, byte);
		break;
	case CHARSET:
		c->state = TEXT;
		break;
	case STRING:
		/* One that does not end would hide all that follows. */
		if (byte == '\a' || byte == '\n')
			c->state = TEXT;
		else if (byte == '\033')
			c->state = STRING_ESC;
		break;
	case STRING_ESC:
		c->state = TEXT;
		if (byte != '\\')
			take_escape(c, byte);
		break;
	}
}

void console_feed(struct console *c, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		take(c, data[i]);
}

void console_read(struct console *c, struct log_reader *r)
{
	autobuf struct buf b = { 0 };
	const char *data;
	size_t n, total = 0;

	log_reader_tail(r, LINES, 0);
	while (total < MAX_READ && (n = log_reader_bytes(r, &data)) > 0) {
		buf_add(&b, data, n);
		total += n;
		if (b.len > 2 * MAX_BYTES)
			buf_drop(&b, b.len - MAX_BYTES);
	}
	n = MIN(b.len, MAX_BYTES);
	if (n)
		console_feed(c, b.p + b.len - n, n);
}

static int line_length(const struct console_cell *line)
{
	int n = CONSOLE_COLS;

	while (n > 0 && (line[n - 1].c == 0 || line[n - 1].c == ' '))
		n--;
	return n;
}

void console_text(const struct console *c, struct buf *to)
{
	int rows = CONSOLE_ROWS;

	while (rows > 0 && line_length(c->cells[rows - 1]) == 0)
		rows--;
	for (int row = 0; row < rows; row++) {
		const struct console_cell *line = c->cells[row];
		int n = line_length(line);

		for (int i = 0; i < n; i++) {
			char u[4];

			buf_add(to, u, utf8_encode(line[i].c ?: ' ', u));
		}
		buf_add(to, "\n", 1);
	}
}
