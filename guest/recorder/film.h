/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A film that is there as far as it was recorded: MP4 in fragments, each of
 * which can be played once it is written, whatever happens to the rest.  The only
 * place that knows libav.
 */

#include <stdint.h>

#include "common/err.h"
#include "guest/recorder/grab.h"

struct film_config {
	const char *path; /* made anew */
	int width, height;
	int fps;     /* at most; pictures come when they come */
	int quality; /* x264's qp: 0 best, 51 worst */
	const char *preset;
};

struct film;
int film_open(const struct film_config *cfg, struct film **ret,
	      struct sb_err *err);

/* A picture at this time, in ms from the begin; times only grow.  With one of
 * another size the film goes on in that size. */
int film_add(struct film *f, const struct grab_picture *picture, int64_t ms,
	     struct sb_err *err);
/* The last one is still there: what came before it now has its length. */
int film_still(struct film *f, int64_t ms, struct sb_err *err);
/* Write what there is as a fragment. */
int film_flush(struct film *f, struct sb_err *err);
/* Whether there is something to flush. */
bool film_is_behind(const struct film *f);

/* Bytes and pictures so far. */
int64_t film_bytes(const struct film *f);
int64_t film_pictures(const struct film *f);

/* Write the rest.  The film is freed in any case. */
int film_close(struct film *f, int64_t ms, struct sb_err *err);

/* Put a film that is complete into one piece, with its index at the front, so
 * that players know its length and find any place in it at once. */
int film_join(const char *path, struct sb_err *err);
