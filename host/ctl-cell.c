/* SPDX-License-Identifier: Apache-2.0 */
/* A cell that runs in a kernel. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/base64.h"
#include "common/clock.h"
#include "common/json.h"
#include "host/ctl-cell-input.h"
#include "host/ctl-cell.h"
#include "host/ctl-out.h"

#define STOP_MS 5000 /* to end after an interrupt */
/* Of what --json prints. */
#define MAX_OUTPUTS 10000
#define MAX_KEPT (256 * 1024 * 1024) /* bytes */
#define MAX_RESULT (32 * 1024 * 1024)
#define RESULT_MIME "application/vnd.sandbox.result+json"

struct cell {
	struct cell_runner *x;
	struct cell_result *r;
	char id[KLINE_ID_LEN + 1];
	struct cell_input input;
	size_t kept; /* bytes of outputs */
	bool replied, idle, over;
	int64_t deadline; /* 0: none */
	int lost;	  /* as of the line, when it began */
	struct sb_err *err;
	bool failed; /* err says why */
};

void cell_result_done(struct cell_result *r)
{
	json_decref(r->error);
	json_decref(r->typed);
	*r = (struct cell_result){ 0 };
}

void cell_print_error(struct cell_runner *x, const json_t *error)
{
	const json_t *lines = json_object_get(error, "traceback"), *line;
	autobuf struct buf b = { 0 };
	size_t i;

	json_array_foreach(lines, i, line) {
		buf_add(&b, json_string_value(line), json_string_length(line));
		buf_adds(&b, "\n");
	}
	if (!b.len)
		buf_addf(&b, "%s: %s\n", json_str_or(error, "ename", "Error"),
			 json_str_or(error, "evalue", ""));
	cell_out_fresh_line(&x->out);
	cell_out_plain(&x->out, STDERR_FILENO, b.p, b.len);
	cell_out_flush(&x->out);
}

void cell_runner_init(struct cell_runner *x, struct kline *l, bool json)
{
	*x = (struct cell_runner){ .line = l, .signal_fd = -1 };
	cell_out_init(&x->out, json);
	show_init(&x->show, NULL);
	if (json)
		x->outputs = json_array();
}

void cell_runner_done(struct cell_runner *x)
{
	cell_out_done(&x->out);
	show_done(&x->show);
	json_decref(x->outputs);
	buf_done(&x->typed);
}

static void on_stream(struct cell *c, const json_t *content)
{
	const json_t *text = json_object_get(content, "text");
	int fd = strcmp(json_str_or(content, "name", ""), "stderr") == 0
			 ? STDERR_FILENO
			 : STDOUT_FILENO;

	if (json_is_string(text))
		cell_out_push(&c->x->out, fd, json_string_value(text),
			      json_string_length(text));
}

/* The typed value, with its buffers, as POST /v1/run has it. */
static json_t *take_typed(const struct frame *f, const json_t *tree)
{
	json_t *j = json_copy((json_t *)tree), *buffers = json_array();

	for (size_t i = 0; i < f->nbuffers; i++) {
		struct part p = frame_buffer(f, i);
		autofree char *text = base64_encode(p.p, p.len);

		json_array_append_new(buffers, json_string(text));
	}
	json_put(j, "buffers", buffers);
	return j;
}

static void keep_output(struct cell *c, const struct kline_msg *m)
{
	size_t len = m->frame->part[FRAME_CONTENT].len;
	json_t *j;

	if (!c->x->outputs)
		return;
	if (json_array_size(c->x->outputs) >= MAX_OUTPUTS ||
	    len > MAX_KEPT - c->kept) {
		c->x->out.sink.truncated = true;
		return;
	}
	c->kept += len;
	j = json_copy(m->content);
	json_put(j, "output_type", json_str(m->type));
	json_array_append_new(c->x->outputs, j);
}

static void on_display(struct cell *c, const struct kline_msg *m)
{
	const json_t *data = json_object_get(m->content, "data");
	const json_t *typed = json_object_get(data, RESULT_MIME);
	bool is_result = strcmp(m->type, "execute_result") == 0;
	autobuf struct buf text = { 0 };

	if (json_is_object(typed)) {
		json_decref(c->r->typed);
		c->r->typed = take_typed(m->frame, typed);
		return;
	}
	keep_output(c, m);
	if (show_bundle(&c->x->show, data, is_result, &text, c->err) < 0) {
		c->failed = true;
		return;
	}
	if (c->x->outputs)
		return; /* it is there */
	cell_out_fresh_line(&c->x->out);
	cell_out_push(&c->x->out, STDOUT_FILENO, text.p, text.len);
}

static void on_error(struct cell *c, const struct kline_msg *m)
{
	json_decref(c->r->error);
	c->r->error = json_incref(m->content);
	keep_output(c, m);
}

static void on_reply(struct cell *c, const json_t *content)
{
	const json_t *payload = json_object_get(content, "payload"), *p;
	size_t i;

	c->replied = true;
	if (strcmp(json_str_or(content, "status", ""), "ok") != 0) {
		if (c->r->end == CELL_OK)
			c->r->end = CELL_FAILED;
		if (!c->r->error)
			c->r->error = json_incref((json_t *)content);
	}
	json_array_foreach(payload, i, p)
		if (strcmp(json_str_or(p, "source", ""), "ask_exit") == 0)
			c->r->exit = true;
}

static void on_number(struct cell *c, const json_t *content)
{
	c->r->number = json_int_or(content, "execution_count", 0);
	show_begin(&c->x->show, c->r->number);
}

/* Its time counts from here, and not while others' cells ran. */
static void note_begin(struct cell *c)
{
	if (!c->r->begun && c->deadline)
		c->deadline = clock_ms() + c->x->timeout_ms;
	c->r->begun = true;
}

static int on_message(void *arg, const struct kline_msg *m)
{
	struct cell *c = arg;
	const char *type = m->type;

	if (strcmp(m->parent, c->id) != 0)
		return 0;
	note_begin(c);
	if (strcmp(type, "stream") == 0)
		on_stream(c, m->content);
	else if (strcmp(type, "execute_input") == 0)
		on_number(c, m->content);
	else if (strcmp(type, "execute_result") == 0 ||
		 strcmp(type, "display_data") == 0 ||
		 strcmp(type, "update_display_data") == 0)
		on_display(c, m);
	else if (strcmp(type, "error") == 0)
		on_error(c, m);
	else if (strcmp(type, "execute_reply") == 0)
		on_reply(c, m->content);
	else if (strcmp(type, "input_request") == 0)
		cell_input_ask(&c->input, m->content);
	else if (strcmp(type, "status") == 0)
		c->idle |=
			strcmp(json_str_or(m->content, "execution_state", ""),
			       "idle") == 0;
	c->over = c->failed || (c->idle && c->replied);
	/* What it says goes out before more is read. */
	return c->over || cell_out_waits(&c->x->out);
}

static void leave(struct cell *c, int sig)
{
	/* It may be that nobody reads. */
	cell_out_drop(&c->x->out);
	c->r->end = CELL_LEFT;
	c->r->signal = sig;
	c->over = true;
}

/*
 * Ask the kernel to raise KeyboardInterrupt.  Before ours has begun it would be
 * raised in another's cell.
 */
static void interrupt(struct cell *c)
{
	struct sb_err err;

	if (!c->r->begun)
		return;
	if (kline_interrupt(c->x->line, &err) < 0)
		out_note("it cannot be interrupted: %s", err.msg);
	/* What it printed so far may take minutes to scroll by. */
	c->x->out.skip = c->x->out.sink.s[0].terminal;
	cell_input_drop(&c->input);
}

static void on_signal(struct cell *c)
{
	struct signalfd_siginfo si;

	while (!c->over &&
	       read(c->x->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		int before = c->r->signal;

		if (si.ssi_signo == SIGWINCH)
			continue;
		c->r->signal = (int)si.ssi_signo;
		if (before != SIGINT)
			interrupt(c);
		if (before == SIGINT || c->r->signal != SIGINT || !c->r->begun)
			leave(c, c->r->signal);
	}
}

static void on_deadline(struct cell *c)
{
	if (c->r->end == CELL_TIMEOUT || !c->r->begun) {
		leave(c, 0);
		return;
	}
	c->r->end = CELL_TIMEOUT;
	c->deadline = clock_ms() + STOP_MS;
	interrupt(c);
}

enum { FD_SIGNAL, FD_OUT, FD_IN, NFDS };

static int turn(struct cell *c, struct sb_err *err)
{
	struct cell_out *o = &c->x->out;
	bool waits = cell_out_waits(o);
	struct pollfd fds[NFDS] = {
		[FD_SIGNAL] = { .fd = c->x->signal_fd, .events = POLLIN },
		[FD_OUT] = { .fd = waits ? o->fd : -1, .events = POLLOUT },
		[FD_IN] = { .fd = cell_input_fd(&c->input), .events = POLLIN },
	};

	if (kline_wait(c->x->line, !waits, fds, NFDS,
		       c->deadline ? clock_left(c->deadline) : -1, err) < 0)
		return -1;
	if (c->x->line->lost != c->lost && !c->r->begun)
		return sb_fail(err, SB_SYSTEM,
			       "the line was lost before the cell began");
	if (fds[FD_SIGNAL].revents)
		on_signal(c);
	if (fds[FD_OUT].revents)
		cell_out_step(o);
	if (fds[FD_IN].revents)
		cell_input_read(&c->input);
	if (o->sink.unread && !c->over) {
		interrupt(c);
		leave(c, SIGPIPE);
	}
	if (c->deadline && !c->over && clock_left(c->deadline) <= 0)
		on_deadline(c);
	return 0;
}

static void begin(struct cell *c, const char *code, size_t len)
{
	const struct cell_runner *x = c->x;
	autojson json_t *meta = json_object();
	json_t *own = json_object(), *content;

	content = json_pack("{s:o, s:b, s:b, s:{}, s:b, s:b}", "code",
			    json_stringn(code, len), "silent", 0,
			    "store_history", 1, "user_expressions",
			    "allow_stdin", 1, "stop_on_error", 0);
	if (x->outputs) {
		json_put(own, "result", json_string("auto"));
		json_put(own, "max_bytes", json_integer(MAX_RESULT));
	}
	if (x->file)
		json_put(own, "file", json_str(x->file));
	if (json_object_size(own))
		json_object_set(meta, "sandbox", own);
	json_decref(own);
	c->deadline = x->timeout_ms ? clock_ms() + x->timeout_ms : 0;
	c->lost = x->line->lost;
	kline_send(x->line, FRAME_SHELL, "execute_request", content, meta,
		   c->id);
}

static void finish(struct cell *c)
{
	struct cell_out *o = &c->x->out;
	char size[OUT_SIZE_LEN];

	cell_input_done(&c->input);
	if (c->r->error &&
	    strcmp(json_str_or(c->r->error, "ename", ""), "KernelDied") == 0)
		c->r->end = CELL_DIED;
	o->skip = false;
	if (o->skipped) {
		cell_out_fresh_line(o);
		cell_out_flush(o);
		out_note("%s of output left out after Ctrl-C",
			 out_size(o->skipped, size));
	}
	o->skipped = 0;
}

int cell_run(struct cell_runner *x, const char *code, size_t len,
	     struct cell_result *ret, struct sb_err *err)
{
	struct cell c = { .x = x, .r = ret, .err = err };
	int rc = 0;

	*ret = (struct cell_result){ 0 };
	cell_input_init(&c.input, x);
	show_renew(&x->show);
	x->line->on_message = on_message;
	x->line->arg = &c;
	begin(&c, code, len);
	while (rc == 0 && !(c.over && !cell_out_waits(&x->out)) && !c.failed &&
	       ret->end != CELL_LEFT)
		rc = turn(&c, err);
	x->line->on_message = NULL;
	finish(&c);
	return c.failed ? -1 : rc;
}
