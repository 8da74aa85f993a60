/* SPDX-License-Identifier: Apache-2.0 */
/* The main thread's round: next(), reply(), and what is about interrupts. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "guest/kernel/core.h"

#define MAX_DEADLINE_S 1e9

static long long aborted_count; /* execution_count of aborted requests */

/* An interrupt that comes while nothing runs is meant for nothing. */
static bool swallow_interrupt(void)
{
	if (PyErr_CheckSignals() == 0)
		return false;
	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
		PyErr_Clear();
		return true;
	}
	PyErr_WriteUnraisable(NULL);
	return false;
}

static struct outgoing *status(const char *state, struct request *r)
{
	struct outgoing *o = outgoing_new(CHANNEL_IOPUB, "status", r);

	buf_addf(&o->content, "{\"execution_state\":\"%s\"}", state);
	return o;
}

static void answer_aborted(struct kernel *k, struct request *r)
{
	struct outgoing *o = outgoing_new(r->channel, "execute_reply", r);

	buf_addf(&o->content,
		 "{\"status\":\"aborted\",\"execution_count\":%lld}",
		 aborted_count);
	outbox_lock(&k->out);
	outbox_add(&k->out, status("busy", r));
	outbox_add(&k->out, o);
	outbox_add(&k->out, status("idle", r));
	outbox_unlock(&k->out);
}

static void begin_request(struct kernel *k, struct request *r)
{
	struct request *last;

	/* Whoever hears that we are busy may interrupt. */
	interrupt_take(&k->irq);
	outbox_lock(&k->out);
	/* What came since the last reply belongs to that request. */
	capture_drain(&k->cap, &k->out, false);
	last = k->out.current;
	k->out.current = request_ref(r);
	outbox_add(&k->out, status("busy", r));
	outbox_unlock(&k->out);
	request_unref(last);
}

PyObject *core_fileno(PyObject *self, PyObject *unused)
{
	struct kernel *k = core_kernel();

	return k ? PyLong_FromLong(k->in.fd) : NULL;
}

PyObject *core_next(PyObject *self, PyObject *args)
{
	struct kernel *k = core_kernel();
	struct request *r;
	bool stop, cleared = false;
	int wait = 1;

	if (!k || !PyArg_ParseTuple(args, "|p", &wait))
		return NULL;
	interrupt_end(&k->irq);
	for (;;) {
		swallow_interrupt();
		r = inbox_take(&k->in, &stop);
		if (stop)
			Py_RETURN_NONE;
		if (r && !r->aborted)
			break;
		if (r) {
			answer_aborted(k, r);
			request_unref(r);
			continue;
		}
		if (!wait && cleared)
			Py_RETURN_FALSE;
		if (wait && core_wait_fd(k->in.fd) < 0)
			PyErr_Clear();
		inbox_clear(&k->in);
		cleared = true;
	}
	begin_request(k, r);
	return pyrequest_new(r);
}

/* "execute_request" to "execute_reply". */
static void reply_type(const char *request, char out[64])
{
	size_t n = strlen(request);

	if (str_ends(request, "_request"))
		n -= strlen("_request");
	snprintf(out, 64, "%.*s_reply", (int)MIN(n, 56), request);
}

PyObject *core_reply(PyObject *self, PyObject *args, PyObject *kw)
{
	static char *names[] = { "request", "content", "metadata", "buffers",
				 NULL };
	PyObject *req, *content, *metadata = NULL, *buffers = NULL;
	struct kernel *k = core_kernel();
	struct outgoing *o = NULL;
	struct request *r;
	char type[64];

	if (!k ||
	    !PyArg_ParseTupleAndKeywords(args, kw, "OO|OO", names, &req,
					 &content, &metadata, &buffers) ||
	    !core_is_request(req))
		return NULL;
	interrupt_end(&k->irq);
	swallow_interrupt();
	r = pyrequest_get(req);
	reply_type(r->type, type);
	/* None: a message that has no reply, such as comm_msg. */
	if (content != Py_None) {
		o = core_message(r->channel, type, r, content, metadata,
				 buffers);
		if (!o)
			return NULL;
	}
	core_flush_stdio();
	outbox_lock(&k->out);
	capture_drain(&k->cap, &k->out, true);
	if (o)
		outbox_add(&k->out, o);
	outbox_add(&k->out, status("idle", r));
	outbox_unlock(&k->out);
	Py_RETURN_NONE;
}

/* The exception that is set, with its traceback; it is not set any more. */
static PyObject *take_exception(void)
{
	PyObject *type, *value, *tb;

	PyErr_Fetch(&type, &value, &tb);
	PyErr_NormalizeException(&type, &value, &tb);
	if (tb)
		PyException_SetTraceback(value, tb);
	Py_XDECREF(type);
	Py_XDECREF(tb);
	return value;
}

PyObject *core_guard(PyObject *self, PyObject *args)
{
	struct kernel *k = core_kernel();
	Py_ssize_t n = PyTuple_Size(args);
	PyObject *rest, *value = NULL, *error = NULL, *pair;
	bool before;

	if (!k)
		return NULL;
	if (n < 1) {
		PyErr_SetString(PyExc_TypeError, "guard() wants a function");
		return NULL;
	}
	rest = PyTuple_GetSlice(args, 1, n);
	if (!rest)
		return NULL;
	if (interrupt_arm(&k->irq, &before))
		PyErr_SetNone(PyExc_KeyboardInterrupt);
	else
		value = PyObject_CallObject(PyTuple_GetItem(args, 0), rest);
	interrupt_disarm(&k->irq, before);
	Py_DECREF(rest);
	if (!value)
		error = take_exception();
	/* One that came too late to be raised in there is for the next. */
	if (!before && swallow_interrupt())
		interrupt_keep(&k->irq);
	pair = Py_BuildValue("OO", value ? value : Py_None,
			     error ? error : Py_None);
	Py_XDECREF(value);
	Py_XDECREF(error);
	return pair;
}

static void wake_io(struct kernel *k)
{
	outbox_lock(&k->out);
	k->out.wake = true;
	outbox_unlock(&k->out);
}

PyObject *core_abort_queued(PyObject *self, PyObject *args)
{
	struct kernel *k = core_kernel();

	if (!k || !PyArg_ParseTuple(args, "|L", &aborted_count))
		return NULL;
	/* The I/O thread first reads all that has arrived. */
	atomic_store(&k->sweep, true);
	wake_io(k);
	while (atomic_load(&k->sweep)) {
		if (core_wait_fd(k->in.fd) < 0)
			return NULL;
		inbox_clear(&k->in);
	}
	inbox_wake(&k->in);
	Py_RETURN_NONE;
}

PyObject *core_deadline(PyObject *self, PyObject *arg)
{
	struct kernel *k = core_kernel();
	double s = 0;

	if (!k)
		return NULL;
	if (arg != Py_None)
		s = PyFloat_AsDouble(arg);
	if (PyErr_Occurred())
		return NULL;
	/* Not a number, or longer than anybody waits: there is none. */
	if (arg == Py_None || !(s <= MAX_DEADLINE_S))
		interrupt_deadline(&k->irq, 0);
	else
		interrupt_deadline(&k->irq,
				   clock_ms() + (int64_t)(MAX(s, 0) * 1000));
	Py_RETURN_NONE;
}

PyObject *core_interrupted_by(PyObject *self, PyObject *unused)
{
	static const char *const causes[] = { NULL, "interrupt", "deadline",
					      "shutdown" };
	struct kernel *k = core_kernel();

	return k ? Py_BuildValue("s", causes[interrupt_why(&k->irq)]) : NULL;
}

PyObject *core_interrupts(PyObject *self, PyObject *unused)
{
	struct kernel *k = core_kernel();

	return k ? PyLong_FromUnsignedLong(interrupt_count(&k->irq)) : NULL;
}
