/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the parts of guestd share.  All of it belongs to the loop's thread. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/httpd.h"
#include "common/loop.h"

#define GUESTD_USER "user"
#define GUESTD_WORKSPACE "/home/user/workspace"

struct guestd {
	struct loop *loop;
	struct httpd *httpd;
	struct control *control;
	struct process_table *processes;
	struct gateway *gateway;
	struct jupyter_sessions *sessions; /* made when first asked for */
	struct lab *lab;
	struct terminal_table *terminals;
	struct static_site *terminal_page, *vnc_page;
	struct screen *screen;
	struct desktop *desktop;
	struct recordings *recordings;
	const char *run_dir;
	char *languages_file; /* JSON, see toolchain.h */
	char *kernelspecs;    /* those of the bundle */
	char *jupyter_share;  /* the folder of that */
	struct child_log *kernel_log, *desktop_log;
	bool own_log; /* not one that was asked for */
	const char *listen;
	const char *display; /* the option, may be NULL */
	/* Web origins that may ask, and NULL: first those of the options. */
	const char **origins;
	size_t nown_origins;
	int port;
	int jupyter_port;   /* served as well; 0: none */
	int64_t started_ms; /* monotonic */
	pid_t pid;
	struct auth *auth;
	char *sandbox;	 /* its id, NULL until personalised */
	json_t *message; /* what made us that, without its secrets */
	json_t *receipt;
	json_t *languages; /* looked for when first asked */
};
