/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Connection files: with one, a Jupyter client on the host speaks ZeroMQ with a
 * kernel in a sandbox, through five forwarded ports.  Ours are in the sandbox's
 * own folder, and vanish with it.
 */

#include <jansson.h>

#include "common/err.h"
#include "host/ctl.h"

struct connfile {
	const json_t *sandbox;
	const char *kernel; /* ID or NAME; NULL: the default kernel */
	const char *file;   /* NULL: ours */
};

/* The path, once it is checked that kernel can be one; the caller's. */
int connfile_path(const struct connfile *f, char **ret, struct sb_err *err);

/*
 * Make kernel, ports, forwards and file as far as they are not there.  *ret is
 * what the file has.
 */
int connfile_make(struct ctl *c, const struct connfile *f, const char *path,
		  json_t **ret, struct sb_err *err);

/* Undo that; the kernel goes on.  SB_NOTFOUND if there is no such file. */
int connfile_remove(struct ctl *c, const struct connfile *f, const char *path,
		    struct sb_err *err);
