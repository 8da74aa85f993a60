/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * JupyterLab, if it is installed: a server of its own, as the sandbox's user,
 * on a UNIX socket that nobody else can open.  It is started when someone wants
 * it, and ends by itself when nobody has for an hour.  Its kernels are ours
 * (api-lab.c): it never starts one.
 */

#include "common/loop.h"
#include "guest/process.h"

/* Where it is served, without the slash at the end. */
#define LAB_PATH "/lab"

struct lab_config {
	struct loop *loop;
	struct process_table *processes;
	const char *run_dir; /* borrowed, as the next two */
	const char *program; /* NULL: look for it */
	const char *share;   /* what we add to it, or NULL */
	/* As whom it runs, and where its files are. */
	int (*make_as)(void *arg, const json_t *env, struct spawn_as **ret,
		       struct sb_err *err);
	const char *(*workspace)(void *arg);
	void *arg;
};

struct lab;
struct lab *lab_new(const struct lab_config *cfg);
/* Ends it.  Before the table of processes is freed. */
void lab_free(struct lab *lab);

/*
 * Whether it can be asked, in *ret_ready; it is started if it does not run.
 * SB_NOTFOUND when it is not installed, SB_GUEST when it does not start.
 */
int lab_want(struct lab *lab, bool *ret_ready, struct sb_err *err);
/* Its socket, and whose process must be behind it. */
const char *lab_socket(const struct lab *lab);
uid_t lab_uid(const struct lab *lab);
