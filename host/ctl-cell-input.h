/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a cell asks with input() and getpass(), answered from our stdin. */

#include <stdbool.h>
#include <termios.h>

#include "host/ctl-cell.h"

struct cell_input {
	struct cell_runner *x;
	bool asked, hidden;
	struct termios saved; /* to be restored if hidden */
};

void cell_input_init(struct cell_input *i, struct cell_runner *x);
void cell_input_done(struct cell_input *i);

/* The content of an input_request. */
void cell_input_ask(struct cell_input *i, const json_t *content);
/* The cell was interrupted and waits no longer. */
void cell_input_drop(struct cell_input *i);

/* What to wait for, -1 while nothing was asked; then read. */
int cell_input_fd(const struct cell_input *i);
void cell_input_read(struct cell_input *i);
