/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Descriptors 1 and 2 of the process, for os.system, C libraries and children:
 * each becomes a pipe whose other end is ours.  Whoever adds text to the outbox
 * first takes what lies in the pipes, so that the order is kept.
 */

#include "guest/kernel/outbox.h"
#include "guest/kernel/utf8-text.h"

struct capture {
	int in[2];   /* our ends of the pipes of 1 and 2; -1 at their end */
	int real[2]; /* what 1 and 2 were before */
	struct utf8_rest rest[2];
	struct buf text; /* scratch */
};

int capture_start(struct capture *c, struct sb_err *err);

/* With the outbox locked: move what the pipes hold now.  finish: a character
 * that is not whole is not waited for. */
void capture_drain(struct capture *c, struct outbox *box, bool finish);

/* Give 1 and 2 back what they were. */
void capture_stop(struct capture *c);
