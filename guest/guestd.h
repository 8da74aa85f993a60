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
	struct terminal_table *terminals;
	struct static_site *terminal_page;
	const char *run_dir;
	char *languages_file; /* JSON, see toolchain.h */
	char *kernelspecs;    /* those of the bundle */
	bool own_log;	      /* not one that was asked for */
	const char *listen;
	int port;
	int64_t started_ms; /* monotonic */
	pid_t pid;
	struct auth *auth;
	char *sandbox;	 /* its id, NULL until personalised */
	json_t *message; /* what made us that, without its secrets */
	json_t *receipt;
	json_t *languages; /* looked for when first asked */
};
