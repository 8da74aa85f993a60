/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What models that use computers ask for, as it comes from them: Anthropic's
 * computer_20251124 and before, and OpenAI's computer use; one action, or
 * several, in the body of a request or of the block that they are sent in.
 */

#include "guest/input.h"

struct action {
	struct input_plan plan; /* the caller's to input_plan_done() */
	bool position;		/* where the pointer is was asked for */
	bool zoom;		/* was asked for last */
	int region[4]; /* of zoom: x0, y0, x1, y1, as the model sees it */
};

#define ACTION_MAX 100 /* in one request */

/* Forget fields that are null: programs that make a call of all the fields
 * that there are mean those that are not given. */
void action_drop_nulls(json_t *body);
int action_parse(const json_t *body, struct action *ret, struct sb_err *err);
