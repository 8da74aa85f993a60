/* SPDX-License-Identifier: Apache-2.0 */
/* One cell from the command line: its exit status, or one object of it. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "host/ctl-cell.h"
#include "host/ctl-out.h"
#include "host/ctl-py-cell.h"
#include "host/result.h"

#define SIGNALLED 128 /* and the signal */

static const char *ename(const struct cell_result *r)
{
	return json_str_or(r->error, "ename", "");
}

/* sys.exit(): as python3 ends. */
static int exit_status(struct cell_runner *x, const json_t *error)
{
	const char *value = json_str_or(error, "evalue", "");
	char *end;
	long n = strtol(value, &end, 10);

	if (!*value || strcmp(value, "None") == 0)
		return 0;
	if (!*end)
		return (int)(n & 0xff);
	cell_out_fresh_line(&x->out);
	cell_out_plain(&x->out, STDERR_FILENO, value, strlen(value));
	cell_out_plain(&x->out, STDERR_FILENO, "\n", 1);
	return 1;
}

static int died(const struct cell_result *r, struct sb_err *err)
{
	autofree char *why =
		sanitize_line(json_str_or(r->error, "evalue", "nobody knows"));

	sb_fail(err, SB_GUEST, "the kernel died: %s", why);
	return sb_hint(err, "its variables are gone; the next call has a new "
			    "kernel");
}

static int never_begun(const struct py_opts *o, struct sb_err *err)
{
	sb_fail(err, SB_TIMEOUT,
		"the kernel was busy with other code for %lld s; the cell may "
		"still run after it",
		o->timeout);
	return sb_hint(err, "--reset starts the kernel anew");
}

static int timed_out(const struct py_opts *o, bool runs, struct sb_err *err)
{
	sb_fail(err, SB_TIMEOUT, "the cell took longer than %lld s%s",
		o->timeout, runs ? " and does not end" : "");
	if (runs)
		return sb_hint(err, "--reset starts the kernel anew");
	return -1;
}

static int left(const struct cell_result *r, const struct py_opts *o,
		struct sb_err *err)
{
	if (!r->signal)
		return r->begun ? timed_out(o, true, err) : never_begun(o, err);
	if (r->signal == SIGINT)
		out_note("the cell may still run; --reset starts its kernel "
			 "anew");
	return SIGNALLED + r->signal;
}

/* What is shown of its end, and the status for our caller. */
static int conclude(struct cell_runner *x, const struct cell_result *r,
		    const struct py_opts *o, struct sb_err *err)
{
	switch (r->end) {
	case CELL_OK:
		return 0;
	case CELL_LEFT:
		return left(r, o, err);
	case CELL_DIED:
		return died(r, err);
	case CELL_TIMEOUT:
		if (r->error)
			cell_print_error(x, r->error);
		return timed_out(o, false, err);
	case CELL_FAILED:
		break;
	}
	if (strcmp(ename(r), "SystemExit") == 0)
		return exit_status(x, r->error);
	cell_print_error(x, r->error);
	return r->signal ? SIGNALLED + r->signal : 1;
}

/* null when there is none, or none that can be trusted. */
static json_t *plain_result(const json_t *typed)
{
	autoresult struct result *r = NULL;
	struct sb_err err;

	if (!typed)
		return json_null();
	if (result_parse(typed, &r, &err) == 0)
		return result_plain(r);
	out_note("the result is left out: %s", err.msg);
	return json_null();
}

static const char *word(const struct cell_result *r)
{
	static const char *const words[] = {
		[CELL_OK] = "ok",	    [CELL_FAILED] = "error",
		[CELL_TIMEOUT] = "timeout", [CELL_LEFT] = "left",
		[CELL_DIED] = "died",
	};

	return words[r->end];
}

/* The object of --json: that of sink_print(), and what cells have. */
static void print_json(struct cell_runner *x, const struct cell_result *r,
		       int status)
{
	autojson json_t *j = sink_json(&x->out.sink, status);

	json_put(j, "status", json_str(word(r)));
	json_put(j, "result", plain_result(r->typed));
	json_put(j, "outputs", json_incref(x->outputs));
	if (r->error)
		json_put(j, "error", json_incref(r->error));
	json_put(j, "files", json_incref(x->show.files));
	json_put(j, "execution_count", json_integer(r->number));
	json_put(j, "kernel_id", json_str(x->line->id));
	out_json(j);
}

static int run(struct ctl *c, struct cell_runner *x, const struct py_opts *o,
	       const struct buf *code, struct sb_err *err)
{
	struct cell_result r;
	int status;

	if (show_open(&x->show, err) < 0 ||
	    cell_run(x, code->p, code->len, &r, err) < 0)
		return -1;
	status = conclude(x, &r, o, err);
	if (c->json) {
		status = status < 0 ? sb_code_exit(err->code) : status;
		print_json(x, &r, status);
	}
	cell_result_done(&r);
	return status;
}

int py_cell(struct ctl *c, struct kline *l, const struct py_opts *o,
	    const struct buf *code, bool input, struct sb_err *err)
{
	struct cell_runner x;
	int rc = -1;

	if (!code->len)
		return 0; /* --reset alone, say */
	cell_runner_init(&x, l, c->json);
	x.input = input;
	x.file = o->file;
	x.timeout_ms = o->timeout * 1000;
	x.show.dir = o->out;
	x.signal_fd = py_signals(err);
	if (x.signal_fd >= 0) {
		rc = run(c, &x, o, code, err);
		close(x.signal_fd);
	}
	cell_runner_done(&x);
	return rc;
}
