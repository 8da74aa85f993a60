/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the files of the extension module share: all of them have the GIL. */

#include "guest/kernel/python.h"

#include "guest/kernel/kernel.h"

/* The kernel of this process; NULL with RuntimeError before start(). */
struct kernel *core_kernel(void);

/* Whether this process is a fork of the one that has the kernel. */
bool core_forked(void);

/*
 * Wait, without the GIL, until the outbox has room.  -1 when a signal's handler
 * raised, KeyboardInterrupt for one.
 */
int core_wait_room(struct kernel *k);

/* Let go of the GIL until fd is readable; -1 when a handler raised. */
int core_wait_fd(int fd);

/* Make a message of Python's arguments; NULL with an exception set. */
struct outgoing *core_message(enum channel channel, const char *type,
			      struct request *parent, PyObject *content,
			      PyObject *metadata, PyObject *buffers);

/* The types Request and Stream. */
PyObject *pyrequest_type(void);
PyObject *pyrequest_new(PyObject *type, struct request *r /* takes */);
struct request *pyrequest_get(PyObject *obj); /* borrowed */
PyObject *pystream_type(void);
