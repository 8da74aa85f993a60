/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The messages of the control channel, taken apart and checked before any of
 * them is acted on.
 */

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"

#define MESSAGE_MAX_MOUNTS 8
#define MESSAGE_MAX_ORIGINS 16
#define MESSAGE_MAX_ENTROPY 64

struct message_mount {
	const char *tag;
	const char *path;
	bool readonly;
};

/* "personalise": who this machine is from now on. */
struct message_personalise {
	json_t *json; /* a reference; owns what the others borrow */
	const char *id;
	const char *token;
	const char *hostname;
	const json_t *env; /* object of strings, may be NULL */
	size_t nmounts;
	struct message_mount mount[MESSAGE_MAX_MOUNTS];
	size_t nentropy;
	unsigned char entropy[MESSAGE_MAX_ENTROPY];
	int64_t time_ms;	/* 0: not said */
	const char *workspace;	/* NULL: not said, and so on */
	const char *server_log; /* a file name */
	int server_port;	/* 0: not said */
	const char *display;	/* "1280x800" or "none" */
	const char *jupyter_log;
	int jupyter_port; /* 0: none */
	bool debug;
};

/* On success message_personalise_done() is due. */
int message_parse_personalise(const json_t *msg,
			      struct message_personalise *ret,
			      struct sb_err *err);
void message_personalise_done(struct message_personalise *p);

/* {"type":"error",…} */
json_t *message_error(const struct sb_err *err);
