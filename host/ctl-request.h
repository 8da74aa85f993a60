/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The body of POST /v1/sandboxes, from the options of `sandboxctl up`. */

#include <jansson.h>

#include "common/err.h"
#include "host/cmd.h"

/* What was not given is 0 or NULL: sandboxd knows the defaults. */
struct request {
	const char *name;
	const char *template, *image;
	long long cpus;
	unsigned long long memory, disk; /* bytes */
	struct strlist mounts, ports, env, labels;
	const char *env_file;
	long long ttl; /* seconds */
	const char *network, *restart;
	bool auto_ports, preserve, no_wait;
};

int request_body(const struct request *r, json_t **ret, struct sb_err *err);

/* "HOST:GUEST" or "GUEST" (HOST 0); option names it in the error. */
int request_port(const char *option, const char *text, json_t **ret,
		 struct sb_err *err);

/*
 * Put "KEY=VALUE" into obj; "KEY" alone takes the value from our environment
 * if inherit, and is wrong if not.
 */
int request_pair(const char *option, const char *text, bool inherit,
		 json_t *obj, struct sb_err *err);
