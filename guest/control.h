/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The guest's end of the control channel: a virtio-serial port on which the
 * host speaks first, one JSON object a line, and gets one back for each.  The
 * host may leave and come back at any time.
 */

#include <jansson.h>
#include <stddef.h>

#include "common/loop.h"

#define CONTROL_PORT "org.sandbox.control"
#define CONTROL_MAX_LINE (64 * 1024)

/* The answer to a message (a JSON object); the channel's.  Never NULL. */
typedef json_t *(*control_handler)(void *arg, const json_t *msg);

struct control;

/*
 * Serve the port at path (NULL: the port named CONTROL_PORT); waits for it if
 * it is not there yet, or goes away.
 */
struct control *control_new(struct loop *l, const char *path,
			    control_handler handler, void *arg);
/* The same on descriptors that are open already (both taken). */
struct control *control_new_fds(struct loop *l, int in_fd, int out_fd,
				control_handler handler, void *arg);
void control_free(struct control *c);

/* The answer to one line of any bytes; the caller's. */
json_t *control_answer(const char *line, size_t len, control_handler handler,
		       void *arg);
