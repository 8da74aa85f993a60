/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the files of the job of input share: input-xtst.c runs a plan,
 * input-type.c types a text, input-paste.c some of it by the clipboard. */

#include <X11/Xlib.h>

#include "guest/input-map.h"
#include "guest/screen-module.h"

#define HANDS_CHUNK 64 /* characters, or steps, before others have their turn */

struct hands {
	struct x11 *x;
	Display *dpy;
	struct screen_input *s;
	struct key_map map;
};

/* What is pressed is released in the end, unless it is to be kept. */
void hands_press(struct hands *h, KeyCode code, bool keep);
void hands_release(struct hands *h, KeyCode code);
KeyCode hands_shift_key(const struct hands *h);
/* INPUT_KEY_DOWN and INPUT_KEY_UP. */
int hands_chord(struct hands *h, const struct input_step *t,
		struct sb_err *err);

/* Some of the text; moves on to the next step after the last character. */
int hands_type(struct hands *h, const char *text, struct sb_err *err);
/* Press modifiers again that somebody held before. */
void hands_end_typing(struct hands *h);

/* Some of pasting the bytes of the run that is under way: 1 if they have been
 * read, 0 if that is not so yet, -1 with SB_TIMEOUT if nobody wants them. */
int hands_paste(struct hands *h, const char *text, struct sb_err *err);
/* After a text: put back what was in the clipboard, which the next step may
 * paste.  False if that is not so yet. */
bool hands_end_paste(struct hands *h);
