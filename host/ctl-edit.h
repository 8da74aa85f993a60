/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Lines that are typed on a terminal: editing, history and completion, by
 * libedit.  That is loaded when the first line is asked for: no other command
 * needs it, and loading it takes longer than most of them.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/util.h"

struct edit;

/* What the word before the cursor could become. */
struct edit_matches {
	char **v; /* printable; owned by the list */
	size_t n;
	size_t back; /* characters before the cursor that they replace */
};
void edit_matches_done(struct edit_matches *m);

enum edit_wait { EDIT_TYPED, EDIT_STOP, EDIT_FAIL };

struct edit_ops {
	/* Until something is typed. */
	enum edit_wait (*wait)(void *arg);
	/* Tab: text is the line up to the cursor. */
	void (*complete)(void *arg, const char *text, size_t len,
			 struct edit_matches *ret);
};

/* history: the file that earlier lines are in; NULL: none. */
int edit_open(const char *history, const struct edit_ops *ops, void *arg,
	      struct edit **ret, struct sb_err *err);
/* Writes the history. */
void edit_close(struct edit *e);

enum edit_end { EDIT_LINE, EDIT_EOF, EDIT_STOPPED };
/*
 * Read a line, which begins with indent, onto line, without its end.
 * EDIT_STOPPED when wait() ended it.
 */
enum edit_end edit_line(struct edit *e, const char *prompt, const char *indent,
			struct buf *line);
