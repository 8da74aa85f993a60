/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * sandboxctl's end of the line to sandboxd: connect to its UNIX socket, start
 * it if none runs, ask.  Of several sandboxctl that start one at the same time
 * one wins (sandboxd holds a lock); the others connect to its daemon.
 */

#include <jansson.h>

#include "common/err.h"
#include "common/hclient.h"
#include "host/ctl.h"

#define DAEMON_START_MS 15000
#define DAEMON_CALL_MS 60000

/* Connect, if the daemon runs; SB_MISSING if not. */
int daemon_connect(struct ctl *c, struct sb_err *err);
/* Connect, after starting the daemon if need be. */
int daemon_open(struct ctl *c, struct sb_err *err);
void daemon_close(struct ctl *c);
/* Whether trying again can help: the daemon died or does not answer. */
bool daemon_is_lost(const struct sb_err *err);

/* What GET /health says of the daemon we are connected to. */
int daemon_health(struct ctl *c, json_t **ret, struct sb_err *err);

/* daemon_open() and one request; ret may be NULL. */
int daemon_call(struct ctl *c, const char *method, const char *path,
		const json_t *body, json_t **ret, struct sb_err *err);

/* A path with name as one escaped segment: prefix, name, suffix. */
char *daemon_path(const char *prefix, const char *name, const char *suffix);

#define DAEMON_SANDBOXES "/v1/sandboxes/"
#define DAEMON_IMAGES "/v1/images/"

/* The sandbox of that name or id. */
int daemon_sandbox(struct ctl *c, const char *name, json_t **ret,
		   struct sb_err *err);
