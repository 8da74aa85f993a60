/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The programs that guestd was asked to run: started, fed, listened to, ended
 * and remembered.  Everything belongs to the loop's thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/loop.h"
#include "guest/output.h"
#include "guest/spawn.h"

#define PROCESS_MAX_RUNNING 512
#define PROCESS_MAX_ENDED 256
#define PROCESS_MAX_KEPT (256 * 1024 * 1024) /* bytes, of all ended ones */
#define PROCESS_MAX_STDIN (8 * 1024 * 1024)
#define PROCESS_KILL_MS 2000

struct process;
struct process_table;

/* run_dir is borrowed. */
struct process_table *process_table_new(struct loop *l, const char *run_dir,
					struct sb_err *err);
/* Forgets the processes, which go on.  After loop_run(), before httpd_free(). */
void process_table_free(struct process_table *t);

enum process_stdin {
	PROCESS_STDIN_NONE, /* /dev/null */
	PROCESS_STDIN_TEXT, /* what is given, then the end */
	PROCESS_STDIN_OPEN, /* for process_write() */
};

struct process_config {
	const struct spawn_as *as;
	const char *const *argv;
	const char *command;	     /* for people */
	const char *workspace, *cwd; /* see spawn() */
	enum process_stdin stdin_mode;
	const char *stdin_data;
	size_t stdin_len;
	int64_t timeout_ms; /* 0: none */
	bool attached;	    /* see below */
};

/*
 * Start a process; SB_BUSY when PROCESS_MAX_RUNNING run.  *ret is the caller's
 * to process_unref(), and also the table's until it is among the oldest ended.
 */
int process_start(struct process_table *t, const struct process_config *cfg,
		  struct process **ret, struct sb_err *err);
struct process *process_ref(struct process *p);
void process_unref(struct process *p);

/* Borrowed; NULL when there is none, or not any more. */
struct process *process_find(struct process_table *t, const char *id);
/* All of them, what began or ended last first: NULL begins, NULL ends. */
struct process *process_next(struct process_table *t, const struct process *p);

/* signal 0: it ended by itself with exit_code.  Strings are the process's. */
struct process_status {
	const char *command, *user;
	bool running, timed_out;
	int exit_code, signal;
	int64_t started_wall_ms, duration_ms;
};
void process_get_status(const struct process *p, struct process_status *ret);
const char *process_id(const struct process *p);
pid_t process_pid(const struct process *p);
const struct output *process_output(const struct process *p);
/* Whether no output can come any more. */
bool process_is_silent(const struct process *p);

/* SB_CONFLICT if stdin is closed, SB_BUSY if too much waits to be read. */
int process_write(struct process *p, const char *data, size_t len,
		  struct sb_err *err);
void process_close_stdin(struct process *p);

/* To the whole group; SB_CONFLICT when nothing of it is left. */
int process_signal(struct process *p, int signum, struct sb_err *err);

/*
 * Calls fn(arg) after new output, when the process has ended and when its
 * output has.  Embedded in its owner, which must hold a reference.
 */
struct process_watch {
	LIST_ENTRY(process_watch) next;
	void (*fn)(void *arg);
	void *arg;
};
void process_watch(struct process *p, struct process_watch *w);
void process_unwatch(struct process_watch *w);

/*
 * An attached process belongs to who follows its output, as one of ssh does to
 * its client.  None of its output is dropped: it waits while its follower is
 * PROCESS_AHEAD bytes behind, and of what was taken only the last
 * PROCESS_BEHIND bytes are kept for one that lost its connection.  It has ended
 * when its output has, too.  Without a follower for PROCESS_HANGUP_MS its group
 * gets SIGHUP, and it is as any other.
 */
#define PROCESS_AHEAD (1024 * 1024)
#define PROCESS_BEHIND (16 * 1024 * 1024)
#define PROCESS_HANGUP_MS 5000
void process_follow_begin(struct process *p);
/* The follower was given the output up to offset. */
void process_follow_at(struct process *p, uint64_t offset);
void process_follow_end(struct process *p);
