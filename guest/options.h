/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What guestd is told when it is started. */

#include <stdbool.h>
#include <stddef.h>

#define MAX_ORIGINS 16

/* Strings are argv's. */
struct options {
	const char *listen;
	long long port;
	const char *token_file;
	bool no_auth;
	const char *control;
	const char *run_dir;
	const char *log;
	bool debug;
	const char *languages;
	const char *share;
	const char *jupyterlab;
	long long jupyter_port;
	long long max_kernels;
	long long journal_mib;
	long long cull_s;
	bool warm_kernel;
	const char *display, *display_of;
	const char *origins[MAX_ORIGINS + 1];
	size_t norigins;
};

/* Sets the defaults, too.  Ends the program when it is not used well. */
void options_parse(int argc, char **argv, struct options *ret);
