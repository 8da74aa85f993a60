/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the files of terminals share:
 *   terminal.c     their life: start, kill, end, what is remembered
 *   terminal-io.c  their pty: what is read, typed, resized, signalled
 */

#include <uv.h>

#include "guest/terminal.h"

#define TERMINAL_ID_BYTES 6
#define TERMINAL_READ_SIZE (16 * 1024)
/* Read at the end, whoever is behind. */
#define TERMINAL_MAX_LAST (96 * 1024)

/*
 * RUNNING → ENDING when the leader has ended → ENDED when its last output is
 * read.  While it is killed, the leader is not reaped, so that its number
 * stays the session's.
 */
enum terminal_state { RUNNING, ENDING, ENDED };

struct terminal {
	TAILQ_ENTRY(terminal) next;
	struct terminal_table *table; /* NULL: forgotten */
	int refs;
	char id[2 * TERMINAL_ID_BYTES + 1];
	char *command, *user;
	pid_t pid;
	int cols, rows;
	enum terminal_state state;
	int wait_status;
	int64_t started_wall_ms;
	int master; /* -1 when it has ended */
	uv_poll_t *poll;
	int polled;   /* the events */
	bool hung_up; /* nobody has the other end open */
	struct scrollback out;
	struct buf in;
	struct loop_timer *timer; /* of a kill, then grace */
	int kill_ms;		  /* since SIGHUP; 0: not asked for */
	LIST_HEAD(, terminal_watch) watches;
};

TAILQ_HEAD(terminal_list, terminal);

struct terminal_table {
	struct loop *loop;
	uv_signal_t sigchld;
	struct terminal_list all;
	int nrunning, nended;
	char buf[TERMINAL_READ_SIZE];
};

/* In terminal-io.c: begin and end with the pty, read it to its end. */
void terminal_open_io(struct terminal *t, int master /* takes */);
void terminal_close_io(struct terminal *t);
void terminal_read_last(struct terminal *t);

/* Tell those who look: of output or the end. */
void terminal_tell_news(struct terminal *t);
/* All has been read of one whose leader was reaped. */
void terminal_end(struct terminal *t);
