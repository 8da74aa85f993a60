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

/* What C code has printed and not flushed would come too late. */
void core_flush_stdio(void);

/* The types Request and Stream; new references. */
PyObject *pyrequest_type(void);
PyObject *pyrequest_new(struct request *r /* takes */);
struct request *pyrequest_get(PyObject *obj); /* borrowed */
/* TypeError unless obj is a Request. */
bool core_is_request(PyObject *obj);
PyObject *pystream_type(void);

/* The functions of the module: see module.c. */
PyObject *core_abort_queued(PyObject *self, PyObject *args);
PyObject *core_comm_add(PyObject *self, PyObject *args);
PyObject *core_comm_remove(PyObject *self, PyObject *args);
PyObject *core_deadline(PyObject *self, PyObject *arg);
PyObject *core_guard(PyObject *self, PyObject *args);
PyObject *core_fileno(PyObject *self, PyObject *unused);
PyObject *core_flush(PyObject *self, PyObject *unused);
PyObject *core_input(PyObject *self, PyObject *args, PyObject *kw);
PyObject *core_interrupted_by(PyObject *self, PyObject *unused);
PyObject *core_interrupts(PyObject *self, PyObject *unused);
PyObject *core_next(PyObject *self, PyObject *args);
PyObject *core_publish(PyObject *self, PyObject *args, PyObject *kw);
PyObject *core_reply(PyObject *self, PyObject *args, PyObject *kw);
PyObject *core_set_info(PyObject *self, PyObject *info);
