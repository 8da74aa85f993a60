/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What guestd loads when the screen is first used (guestd-screen.so): X11 and
 * the libraries of pictures cost as much memory as a third of guestd, and many
 * sandboxes never look at their screen.
 *
 * All that it does are jobs: functions that run on the thread of a struct
 * screen (screen.h), with its connection to the X server.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "guest/input.h"
#include "guest/picture.h"
#include "guest/screen-x11.h"

/* A job.  It may be called again only if it is asked for again. */
typedef int (*screen_job)(struct x11 *x, void *arg, struct sb_err *err);

#define SCREEN_TAG_LEN 48

/* A screenshot: what is wanted, and what it came to. */
struct screen_shot {
	bool has_region;
	struct rect region;
	double scale;
	int max_width, max_height; /* 0: any */
	int width, height; /* just these, in place of the three; 0: not so */
	bool cursor;
	enum picture_format format;
	int quality;
	const char *known; /* If-None-Match of who asks, may be NULL */

	int screen_width, screen_height;
	struct picture_map map;
	struct x11_cursor pointer;
	char tag[SCREEN_TAG_LEN]; /* ETag */
	bool unchanged;		  /* it is known: data is empty */
	struct buf data;	  /* the caller's to free */
};

struct screen_size {
	int width, height;
	struct x11_cursor pointer; /* told, not asked for */
};

struct screen_windows {
	json_t *list; /* the caller's */
};

enum screen_window_act { SCREEN_FOCUS, SCREEN_CLOSE };
struct screen_window {
	unsigned long id;
	enum screen_window_act act;
};

/*
 * A plan of input, run bit by bit, so that others have their turn: the job is
 * asked for again, after wait_ms, until it is done.
 */
struct screen_input {
	const struct input_plan *plan;
	bool lift; /* end it: release what it has pressed */

	bool done;
	int wait_ms;
	int screen_width, screen_height;
	struct picture_map map;	   /* from the asker's places */
	struct x11_cursor pointer; /* in the end */

	size_t at, off; /* step, and byte of its text: the job's, as the rest */
	bool checked, typing, caps;
	enum input_method way; /* of this run: INPUT_KEYS or INPUT_PASTE */
	size_t until;	       /* here the run ends */
	size_t mapped;	       /* up to here the keyboard has the characters */
	bool keys_only;	       /* for the rest of the text */
	bool deaf;	       /* the program has not pasted */
	int looks; /* whether the program has dealt with what was typed */
	long long switches;

	struct clipboard_loan *loan; /* for what is pasted */
	bool offered;		     /* the run is there */
	int64_t pasted_ms;	     /* the key was pressed then, or 0 */
	int64_t calm_ms;	     /* the program sleeps since then, or 0 */
	unsigned long requests;	     /* that have been answered */
	int lost;		     /* how often somebody else has copied */

	unsigned int buttons;
	unsigned char keys[256];  /* pressed by this plan */
	unsigned char again[256]; /* to be pressed again after typing */
};

enum clipboard_type { CLIPBOARD_TEXT, CLIPBOARD_PNG, CLIPBOARD_TYPES };
#define CLIPBOARD_MAX (16 * 1024 * 1024)

struct screen_clipboard {
	enum clipboard_type type;
	bool set;	 /* data is to be put there; else it is read */
	bool found;	 /* there is something of that type */
	struct buf data; /* the caller's to free */
};

/* What the module has: "screen_module" is its only symbol. */
struct screen_module {
	int (*open)(const char *display, const unsigned char *cookie,
		    struct x11 **ret, struct sb_err *err);
	void (*close)(struct x11 *x);
	int (*fd)(const struct x11 *x);
	bool (*dead)(struct x11 *x);

	screen_job shot;      /* struct screen_shot */
	screen_job size;      /* struct screen_size */
	screen_job resize;    /* struct screen_size; paints the wallpaper */
	screen_job windows;   /* struct screen_windows */
	screen_job window;    /* struct screen_window */
	screen_job wallpaper; /* NULL */
	screen_job input;     /* struct screen_input */
	void (*input_end)(struct screen_input *s); /* by any thread */
	screen_job clipboard;			   /* struct screen_clipboard */
};

/* For the files of the module. */
int screen_shot_job(struct x11 *x, void *arg, struct sb_err *err);
int screen_windows_job(struct x11 *x, void *arg, struct sb_err *err);
int screen_window_job(struct x11 *x, void *arg, struct sb_err *err);
int screen_input_job(struct x11 *x, void *arg, struct sb_err *err);
void screen_input_end(struct screen_input *s);
int screen_clipboard_job(struct x11 *x, void *arg, struct sb_err *err);
