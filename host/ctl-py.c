/* SPDX-License-Identifier: Apache-2.0 */
/* Python in a sandbox: which way it is run. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/utf8.h"
#include "host/ctl-exec.h"
#include "host/ctl-interrupt.h"
#include "host/ctl-out.h"
#include "host/ctl-py-cell.h"
#include "host/ctl-py.h"
#include "host/ctl-repl.h"

int py_signals(struct sb_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 };

	/* A reader of our output that has gone must not keep the cell. */
	signal(SIGPIPE, SIG_IGN);
	return interrupt_open(signals, err);
}

static bool reads_stdin(const struct py_opts *o, const char *code)
{
	return !o->file && (!code || strcmp(code, "-") == 0);
}

static bool is_repl(const struct py_opts *o, const char *code)
{
	return !o->file && !code && isatty(STDIN_FILENO);
}

/* A descriptor from which code can be read. */
static int open_code(const char *code, size_t len, struct sb_err *err)
{
	autoclose int fd = memfd_create("code", MFD_CLOEXEC);

	if (fd < 0 || fs_write_all(fd, code, len) || lseek(fd, 0, SEEK_SET) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot keep the code: %m");
	return steal_fd(&fd);
}

static int open_file(const char *file, struct sb_err *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return sb_fail(err, sb_code_of_errno(errno),
			       "cannot open '%s': %m", file);
	return fd;
}

static int read_all(int fd, struct buf *ret, struct sb_err *err)
{
	char block[65536];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sb_fail(err, SB_SYSTEM,
				       "cannot read the code: %m");
		if (ret->len + (size_t)n > PY_MAX_CODE) {
			sb_fail(err, SB_INVALID,
				"the code has more than %d MiB",
				PY_MAX_CODE >> 20);
			return sb_hint(err, "--fresh takes code of any size; "
					    "data goes with sandboxctl cp");
		}
		buf_add(ret, block, n);
	}
	return 0;
}

/* All of the code. */
static int take_code(const struct py_opts *o, const char *code, struct buf *ret,
		     struct sb_err *err)
{
	autoclose int fd = -1;

	if (o->file) {
		fd = open_file(o->file, err);
		if (fd < 0 || read_all(fd, ret, err) < 0)
			return -1;
	} else if (reads_stdin(o, code)) {
		if (read_all(STDIN_FILENO, ret, err) < 0)
			return -1;
	} else {
		buf_adds(ret, code);
	}
	if (ret->len > PY_MAX_CODE || !utf8_is_valid(ret->p, ret->len)) {
		sb_fail(err, SB_INVALID, "the code is not UTF-8, or too long");
		return sb_hint(err, "--fresh takes any bytes");
	}
	return 0;
}

/* A fresh python3, which reads the code from its stdin. */
static int run_fresh(struct ctl *c, const json_t *sandbox,
		     const struct py_opts *o, int code_fd, struct sb_err *err)
{
	/* -u: what is printed is seen at once, though stdout is no terminal. */
	static char *const python[] = { "python3", "-u", "-", NULL };
	struct guest_opts g = o->guest;

	g.input = true;
	if (code_fd >= 0 && dup2(code_fd, STDIN_FILENO) < 0)
		return sb_fail(err, SB_SYSTEM, "dup2: %m");
	return guest_exec(c, sandbox, &g, python, err);
}

/* Python's own REPL, for want of a kernel. */
static int repl_fresh(struct ctl *c, const json_t *sandbox,
		      const struct py_opts *o, struct sb_err *err)
{
	static char *const python[] = { "python3", "-q", NULL };
	struct guest_opts g = o->guest;

	g.input = g.tty = true;
	return guest_exec(c, sandbox, &g, python, err);
}

/* Code of any size and any bytes goes straight to Python. */
static int fresh(struct ctl *c, const json_t *sandbox, const struct py_opts *o,
		 const char *code, struct sb_err *err)
{
	autoclose int fd = -1;

	if (is_repl(o, code))
		return repl_fresh(c, sandbox, o, err);
	if (o->file)
		fd = open_file(o->file, err);
	else if (!reads_stdin(o, code))
		fd = open_code(code, strlen(code), err);
	if (fd < 0 && !reads_stdin(o, code))
		return -1;
	return run_fresh(c, sandbox, o, fd, err);
}

/* The option that a fresh python3 cannot follow, or NULL. */
static const char *needs_kernel(const struct py_opts *o)
{
	return o->out	    ? "--out"
	       : o->kernel  ? "--kernel"
	       : o->timeout ? "--timeout"
	       : o->reset   ? "--reset"
			    : NULL;
}

static int check(const struct ctl *c, const struct py_opts *o, const char *code,
		 bool is_fresh, struct sb_err *err)
{
	if (o->file && code)
		return sb_fail(err, SB_INVALID,
			       "py takes either CODE or --file");
	if (is_fresh && needs_kernel(o))
		return sb_fail(err, SB_INVALID,
			       "%s is not for a fresh python3 (--fresh, "
			       "--via ssh, --user, --workdir, --env)",
			       needs_kernel(o));
	if (c->json && is_repl(o, code))
		return sb_fail(err, SB_INVALID, "--json needs code");
	return 0;
}

/* No guestd: what a fresh python3 can do is done there. */
static int fall_back(struct ctl *c, const json_t *sandbox,
		     const struct py_opts *o, const struct buf *code, bool repl,
		     struct sb_err *err)
{
	autoclose int fd = -1;

	if (needs_kernel(o) || !exec_unreachable(err) ||
	    (o->guest.via && strcmp(o->guest.via, "guestd") == 0))
		return -1;
	out_note("no kernel can be reached (%s): a fresh python3 runs it, "
		 "without the state of earlier calls",
		 err->msg);
	if (repl)
		return repl_fresh(c, sandbox, o, err);
	fd = open_code(code->p ? code->p : "", code->len, err);
	return fd < 0 ? -1 : run_fresh(c, sandbox, o, fd, err);
}

static int open_kernel(const struct guestd_at *at, const struct py_opts *o,
		       struct kline *l, struct sb_err *err)
{
	autohclient struct hclient *h = NULL;
	char *id;

	if (guestd_reach(at, -1, &h, err) < 0 ||
	    kline_find(at, o->kernel, &id, err) < 0 ||
	    kline_open(l, at, id, err) < 0)
		return -1;
	if (!o->reset || kline_restart(l, err) == 0)
		return 0;
	kline_close(l);
	return -1;
}

int py_run(struct ctl *c, const char *name, const json_t *sandbox,
	   const struct py_opts *o, const char *code, struct sb_err *err)
{
	const struct guest_opts *g = &o->guest;
	bool ssh = g->via && strcmp(g->via, "ssh") == 0;
	bool is_fresh = o->fresh || ssh || g->user || g->dir || g->env.n;
	bool repl = is_repl(o, code);
	autoguestd struct guestd_at at = { 0 };
	autobuf struct buf text = { 0 };
	struct kline line = { 0 };
	int rc;

	if (check(c, o, code, is_fresh, err) < 0)
		return -1;
	if (ssh && !o->fresh)
		out_note("over SSH a fresh python3 runs it, without the state "
			 "of earlier calls");
	if (is_fresh)
		return fresh(c, sandbox, o, code, err);
	if (!repl && take_code(o, code, &text, err) < 0)
		return -1;
	if (guestd_find(sandbox, &at, err) < 0 ||
	    open_kernel(&at, o, &line, err) < 0)
		return fall_back(c, sandbox, o, &text, repl, err);
	rc = repl ? repl_run(&line, name, o, err)
		  : py_cell(c, &line, o, &text, !reads_stdin(o, code), err);
	kline_close(&line);
	return rc;
}
