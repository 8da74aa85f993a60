/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Terminals: programs on a pty of their own, which outlive those who look at
 * them.  Everything belongs to the loop's thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/loop.h"
#include "guest/scrollback.h"
#include "guest/spawn.h"

#define TERMINAL_MAX_RUNNING 64
#define TERMINAL_MAX_ENDED 16
#define TERMINAL_MAX_SIZE 1000 /* columns, rows */
#define TERMINAL_KILL_MS 2000  /* from SIGHUP to SIGKILL */
/* Input that waits to be read; above it, give no more until on_room. */
#define TERMINAL_INPUT_HIGH (64 * 1024)

struct terminal;
struct terminal_table;

struct terminal_table *terminal_table_new(struct loop *l);
/* Hangs up on all of them.  After loop_run(), before httpd_free(). */
void terminal_table_free(struct terminal_table *table);

struct terminal_config {
	const struct spawn_as *as;
	const char *const *argv;
	const char *command;	     /* for people */
	const char *workspace, *cwd; /* see spawn() */
	int cols, rows;
};

/*
 * SB_BUSY when TERMINAL_MAX_RUNNING run.  *ret is the table's, and goes when it
 * is among the oldest ended; who keeps it takes a reference.
 */
int terminal_start(struct terminal_table *table,
		   const struct terminal_config *cfg, struct terminal **ret,
		   struct sb_err *err);
struct terminal *terminal_ref(struct terminal *t);
void terminal_unref(struct terminal *t);

/* Borrowed; NULL when there is none, or not any more. */
struct terminal *terminal_find(struct terminal_table *table, const char *id);
/* All of them, what began or ended last first: NULL begins, NULL ends. */
struct terminal *terminal_next(struct terminal_table *table,
			       const struct terminal *t);

/* signal 0: it ended by itself with exit_code.  Strings are the terminal's. */
struct terminal_status {
	const char *id, *command, *user;
	pid_t pid;
	int cols, rows;
	bool running;
	int exit_code, signal;
	int viewers;
	int64_t started_wall_ms;
};
void terminal_get_status(const struct terminal *t, struct terminal_status *ret);
const struct scrollback *terminal_output(const struct terminal *t);

/* Tells all that look at it.  SB_CONFLICT when it has ended, as below. */
int terminal_resize(struct terminal *t, int cols, int rows, struct sb_err *err);
/* As if typed; *ret_waiting is how much was not read yet. */
int terminal_write(struct terminal *t, const char *data, size_t len,
		   size_t *ret_waiting, struct sb_err *err);
/* To what runs in the foreground. */
int terminal_signal(struct terminal *t, int signum, struct sb_err *err);
/* Hang up, and soon kill what is left of the session. */
void terminal_kill(struct terminal *t);

/*
 * One that looks at a terminal; embedded in its owner, which holds a reference.
 * One that holds is waited for: no more is read than it can still get from the
 * scrollback.  Callbacks may end this watch, but no other one.
 */
struct terminal_watch {
	LIST_ENTRY(terminal_watch) next;
	bool holds;
	uint64_t at; /* the offset up to which it has taken the output */
	void (*on_news)(void *arg); /* output, or the end */
	void (*on_resize)(void *arg);
	void (*on_room)(void *arg); /* for input */
	void *arg;
};
void terminal_watch(struct terminal *t, struct terminal_watch *w);
void terminal_unwatch(struct terminal *t, struct terminal_watch *w);
/* It has taken more, or holds no longer. */
void terminal_went_on(struct terminal *t);
