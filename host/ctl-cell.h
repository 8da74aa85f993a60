/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A cell that runs in a kernel: its output, its questions, its end. */

#include <termios.h>

#include "host/ctl-cell-out.h"
#include "host/ctl-kernel.h"
#include "host/ctl-show.h"

struct cell_runner {
	struct kline *line;
	int signal_fd; /* of interrupt_open() */
	struct cell_out out;
	struct show show;
	json_t *outputs;  /* for --json; else NULL */
	bool input;	  /* stdin may be read, for input() */
	const char *file; /* where the code is from; NULL: nowhere */
	long long timeout_ms;
	struct buf typed; /* of stdin, not asked for yet */
};

enum cell_end {
	CELL_OK,
	CELL_FAILED,  /* with an exception */
	CELL_TIMEOUT, /* was interrupted, after timeout_ms */
	CELL_LEFT,    /* it may still run: see .signal */
	CELL_DIED,    /* the kernel did */
};

/* How it ended. */
struct cell_result {
	enum cell_end end;
	int signal;    /* that made us leave it or, with CELL_FAILED, end it */
	bool begun;    /* others' cells may have come before it */
	bool exit;     /* exit() was called */
	json_t *error; /* ename, evalue, traceback; or NULL */
	json_t *typed; /* the result for result_parse(); or NULL */
	long long number;
};
void cell_result_done(struct cell_result *r);

void cell_runner_init(struct cell_runner *x, struct kline *l, bool json);
void cell_runner_done(struct cell_runner *x);

/* The traceback, on stderr. */
void cell_print_error(struct cell_runner *x, const json_t *error);

/* Run code (UTF-8) to its end.  -1 when the line to the kernel was lost, or
 * what it shows cannot be written. */
int cell_run(struct cell_runner *x, const char *code, size_t len,
	     struct cell_result *ret, struct sb_err *err);
