/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_kernel._core: the kernel for Python.  The main thread calls
 *
 *   start(connection_file)  bind, capture 1 and 2, start the I/O thread
 *   next() -> Request|None  the next request; None: shut down.  Status busy is
 *                           sent, and from here on interrupts raise
 *   reply(request, content, metadata=None, buffers=None)
 *                           all output, then the reply, then status idle;
 *                           interrupts do nothing from its beginning on
 *   disarm()                interrupts do nothing from here on: for the time
 *                           between the end of the user's code and reply().
 *                           True if one was still to be raised; it is not
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
static long long aborted_count;
static PyObject *request_type; /* lives as long as the process */

struct kernel *core_kernel(void)
{
	if (started)
		return &kernel;
	PyErr_SetString(PyExc_RuntimeError, "start() was not called");
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

/* kernel_info before Python has said anything. */
static char *default_info(void)
{
	autobuf struct buf version = { 0 };
	const char *v = Py_GetVersion();

	buf_add(&version, v, strcspn(v, " +"));
	return xasprintf(
		"{\"status\":\"ok\",\"protocol_version\":\"" SESSION_PROTOCOL
		"\",\"implementation\":\"sandbox-python\","
		"\"implementation_version\":\"" PACKAGE_VERSION "\","
		"\"language_info\":{\"name\":\"python\",\"version\":\"%s\","
		"\"mimetype\":\"text/x-python\","
		"\"codemirror_mode\":{\"name\":\"ipython\",\"version\":3},"
		"\"pygments_lexer\":\"ipython3\","
		"\"nbconvert_exporter\":\"python\","
		"\"file_extension\":\".py\"},"
		"\"banner\":\"Python %s\",\"help_links\":[],"
		"\"debugger\":false,\"supported_features\":[]}",
		version.p, version.p);
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
	autofree char *info = default_info();
	const char *file;
	struct sb_err err = { 0 };

	if (!PyArg_ParseTuple(args, "s", &file))
		return NULL;
	if (started) {
		PyErr_SetString(PyExc_RuntimeError,
				"start() was called before");
		return NULL;
	}
	if (kernel_start(&kernel, file, info, &err) < 0 ||
	    take_sigint(&err) < 0)
		return raise_err(&err);
	started = true;
	pthread_atfork(NULL, NULL, on_fork);
	Py_AtExit(at_exit);
	Py_RETURN_NONE;
}

static int add_buffers(struct outgoing *o, PyObject *buffers)
{
	PyObject *list;
	Py_ssize_t n;

	if (!buffers || buffers == Py_None)
		return 0;
	list = PySequence_Tuple(buffers);
	if (!list)
		return -1;
	n = PyTuple_Size(list);
	o->buffers = xcalloc((size_t)n + 1, sizeof(*o->buffers));
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *b = PyBytes_FromObject(PyTuple_GetItem(list, i));

		if (!b) {
			Py_DECREF(list);
			return -1;
		}
		buf_add(&o->buffers[o->nbuffers++], PyBytes_AsString(b),
			(size_t)PyBytes_Size(b));
		Py_DECREF(b);
	}
	Py_DECREF(list);
	return 0;
}

struct outgoing *core_message(enum channel channel, const char *type,
			      struct request *parent, PyObject *content,
			      PyObject *metadata, PyObject *buffers)
{
	struct outgoing *o = outgoing_new(channel, type, parent);
	struct buf meta = { 0 };

	if (value_encode(content, &o->content) < 0 ||
	    (metadata && metadata != Py_None &&
	     value_encode(metadata, &meta) < 0) ||
	    add_buffers(o, buffers) < 0) {
		buf_done(&meta);
		outgoing_free(o);
		return NULL;
	}
	o->metadata = meta.p;
	return o;
}

/* What C code has printed and not flushed would come too late. */
static void flush_stdio(void)
{
	if (!__fpending(stdout))
		return;
	Py_BEGIN_ALLOW_THREADS fflush(stdout);
	Py_END_ALLOW_THREADS
}

/* Queue all output and then the reply, in one step. */
static void send_reply(struct kernel *k, struct outgoing *o /* takes */)
{
	outbox_lock(&k->out);
	capture_drain(&k->cap, &k->out, true);
	outbox_add(&k->out, o);
	outbox_unlock(&k->out);
}

static void answer_aborted(struct kernel *k, struct request *r)
{
	struct outgoing *o = outgoing_new(r->channel, "execute_reply", r);

	buf_addf(&o->content,
		 "{\"status\":\"aborted\",\"execution_count\":%lld}",
		 aborted_count);
	kernel_status(k, "busy", r);
	send_reply(k, o);
	kernel_status(k, "idle", r);
}

static void begin_request(struct kernel *k, struct request *r)
{
	struct request *last;

	outbox_lock(&k->out);
	/* What came since the last reply belongs to that request. */
	capture_drain(&k->cap, &k->out, false);
	last = k->out.current;
	k->out.current = request_ref(r);
	outbox_unlock(&k->out);
	request_unref(last);
	kernel_status(k, "busy", r);
	interrupt_arm(&k->irq);
}

static PyObject *core_next(PyObject *self, PyObject *unused)
{
	struct kernel *k = core_kernel();
	struct request *r;
	bool stop;

	if (!k)
		return NULL;
	interrupt_disarm(&k->irq);
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
		if (core_wait_fd(k->in.fd) < 0)
			PyErr_Clear();
		inbox_clear(&k->in);
	}
	begin_request(k, r);
	return pyrequest_new(request_type, r);
}

/* "execute_request" to "execute_reply". */
static void reply_type(const char *request, char out[64])
{
	size_t n = strlen(request);

	if (str_ends(request, "_request"))
		n -= strlen("_request");
	snprintf(out, 64, "%.*s_reply", (int)MIN(n, 56), request);
}

static bool is_request(PyObject *obj)
{
	if ((PyObject *)Py_TYPE(obj) == request_type)
		return true;
	PyErr_SetString(PyExc_TypeError, "a Request is needed");
	return false;
}

static PyObject *core_reply(PyObject *self, PyObject *args, PyObject *kw)
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
	    !is_request(req))
		return NULL;
	interrupt_disarm(&k->irq);
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
	flush_stdio();
	outbox_lock(&k->out);
	capture_drain(&k->cap, &k->out, true);
	if (o)
		outbox_add(&k->out, o);
	outbox_unlock(&k->out);
	kernel_status(k, "idle", r);
	Py_RETURN_NONE;
}

static PyObject *core_disarm(PyObject *self, PyObject *unused)
{
	struct kernel *k = core_kernel();

	if (!k)
		return NULL;
	interrupt_disarm(&k->irq);
	return PyBool_FromLong(swallow_interrupt());
}

/* It is put into a header as it is. */
static bool is_type_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	if (n && n < 64 && !s[n])
		return true;
	PyErr_SetString(
		PyExc_ValueError,
		"a message type is 1 to 63 of a-z, A-Z, 0-9, _, . and -");
	return false;
}

static PyObject *core_publish(PyObject *self, PyObject *args, PyObject *kw)
{
	static char *names[] = { "msg_type", "content", "metadata",
				 "buffers",  "parent",	NULL };
	PyObject *content, *metadata = NULL, *buffers = NULL, *parent = Py_None;
	struct kernel *k = core_kernel();
	struct outgoing *o;
	const char *type;
	bool full;

	if (!k ||
	    !PyArg_ParseTupleAndKeywords(args, kw, "sO|OOO", names, &type,
					 &content, &metadata, &buffers,
					 &parent) ||
	    !is_type_name(type) || (parent != Py_None && !is_request(parent)))
		return NULL;
	o = core_message(CHANNEL_IOPUB, type,
			 parent == Py_None ? NULL : pyrequest_get(parent),
			 content, metadata, buffers);
	if (!o)
		return NULL;
	outbox_lock(&k->out);
	capture_drain(&k->cap, &k->out, false);
	if (!o->parent)
		o->parent = request_ref(k->out.current);
	outbox_add(&k->out, o);
	full = outbox_full(&k->out);
	outbox_unlock(&k->out);
	if (full && core_wait_room(k) < 0)
		return NULL;
	Py_RETURN_NONE;
}

/* Whether the request that runs lets us ask, and who asks: a new reference. */
static struct request *asked_for_input(struct kernel *k)
{
	autojson json_t *content = NULL;
	struct request *r;

	outbox_lock(&k->out);
	r = request_ref(k->out.current);
	outbox_unlock(&k->out);
	if (r &&
	    json_parse(r->content.p, r->content.len, &content, NULL) == 0 &&
	    json_bool_or(content, "allow_stdin", false))
		return r;
	request_unref(r);
	PyErr_SetString(
		PyExc_RuntimeError,
		"input() was called, but the client does not support it");
	return NULL;
}

static PyObject *wait_input(struct kernel *k)
{
	for (;;) {
		bool stop;
		struct request *r = inbox_take_input(&k->in, &stop);
		PyObject *content, *value;

		if (stop) {
			PyErr_SetNone(PyExc_EOFError);
			return NULL;
		}
		if (!r) {
			if (core_wait_fd(k->in.fd) < 0)
				return NULL;
			inbox_clear(&k->in);
			continue;
		}
		content = value_decode(r->content.p, r->content.len);
		request_unref(r);
		if (!content)
			return NULL;
		value = PyDict_GetItemString(content, "value");
		if (value && PyUnicode_Check(value))
			Py_INCREF(value);
		else
			value = PyUnicode_FromString("");
		Py_DECREF(content);
		return value;
	}
}

static PyObject *core_input(PyObject *self, PyObject *args, PyObject *kw)
{
	static char *names[] = { "prompt", "password", NULL };
	struct kernel *k = core_kernel();
	PyObject *prompt, *content, *value;
	autorequest struct request *r = NULL;
	struct outgoing *o;
	int password = 0;

	if (!k || !PyArg_ParseTupleAndKeywords(args, kw, "U|p", names, &prompt,
					       &password))
		return NULL;
	r = asked_for_input(k);
	if (!r)
		return NULL;
	content = Py_BuildValue("{s:O,s:O}", "prompt", prompt, "password",
				password ? Py_True : Py_False);
	if (!content)
		return NULL;
	o = core_message(CHANNEL_STDIN, "input_request", r, content, NULL,
			 NULL);
	Py_DECREF(content);
	if (!o)
		return NULL;
	inbox_want_input(&k->in, true);
	flush_stdio();
	send_reply(k, o);
	value = wait_input(k);
	inbox_want_input(&k->in, false);
	inbox_wake(&k->in);
	return value;
}

static PyObject *core_set_info(PyObject *self, PyObject *info)
{
	struct kernel *k = core_kernel();
	struct buf b = { 0 };

	if (!k)
		return NULL;
	if (value_encode(info, &b) < 0) {
		buf_done(&b);
		return NULL;
	}
	outbox_lock(&k->out);
	free(k->info);
	k->info = b.p;
	outbox_unlock(&k->out);
	Py_RETURN_NONE;
}

static PyObject *core_comm_add(PyObject *self, PyObject *args)
{
	struct kernel *k = core_kernel();
	const char *id, *target;

	if (!k || !PyArg_ParseTuple(args, "ss", &id, &target))
		return NULL;
	outbox_lock(&k->out);
	json_put(k->comms, id, json_pack("{s:s}", "target_name", target));
	outbox_unlock(&k->out);
	Py_RETURN_NONE;
}

static PyObject *core_comm_remove(PyObject *self, PyObject *args)
{
	struct kernel *k = core_kernel();
	const char *id;

	if (!k || !PyArg_ParseTuple(args, "s", &id))
		return NULL;
	outbox_lock(&k->out);
	json_object_del(k->comms, id);
	outbox_unlock(&k->out);
	Py_RETURN_NONE;
}

static void wake_io(struct kernel *k)
{
	outbox_lock(&k->out);
	k->out.wake = true;
	outbox_unlock(&k->out);
}

static PyObject *core_abort_queued(PyObject *self, PyObject *args)
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

static PyObject *core_deadline(PyObject *self, PyObject *arg)
{
	struct kernel *k = core_kernel();
	double s = 0;

	if (!k)
		return NULL;
	if (arg != Py_None)
		s = PyFloat_AsDouble(arg);
	if (PyErr_Occurred())
		return NULL;
	interrupt_deadline(
		&k->irq, arg == Py_None ? 0 : clock_ms() + (int64_t)(s * 1000));
	Py_RETURN_NONE;
}

static PyObject *core_interrupted_by(PyObject *self, PyObject *unused)
{
	static const char *const causes[] = { NULL, "interrupt", "deadline",
					      "shutdown" };
	struct kernel *k = core_kernel();

	return k ? Py_BuildValue("s", causes[interrupt_why(&k->irq)]) : NULL;
}

static PyObject *core_flush(PyObject *self, PyObject *unused)
{
	struct kernel *k = core_kernel();

	if (!k)
		return NULL;
	flush_stdio();
	outbox_lock(&k->out);
	capture_drain(&k->cap, &k->out, false);
	outbox_unlock(&k->out);
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
	{ "next", core_next, METH_NOARGS, NULL },
	{ "reply", WITH_KEYWORDS(core_reply), METH_VARARGS | METH_KEYWORDS,
	  NULL },
	{ "disarm", core_disarm, METH_NOARGS, NULL },
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
	PyObject *stream = pystream_type();

	request_type = pyrequest_type();
	if (!module || !stream || !request_type ||
	    PyModule_AddObject(module, "Stream", stream) < 0)
		return NULL;
	Py_INCREF(request_type);
	if (PyModule_AddObject(module, "Request", request_type) < 0)
		return NULL;
	return module;
}
