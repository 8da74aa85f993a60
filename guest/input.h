/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What is to be done with mouse and keyboard: steps, made of a request by
 * input-parse.c and action.c, run by input-run.c, bit by bit, with the jobs of
 * input-xtst.c.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

enum input_kind {
	INPUT_MOVE,
	INPUT_DOWN,
	INPUT_UP,
	INPUT_KEY_DOWN,
	INPUT_KEY_UP,
	INPUT_TYPE,
	INPUT_WAIT,
};

/* Buttons as X numbers them. */
enum input_button {
	BUTTON_LEFT = 1,
	BUTTON_MIDDLE,
	BUTTON_RIGHT,
	BUTTON_SCROLL_UP,
	BUTTON_SCROLL_DOWN,
	BUTTON_SCROLL_LEFT,
	BUTTON_SCROLL_RIGHT,
	BUTTON_BACK,
	BUTTON_FORWARD,
};

struct input_step {
	enum input_kind kind;
	int x, y;
	int button;
	int ms;	    /* of INPUT_WAIT */
	bool keep;  /* stays pressed after the request */
	char *text; /* a chord, or what to type */
};

#define INPUT_MAX_STEPS 20000
#define INPUT_MAX_TEXT (1024 * 1024) /* bytes, of one request */
#define INPUT_MAX_WAIT_MS (300 * 1000)
#define INPUT_MAX_CHORD 256

enum input_method { INPUT_AUTO, INPUT_KEYS, INPUT_PASTE };

struct input_plan {
	struct input_step *steps;
	size_t n;
	long long ms; /* of all waits */
	size_t text;  /* bytes of all texts */
	enum input_method method;
	/* The size of the screen as who asks believes it to be; 0: as it is. */
	int width, height;
};
void input_plan_done(struct input_plan *p);

/* Add to a plan; SB_LIMIT if it becomes too much. */
int input_move(struct input_plan *p, int x, int y, struct sb_err *err);
int input_button(struct input_plan *p, enum input_kind kind, int button,
		 bool keep, struct sb_err *err);
int input_key(struct input_plan *p, enum input_kind kind, const char *chord,
	      bool keep, struct sb_err *err);
int input_type(struct input_plan *p, const char *text, struct sb_err *err);
int input_wait(struct input_plan *p, long long ms, struct sb_err *err);
int input_click(struct input_plan *p, int button, int times,
		struct sb_err *err);
/* A chord pressed and released, that many times. */
int input_press(struct input_plan *p, const char *chord, long long times,
		struct sb_err *err);
/* amount notches, to "up", "down", "left" or "right". */
int input_scroll(struct input_plan *p, const char *direction, long long amount,
		 struct sb_err *err);

/* "left", "wheel", 3, ...: SB_INVALID for others. */
int input_parse_button(const json_t *j, int *ret, struct sb_err *err);
/* [x, y] or {"x":, "y":}; fractions are cut off. */
int input_parse_point(const json_t *j, const char *name, int *x, int *y,
		      struct sb_err *err);
/* Seconds, with fractions, up to INPUT_MAX_WAIT_MS. */
int input_parse_seconds(const json_t *j, const char *name, long long *ret_ms,
			struct sb_err *err);

/* The bodies of /v1/screen/mouse and /v1/screen/keyboard. */
int input_parse_mouse(const json_t *body, struct input_plan *p,
		      struct sb_err *err);
int input_parse_keyboard(const json_t *body, struct input_plan *p,
			 struct sb_err *err);
