/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The connection file: where the kernel listens, and the key. */

#include "common/err.h"
#include "guest/kernel/wire.h"

enum channel {
	CHANNEL_SHELL,
	CHANNEL_CONTROL,
	CHANNEL_STDIN,
	CHANNEL_IOPUB,
	CHANNEL_HB,
	CHANNELS
};

/* "shell", "control", … */
const char *channel_name(enum channel c);

struct connection {
	char transport[8]; /* tcp or ipc */
	char ip[200];	   /* or the path that ipc sockets begin with */
	int ports[CHANNELS];
	struct wire_key key;
};

/* Read and check the file. */
int connection_read(const char *path, struct connection *ret,
		    struct sb_err *err);

/* The same file with the ports that c has, in one step. */
int connection_write(const char *path, const struct connection *c,
		     struct sb_err *err);

/* "tcp://127.0.0.1:1234"; port 0 becomes the wildcard. */
void connection_url(const struct connection *c, enum channel ch, char *out,
		    size_t size);
