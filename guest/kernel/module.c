/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_kernel._core: the kernel for Python.  The main thread calls
 *
 *   start(connection_file, info, spare_children=False)
 *                           bind, capture 1 and 2, start the I/O thread.  info:
 *                           see set_info().  spare_children: interrupts only
 *                           raise, and who is below us gets no signal
 *   next() -> Request|None  the next request; None: shut down.  Status busy is
 *                           sent, and from here on interrupts are kept
 *   next(False)             the same, but False if there is none yet
 *   fileno() -> int         readable when next(False) is worth a try
 *   reply(request, content, metadata=None, buffers=None)
 *                           all output, then the reply, then status idle;
 *                           interrupts do nothing from its beginning on.
 *                           content None: only the output and idle
 *   guard(function, *args) -> (value|None, exception|None)
 *                           call it, and let interrupts raise in it and nowhere
 *                           else.  One that came since next() raises at once,
 *                           one that comes at its end in the next guard()
 *   publish(msg_type, content, metadata=None, buffers=None, parent=None)
 *                           on iopub; any thread.  parent: a Request; else the
 *                           one that runs or ran last
 *   input(prompt, password=False) -> str
 *                           ask the client of the request that runs;
 *                           RuntimeError if it does not allow that
 *   set_info(dict)          the content of kernel_info_reply
 *   comm_add(id, target), comm_remove(id)
 *                           what comm_info_request is answered from
 *   abort_queued(execution_count=0)
 *                           execute_requests that wait are answered with
 *                           status "aborted", and next() does not give them
 *   deadline(seconds|None)  of the request that runs: then it is interrupted,
 *                           a second later again and its children are killed,
 *                           and a second later the process ends
 *   interrupted_by() -> str|None
 *                           why this request was interrupted: "interrupt",
 *                           "deadline" or "shutdown"
 *   interrupts() -> int     how often; by a signal one may not be counted yet
 *   flush()                 take what lies in the pipes of 1 and 2
 *   session() -> str, connection_file() -> str
 *   encode(obj) -> str, decode(str) -> obj
 *                           JSON, as the messages have it
 *   Stream(name)            "stdout" or "stderr", a file object
 *
 * kernel_info, comm_info, connect, interrupt and shutdown requests are answered
 * by the I/O thread and never come out of next().
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "guest/kernel/core.h"
#include "guest/kernel/value.h"

static struct kernel kernel;
static bool started, forked;

struct kernel *core_kernel(void)
{
	if (started && !forked)
		return &kernel;
	PyErr_SetString(PyExc_RuntimeError,
			forked ? "a forked process has no kernel"
			       : "start() was not called");
	return NULL;
}

bool core_forked(void)
{
	return forked;
}

static void on_fork(void)
{
	forked = true;
}

static PyObject *raise_err(const struct sb_err *err)
{
	PyErr_Format(PyExc_RuntimeError, "%s%s%s", err->msg,
		     err->hint[0] ? "; " : "", err->hint);
	return NULL;
}

int core_wait_fd(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	Py_BEGIN_ALLOW_THREADS poll(&p, 1, -1);
	Py_END_ALLOW_THREADS return PyErr_CheckSignals();
}

int core_wait_room(struct kernel *k)
{
	bool full;

	do {
		if (core_wait_fd(k->out.room_fd) < 0)
			return -1;
		outbox_lock(&k->out);
		full = outbox_full(&k->out);
		outbox_unlock(&k->out);
	} while (full);
	return 0;
}

/* Python's own handler raises; ours, below it, decides whether it is called. */
static int take_sigint(struct sb_err *err)
{
	PyObject *signal = PyImport_ImportModule("_signal");
	PyObject *handler =
		signal ? PyObject_GetAttrString(signal, "default_int_handler")
		       : NULL;
	PyObject *r = handler ? PyObject_CallMethod(signal, "signal", "iO", 2,
						    handler)
			      : NULL;

	Py_XDECREF(signal);
	Py_XDECREF(handler);
	Py_XDECREF(r);
	if (!r) {
		PyErr_Clear();
		return sb_fail(err, SB_SYSTEM,
			       "start() must be called in the main thread");
	}
	return interrupt_init(&kernel.irq, PyErr_SetInterrupt,
			      kernel.out.wake_fd, err);
}

static void at_exit(void)
{
	if (!started || forked)
		return;
	kernel_stop(&kernel);
	started = false;
}

static PyObject *core_start(PyObject *self, PyObject *args)
{
	autobuf struct buf text = { 0 };
	const char *file;
	PyObject *info;
	int spare = 0;
	struct sb_err err = { 0 };

	if (!PyArg_ParseTuple(args, "sO|p", &file, &info, &spare) ||
	    value_encode(info, &text) < 0)
		return NULL;
	if (started) {
		PyErr_SetString(PyExc_RuntimeError,
				"start() was called before");
		return NULL;
	}
	if (kernel_start(&kernel, file, text.p, &err) < 0 ||
	    take_sigint(&err) < 0)
		return raise_err(&err);
	kernel.irq.spare_children = spare;
	started = true;
	pthread_atfork(NULL, NULL, on_fork);
	Py_AtExit(at_exit);
	Py_RETURN_NONE;
}

static PyObject *core_session(PyObject *self, PyObject *unused)
{
	struct kernel *k = core_kernel();

	return k ? PyUnicode_FromString(k->session.id) : NULL;
}

static PyObject *core_connection_file(PyObject *self, PyObject *unused)
{
	struct kernel *k = core_kernel();

	return k ? PyUnicode_DecodeFSDefault(k->file) : NULL;
}

static PyObject *core_encode(PyObject *self, PyObject *obj)
{
	autobuf struct buf b = { 0 };

	if (value_encode(obj, &b) < 0)
		return NULL;
	return PyUnicode_DecodeUTF8(b.p, (Py_ssize_t)b.len, NULL);
}

static PyObject *core_decode(PyObject *self, PyObject *arg)
{
	PyObject *bytes = PyUnicode_Check(arg)
				  ? PyUnicode_AsEncodedString(arg, "utf-8",
							      "surrogatepass")
				  : PyBytes_FromObject(arg);
	PyObject *value = NULL;

	if (bytes)
		value = value_decode(PyBytes_AsString(bytes),
				     (size_t)PyBytes_Size(bytes));
	Py_XDECREF(bytes);
	return value;
}

#define WITH_KEYWORDS(fn) ((PyCFunction)(void (*)(void))(fn))
static PyMethodDef methods[] = {
	{ "start", core_start, METH_VARARGS, NULL },
	{ "next", core_next, METH_VARARGS, NULL },
	{ "fileno", core_fileno, METH_NOARGS, NULL },
	{ "reply", WITH_KEYWORDS(core_reply), METH_VARARGS | METH_KEYWORDS,
	  NULL },
	{ "guard", core_guard, METH_VARARGS, NULL },
	{ "publish", WITH_KEYWORDS(core_publish), METH_VARARGS | METH_KEYWORDS,
	  NULL },
	{ "input", WITH_KEYWORDS(core_input), METH_VARARGS | METH_KEYWORDS,
	  NULL },
	{ "set_info", core_set_info, METH_O, NULL },
	{ "comm_add", core_comm_add, METH_VARARGS, NULL },
	{ "comm_remove", core_comm_remove, METH_VARARGS, NULL },
	{ "abort_queued", core_abort_queued, METH_VARARGS, NULL },
	{ "deadline", core_deadline, METH_O, NULL },
	{ "interrupted_by", core_interrupted_by, METH_NOARGS, NULL },
	{ "interrupts", core_interrupts, METH_NOARGS, NULL },
	{ "flush", core_flush, METH_NOARGS, NULL },
	{ "session", core_session, METH_NOARGS, NULL },
	{ "connection_file", core_connection_file, METH_NOARGS, NULL },
	{ "encode", core_encode, METH_O, NULL },
	{ "decode", core_decode, METH_O, NULL },
	{ NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_core",
	.m_doc = "The Jupyter kernel of this process: see module.c.",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__core(void); /* Python calls it by its name */
PyMODINIT_FUNC PyInit__core(void)
{
	PyObject *module = PyModule_Create(&definition);
	PyObject *stream = pystream_type(), *request = pyrequest_type();

	if (!module || !stream || !request ||
	    PyModule_AddObject(module, "Stream", stream) < 0 ||
	    PyModule_AddObject(module, "Request", request) < 0)
		return NULL;
	return module;
}
