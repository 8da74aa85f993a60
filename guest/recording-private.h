/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What recording*.c share: those that run, and the films that are there. */

#include <sys/queue.h>

#include "common/util.h"
#include "guest/recording.h"

struct wait;

struct recordings {
	struct recordings_config cfg;
	char *program;
	char *dir; /* the films'; known once the account is */
	LIST_HEAD(, recording) running;
	json_t *unsaved; /* notes by name for which the disk had no room */
};

struct recording {
	LIST_ENTRY(recording) next;
	struct recordings *all;
	char *name;
	pid_t pid;
	int in; /* closing it ends the recording */
	struct fdwatch *watch;
	struct buf line;
	json_t *told;	/* by the recorder: the newest of each figure */
	char junk[200]; /* the last line that was none of that */
	bool begun, stopping, ended;
	int64_t started_ms; /* since 1970; until it has begun: when asked for */
	int64_t begun_ms;   /* the same, but not moved when the clock is set */
	LIST_HEAD(, wait) waits;
};

/* Know the folder of the films. */
int recordings_locate(struct recordings *all, struct sb_err *err);
int recording_check_name(const char *name, struct sb_err *err);
/* One that is free; the caller's. */
char *recording_new_name(struct recordings *all);
/* Remove what recorders that were killed while they joined a film left. */
void recordings_sweep(void);
/* The same for one whose recorder has ended. */
void recording_drop_part(const struct recordings *all, const char *name);
/* What a recorder tells of its film, and nothing else. */
void recording_put_figures(json_t *to, const json_t *from);
/* Write down how it ended, beside the film. */
void recording_note(const struct recording *r, const char *error);
