/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The clipboard: what was copied (CLIPBOARD) and what is marked (PRIMARY). */

#include "guest/screen-module.h"

enum { SELECTION_CLIPBOARD, SELECTION_PRIMARY, SELECTIONS };
extern const char *const clipboard_selections[SELECTIONS];

/* What a selection has, by its types. */
struct clipboard_goods {
	bool has[CLIPBOARD_TYPES];
	struct buf data[CLIPBOARD_TYPES];
};
void clipboard_goods_done(struct clipboard_goods *g);

/*
 * Be who has copied something, until somebody else copies: a thread with a
 * connection of its own hands it out to who pastes.
 */
int clipboard_own(const char *display, enum clipboard_type type,
		  struct buf *data /* takes */, struct sb_err *err);

/* What a selection has of a type, from who owns it; its every word must come
 * within limit_ms. */
int clipboard_read(struct x11 *x, int selection, enum clipboard_type type,
		   int limit_ms, struct buf *out, bool *found,
		   struct sb_err *err);

/* Names of the targets under which data of a type is asked for, the best
 * first; ends with NULL. */
#define CLIPBOARD_TARGETS 6
extern const char *const clipboard_targets[CLIPBOARD_TYPES][CLIPBOARD_TARGETS];
