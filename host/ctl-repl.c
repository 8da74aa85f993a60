/* SPDX-License-Identifier: Apache-2.0 */
/* Python's prompt, in a kernel of a sandbox. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/utf8.h"
#include "host/ctl-cell.h"
#include "host/ctl-edit.h"
#include "host/ctl-out.h"
#include "host/ctl-repl.h"
#include "host/paths.h"

#define ANSWER_MS 3000 /* a busy kernel answers when it is free */
#define MAX_MATCHES 2000
#define MAX_MATCH 200 /* bytes */
#define MAX_INDENT 200
#define SIGNALLED 128

struct repl {
	struct kline *line;
	struct cell_runner x;
	struct edit *edit;
	struct buf block; /* lines so far */
	int signal;	  /* that came at the prompt */
	bool lost;	  /* err says why */
	struct sb_err *err;
	/* An answer that is waited for. */
	char asked[KLINE_ID_LEN + 1];
	json_t *answer;
};

static int on_message(void *arg, const struct kline_msg *m)
{
	struct repl *r = arg;

	if (!*r->asked || strcmp(m->parent, r->asked) != 0 ||
	    !str_ends(m->type, "_reply"))
		return 0;
	json_decref(r->answer);
	r->answer = json_incref(m->content);
	return 1;
}

/* Let the line live on, at most timeout_ms, until stdin or a signal comes. */
static enum edit_wait wait_on(struct repl *r, bool typing, int timeout_ms)
{
	struct signalfd_siginfo si;
	struct pollfd fds[] = {
		{ .fd = r->x.signal_fd, .events = POLLIN },
		{ .fd = typing ? STDIN_FILENO : -1, .events = POLLIN },
	};

	r->line->on_message = on_message;
	r->line->arg = r;
	if (kline_wait(r->line, true, fds, ARRAY_SIZE(fds), timeout_ms,
		       r->err) < 0) {
		r->lost = true;
		return EDIT_FAIL;
	}
	if (fds[0].revents &&
	    read(r->x.signal_fd, &si, sizeof(si)) == sizeof(si)) {
		r->signal = (int)si.ssi_signo;
		return EDIT_STOP;
	}
	return fds[1].revents ? EDIT_TYPED : EDIT_FAIL;
}

static enum edit_wait wait_typed(void *arg)
{
	struct repl *r = arg;
	enum edit_wait w;

	do
		w = wait_on(r, true, -1);
	while (w == EDIT_FAIL && !r->lost);
	return w;
}

enum patience { SHORT, ENDLESS };

/*
 * Ask the kernel; its answer, the caller's, or NULL when none comes, or when a
 * signal came meanwhile.
 */
static json_t *ask(struct repl *r, const char *type, json_t *content,
		   enum patience patience)
{
	int64_t deadline = clock_ms() + ANSWER_MS;
	bool told = false, stopped = false;

	kline_send(r->line, FRAME_SHELL, type, content, NULL, r->asked);
	while (!r->answer && !r->lost && !stopped) {
		int left = clock_left(deadline);

		if (left <= 0 && patience == SHORT)
			break;
		if (left <= 0 && !told)
			out_note("the kernel is busy; Ctrl-C gives up on it");
		told = left <= 0;
		stopped = wait_on(r, false, told ? -1 : left) == EDIT_STOP;
	}
	r->asked[0] = '\0';
	if (stopped)
		json_decref(steal(&r->answer));
	return steal(&r->answer);
}

/* It goes into the user's line: nothing may hide in it. */
static bool is_printable(const char *s)
{
	autofree char *clean = sanitize_line(s);

	return *s && strlen(s) <= MAX_MATCH && strcmp(clean, s) == 0;
}

static void on_complete(void *arg, const char *text, size_t len,
			struct edit_matches *ret)
{
	struct repl *r = arg;
	autobuf struct buf code = { 0 };
	autojson json_t *reply = NULL;
	const json_t *list, *v;
	size_t i, cursor, here = utf8_count(text, len);
	long long start;

	buf_add(&code, r->block.p, r->block.len);
	buf_add(&code, text, len);
	cursor = utf8_count(code.p, code.len);
	reply = ask(r, "complete_request",
		    json_pack("{s:o, s:I}", "code", json_text(code.p, code.len),
			      "cursor_pos", (json_int_t)cursor),
		    SHORT);
	start = json_int_or(reply, "cursor_start", -1);
	if (start < 0 || (size_t)start > cursor ||
	    cursor - (size_t)start > here)
		return;
	ret->back = cursor - (size_t)start;
	list = json_object_get(reply, "matches");
	json_array_foreach(list, i, v) {
		const char *s = json_string_value(v);

		if (!s || ret->n == MAX_MATCHES || !is_printable(s))
			continue;
		ret->v = xrealloc(ret->v, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = xstrdup(s);
	}
}

/* Whether more lines must come, and how the next one is indented. */
static bool is_incomplete(const json_t *reply, char indent[MAX_INDENT])
{
	const char *space;

	if (strcmp(json_str_or(reply, "status", ""), "incomplete") != 0)
		return false;
	space = json_str_or(reply, "indent", "");
	if (strspn(space, " \t") == strlen(space))
		snprintf(indent, MAX_INDENT, "%s", space);
	return true;
}

/* The shell's word for leaving; the kernel goes on without us. */
static bool is_farewell(const struct buf *b)
{
	static const char *const words[] = { "exit", "quit", "exit()",
					     "quit()" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(b->p, words[i]) == 0)
			return true;
	return false;
}

static int revive(struct repl *r, const json_t *error, struct sb_err *err)
{
	autofree char *why =
		sanitize_line(json_str_or(error, "evalue", "nobody knows"));

	out_note("the kernel died: %s", why);
	if (kline_revive(r->line, err) < 0)
		return -1;
	out_note("there is a new one; what was defined is gone");
	return 0;
}

/* Run what was typed; 1 when that was the last. */
static int run_block(struct repl *r, struct sb_err *err)
{
	struct cell_result res;
	int rc = 0;

	if (cell_run(&r->x, r->block.p, r->block.len, &res, err) < 0)
		return -1;
	cell_out_fresh_line(&r->x.out);
	cell_out_flush(&r->x.out);
	if (res.end == CELL_DIED)
		rc = revive(r, res.error, err);
	else if (res.end == CELL_LEFT && res.signal == SIGINT)
		out_note("the cell may still run");
	else if (res.error)
		cell_print_error(&r->x, res.error);
	if (res.end == CELL_LEFT && res.signal && res.signal != SIGINT) {
		r->signal = res.signal;
		rc = 1;
	}
	if (res.exit)
		rc = 1;
	cell_result_done(&res);
	return rc;
}

/* Nothing is run: 1 when the user leaves. */
static int give_up(struct repl *r, char indent[MAX_INDENT])
{
	if (r->lost)
		return -1;
	if (r->signal != SIGINT)
		return 1;
	puts("\nKeyboardInterrupt");
	buf_done(&r->block);
	indent[0] = '\0';
	return 0;
}

/*
 * Run the block if it is one.  A kernel that runs another client's cell answers
 * when that has ended; a line that was run before it is known whether more of
 * them come would be half of what was meant.
 */
static int try_block(struct repl *r, char indent[MAX_INDENT],
		     struct sb_err *err)
{
	autojson json_t *reply = NULL;
	int rc;

	indent[0] = '\0';
	reply = ask(
		r, "is_complete_request",
		json_pack("{s:o}", "code", json_text(r->block.p, r->block.len)),
		ENDLESS);
	if (!reply)
		return give_up(r, indent);
	if (is_incomplete(reply, indent)) {
		buf_adds(&r->block, "\n");
		return 0;
	}
	if (strcmp(json_str_or(reply, "ename", ""), "KernelDied") == 0)
		rc = revive(r, reply, err);
	else
		rc = run_block(r, err);
	buf_done(&r->block);
	return rc;
}

/* A line more: 1 when the user leaves. */
static int take_line(struct repl *r, char indent[MAX_INDENT],
		     struct sb_err *err)
{
	bool first = !r->block.len;

	switch (edit_line(r->edit, first ? ">>> " : "... ", indent,
			  &r->block)) {
	case EDIT_EOF:
		puts("");
		return 1;
	case EDIT_STOPPED:
		return give_up(r, indent);
	case EDIT_LINE:
		break;
	}
	if (first &&
	    (!r->block.len || strspn(r->block.p, " \t") == r->block.len)) {
		buf_done(&r->block);
		return 0;
	}
	if (first && is_farewell(&r->block))
		return 1;
	return try_block(r, indent, err);
}

static char *history_file(void)
{
	autofree char *dir = paths_state();

	if (fs_mkdirs(dir, 0700, NULL) < 0)
		return NULL;
	return xasprintf("%s/py-history", dir);
}

static int talk(struct repl *r, const char *name, struct sb_err *err)
{
	static const struct edit_ops ops = { wait_typed, on_complete };
	autofree char *file = history_file();
	char indent[MAX_INDENT] = "";
	int rc = 0;

	if (edit_open(file, &ops, r, &r->edit, err) < 0)
		return -1;
	fprintf(stderr,
		"Python in sandbox '%s'. Ctrl-D leaves, and its state stays; "
		"Ctrl-C interrupts.\n",
		name);
	while (rc == 0) {
		r->signal = 0;
		rc = take_line(r, indent, err);
	}
	edit_close(r->edit);
	if (rc < 0)
		return -1;
	return r->signal && r->signal != SIGINT ? SIGNALLED + r->signal : 0;
}

int repl_run(struct kline *l, const char *name, const struct py_opts *o,
	     struct sb_err *err)
{
	struct repl r = { .line = l, .err = err };
	int rc = -1;

	cell_runner_init(&r.x, l, false);
	r.x.input = true;
	r.x.timeout_ms = o->timeout * 1000;
	r.x.show.dir = o->out;
	r.x.signal_fd = py_signals(err);
	if (r.x.signal_fd >= 0 && show_open(&r.x.show, err) == 0)
		rc = talk(&r, name, err);
	if (r.x.signal_fd >= 0)
		close(r.x.signal_fd);
	buf_done(&r.block);
	cell_runner_done(&r.x);
	return rc;
}
