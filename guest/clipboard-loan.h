/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The clipboard, for as long as something is typed through it: a thread of its
 * own keeps what was there, hands out one text after the other, knows when the
 * program that pastes has read it, and puts back what was there.
 */

#include <X11/Xlib.h>

#include "guest/clipboard.h"

struct clipboard_loan;

enum loan_state {
	LOAN_BUSY, /* with what it was told last */
	LOAN_READY,
	LOAN_OVER, /* what was there is there again */
	LOAN_LOST, /* somebody else has copied something, or X is gone */
};

/* What has become of the text that was offered last. */
struct loan_news {
	enum loan_state state;
	bool asked;  /* the program has begun to read it */
	bool taken;  /* and has read it, as often as it asked */
	bool others; /* somebody else has read it: perhaps who keeps a list */
	/* Of any kind, when it was asked to answer; and those since the text. */
	unsigned long requests, after;
};

/* primary: what is marked, too; terminals paste that. */
int clipboard_loan_new(const char *display, bool primary,
		       struct clipboard_loan **ret, struct sb_err *err);
void clipboard_loan_free(struct clipboard_loan *l);

/*
 * These are done when it is no longer busy.  Hand out this text, which the
 * client that has this window is to read; put back what was there, which
 * clipboard_loan_free() does too.  Any thread may call them.
 */
void clipboard_loan_offer(struct clipboard_loan *l, const char *text,
			  size_t len, Window to);
void clipboard_loan_return(struct clipboard_loan *l);
/* Answer all who wait for an answer. */
void clipboard_loan_answer(struct clipboard_loan *l);
void clipboard_loan_look(struct clipboard_loan *l, struct loan_news *ret);
