/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Films of the screen.  Each is made by a sandbox-recorder of its own, as the
 * sandbox's user, into the folder ~/recordings; it ends when we do.  All of it belongs
 * to the loop's thread.
 */

#include <jansson.h>
#include <stdbool.h>

#include "common/loop.h"
#include "guest/spawn.h"

#define RECORDING_MAX_RUNNING 4
#define RECORDING_NAME_MAX 64

struct recordings;
struct recording;

struct recordings_config {
	struct loop *loop;
	const char *program; /* path of sandbox-recorder; copied */
	/* As whom, with the variables of the display; fails if there is none. */
	int (*make_as)(void *arg, struct spawn_as **ret, struct sb_err *err);
	void *arg;
};

struct recordings *recordings_new(const struct recordings_config *cfg);
/* Those that run are told to end. */
void recordings_free(struct recordings *all);

struct recording_params {
	const char *name; /* NULL: one is made */
	int fps;
	bool cursor;
	long long max_seconds, max_bytes; /* 0: none */
};

/* SB_CONFLICT if there is one of that name, SB_BUSY if too many run. */
int recording_start(struct recordings *all, const struct recording_params *p,
		    struct recording **ret, struct sb_err *err);
/* One that runs; name NULL: the latest. */
int recording_find(struct recordings *all, const char *name,
		   struct recording **ret, struct sb_err *err);
/* Tell it to end; its film is whole when it has. */
void recording_stop(struct recording *r);

/*
 * Call fn once: when it has begun, or (until_end) when it has ended; either way
 * err is NULL if all went well.  The recording is gone after the latter.
 */
void recording_wait(struct recording *r, bool until_end,
		    void (*fn)(void *arg, json_t *model,
			       const struct sb_err *err),
		    void *arg);

/* For the API; the caller's. */
json_t *recording_json(const struct recording *r);

/* All films, those that are being made among them, the oldest first. */
int recordings_list(struct recordings *all, json_t **ret, struct sb_err *err);
/* One of them. */
int recordings_get(struct recordings *all, const char *name, json_t **ret,
		   struct sb_err *err);
/* The latest film's name, or NULL; the caller's. */
char *recordings_latest(struct recordings *all);
/* Its bytes: a descriptor, the caller's. */
int recordings_open(struct recordings *all, const char *name, int *ret_fd,
		    struct sb_err *err);
/* SB_CONFLICT while it is being made. */
int recordings_delete(struct recordings *all, const char *name,
		      struct sb_err *err);
