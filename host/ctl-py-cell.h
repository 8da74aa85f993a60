/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One cell from the command line. */

#include "host/ctl-kernel.h"
#include "host/ctl-py.h"

/* Run it; input: our stdin is for what it asks.  The exit status, or -1. */
int py_cell(struct ctl *c, struct kline *l, const struct py_opts *o,
	    const struct buf *code, bool input, struct sb_err *err);
