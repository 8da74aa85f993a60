/* SPDX-License-Identifier: Apache-2.0 */
/* What a cell asks with input() and getpass(). */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "host/ctl-cell-input.h"

#define MAX_LINE (1024 * 1024)
#define END_OF_INPUT "\004" /* as Jupyter's consoles say it */

void cell_input_init(struct cell_input *i, struct cell_runner *x)
{
	*i = (struct cell_input){ .x = x };
}

static void show_typing(struct cell_input *i)
{
	if (i->hidden && tcsetattr(STDIN_FILENO, TCSADRAIN, &i->saved) == 0)
		(void)!write(STDERR_FILENO, "\n", 1);
	i->hidden = false;
}

static void hide_typing(struct cell_input *i)
{
	struct termios t;

	if (tcgetattr(STDIN_FILENO, &i->saved) < 0)
		return;
	t = i->saved;
	t.c_lflag &= ~(tcflag_t)ECHO;
	i->hidden = tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == 0;
}

void cell_input_done(struct cell_input *i)
{
	show_typing(i);
}

void cell_input_drop(struct cell_input *i)
{
	show_typing(i);
	i->asked = false;
}

static void answer(struct cell_input *i, const char *text, size_t len)
{
	cell_input_drop(i);
	kline_send(i->x->line, FRAME_STDIN, "input_reply",
		   json_pack("{s:s, s:o}", "status", "ok", "value",
			     json_text(text, len)),
		   NULL, NULL);
}

/* A line that was typed ahead, or came in one piece with another. */
static void answer_typed(struct cell_input *i)
{
	struct buf *b = &i->x->typed;
	const char *end = b->len ? memchr(b->p, '\n', b->len) : NULL;

	if (!end && b->len < MAX_LINE)
		return;
	answer(i, b->p, end ? (size_t)(end - b->p) : b->len);
	buf_drop(b, end ? (size_t)(end - b->p) + 1 : b->len);
}

void cell_input_ask(struct cell_input *i, const json_t *content)
{
	const json_t *prompt = json_object_get(content, "prompt");
	struct cell_out *o = &i->x->out;

	if (json_is_string(prompt) && !o->sink.capture) {
		cell_out_push(o, STDOUT_FILENO, json_string_value(prompt),
			      json_string_length(prompt));
		cell_out_flush(o);
		o->mid_line = false; /* the user's Enter ends it */
	}
	if (!i->x->input) {
		answer(i, END_OF_INPUT, 1);
		return;
	}
	i->asked = true;
	answer_typed(i);
	if (i->asked && json_bool_or(content, "password", false))
		hide_typing(i);
}

int cell_input_fd(const struct cell_input *i)
{
	return i->asked ? STDIN_FILENO : -1;
}

void cell_input_read(struct cell_input *i)
{
	struct buf *b = &i->x->typed;
	char data[4096];
	ssize_t n = read(STDIN_FILENO, data, sizeof(data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		buf_add(b, data, n);
		answer_typed(i);
		return;
	}
	/* A last line without an end is a line; a terminal may go on. */
	i->x->input = isatty(STDIN_FILENO);
	if (b->len)
		answer(i, b->p, b->len);
	else
		answer(i, END_OF_INPUT, 1);
	buf_done(b);
}
