/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Plans of input, one after the other, as people's hands do: two who type at
 * once must not get their letters mixed.  All of it is the loop's.
 */

#include "guest/guestd.h"
#include "guest/screen-module.h"

struct input_run;

/* s tells where the pointer is; err is NULL if all went well. */
typedef void (*input_done)(void *arg, const struct screen_input *s,
			   const struct sb_err *err);

/* done is called once, later, unless this fails. */
int input_run_start(struct guestd *g, struct input_plan *plan /* takes */,
		    input_done done, void *arg, struct input_run **ret,
		    struct sb_err *err);
/* Release what it has pressed; done is called with SB_CANCELLED. */
void input_run_cancel(struct input_run *r);
/* When guestd ends: before screen_free(), which ends those under way. */
void input_run_end_all(void);
