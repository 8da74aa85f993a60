/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the files of processes share:
 *   process.c        their life: start, output, end, what is remembered
 *   process-stdin.c  what they are given to read
 *   process-attach.c those that belong to their follower
 */

#include <uv.h>

#include "guest/process.h"

#define PROCESS_ID_BYTES 6
#define PROCESS_READ_SIZE (64 * 1024)

enum { PIPE_IN, PIPE_OUT, PIPE_ERR, NPIPES };

/*
 * RUNNING → ENDING when it was reaped → ENDED when its output ended or
 * GRACE_MS passed.  Output of what it left behind is still read then.
 */
enum state { RUNNING, ENDING, ENDED };

struct process {
	TAILQ_ENTRY(process) next;
	struct process_table *table; /* NULL: forgotten */
	int refs;		     /* ours, the table's, one an open pipe */
	char id[2 * PROCESS_ID_BYTES + 1];
	char *command, *user;
	pid_t pid;
	struct cgroup *group; /* NULL: none */
	enum state state;
	bool timed_out;
	int wait_status;
	int64_t started_ms, ended_ms, started_wall_ms;
	uv_pipe_t pipe[NPIPES];
	bool open[NPIPES];
	bool stdin_ends; /* when what is queued was read */
	struct output *output;
	struct loop_timer *timer; /* timeout, then kill, then grace */
	LIST_HEAD(, process_watch) watches;
	bool signalled; /* somebody wants it to end */
	struct {
		bool on, paused;
		int followers;
		uint64_t taken; /* offset in the merged output */
		struct loop_timer *hangup;
	} attach;
};

TAILQ_HEAD(process_list, process);

struct process_table {
	struct loop *loop;
	char *dir;
	uv_signal_t sigchld;
	struct process_list all; /* what began or ended last comes first */
	int nrunning, nended;
	char buf[PROCESS_READ_SIZE];
};

void process_close_pipe(struct process *p, int i);
/* Read its output, or leave it in the pipes. */
void process_read(struct process *p, bool on);

void process_attach(struct process *p);
/* More output was added. */
void process_attach_grown(struct process *p);
