/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Ctrl-C as something to wait for, where work must be undone after it. */

#include "common/err.h"

/*
 * From now on SIGINT, SIGTERM and SIGHUP do not end the process but make the
 * descriptor that is returned readable; -1 on failure.
 */
int interrupt_begin(struct sb_err *err);
/* The same for the signals of a list that ends with 0. */
int interrupt_open(const int *signals, struct sb_err *err);

/*
 * Give the signals their old meaning again, so that a second Ctrl-C ends the
 * process.  Returns the one that came, 0 if none did.
 */
int interrupt_end(int fd /* takes */);
