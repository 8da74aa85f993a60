/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream: sys.stdout and sys.stderr, as file objects whose text goes to the
 * outbox.  With name "stdout.buffer" it is the binary one below it.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "guest/kernel/core.h"

struct pystream {
	PyObject_HEAD int fd; /* 1 or 2 */
	bool binary;
	struct utf8_rest rest; /* of binary writes; outbox's lock */
};

static int init(PyObject *obj, PyObject *args, PyObject *kw)
{
	static char *names[] = { "name", "binary", NULL };
	struct pystream *self = (struct pystream *)obj;
	const char *name;
	int binary = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "s|p", names, &name,
					 &binary))
		return -1;
	if (strcmp(name, "stdout") != 0 && strcmp(name, "stderr") != 0) {
		PyErr_SetString(PyExc_ValueError,
				"the name must be 'stdout' or 'stderr'");
		return -1;
	}
	self->fd = strcmp(name, "stdout") == 0 ? 1 : 2;
	self->binary = binary;
	return 0;
}

static void dealloc(PyObject *obj)
{
	PyTypeObject *type = Py_TYPE(obj);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	release(obj);
	Py_DECREF(type);
}

/* In a fork there is no I/O thread: the pipe leads to the one of the parent. */
static int write_forked(const struct pystream *self, const char *p, size_t n)
{
	int rc;

	Py_BEGIN_ALLOW_THREADS rc = fs_write_all(self->fd, p, n);
	Py_END_ALLOW_THREADS if (rc < 0) PyErr_SetFromErrno(PyExc_OSError);
	return rc;
}

static int write_bytes(struct pystream *self, const char *p, size_t n)
{
	enum stream which = self->fd == 1 ? STREAM_OUT : STREAM_ERR;
	struct kernel *k;
	bool full;

	if (core_forked())
		return write_forked(self, p, n);
	k = core_kernel();
	if (!k)
		return -1;
	outbox_lock(&k->out);
	/* What children and C code wrote before comes before. */
	capture_drain(&k->cap, &k->out, false);
	if (self->binary) {
		autobuf struct buf clean = { 0 };

		utf8_clean(&self->rest, p, n, &clean);
		outbox_text(&k->out, which, clean.p, clean.len);
	} else {
		outbox_text(&k->out, which, p, n);
	}
	full = outbox_full(&k->out);
	outbox_unlock(&k->out);
	return full ? core_wait_room(k) : 0;
}

static PyObject *stream_write(PyObject *obj, PyObject *arg)
{
	struct pystream *self = (struct pystream *)obj;
	PyObject *bytes;
	Py_ssize_t n;
	int rc;

	if (self->binary) {
		bytes = PyUnicode_Check(arg) ? NULL : PyBytes_FromObject(arg);
		n = bytes ? PyBytes_Size(bytes) : 0;
	} else if (PyUnicode_Check(arg)) {
		bytes = PyUnicode_AsEncodedString(arg, "utf-8",
						  "backslashreplace");
		n = PyUnicode_GetLength(arg);
	} else {
		bytes = NULL;
	}
	if (!bytes) {
		if (!PyErr_Occurred())
			PyErr_Format(PyExc_TypeError, "write() wants %s",
				     self->binary ? "bytes" : "str");
		return NULL;
	}
	rc = write_bytes(self, PyBytes_AsString(bytes),
			 (size_t)PyBytes_Size(bytes));
	Py_DECREF(bytes);
	return rc < 0 ? NULL : PyLong_FromSsize_t(n);
}

static PyObject *stream_writelines(PyObject *obj, PyObject *lines)
{
	PyObject *it = PyObject_GetIter(lines), *line, *n;

	if (!it)
		return NULL;
	while ((line = PyIter_Next(it))) {
		n = stream_write(obj, line);
		Py_DECREF(line);
		if (!n)
			break;
		Py_DECREF(n);
	}
	Py_DECREF(it);
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

/* Text is on its way within milliseconds; there is nothing to flush. */
static PyObject *stream_none(PyObject *obj, PyObject *unused)
{
	Py_RETURN_NONE;
}

static PyObject *stream_true(PyObject *obj, PyObject *unused)
{
	Py_RETURN_TRUE;
}

static PyObject *stream_false(PyObject *obj, PyObject *unused)
{
	Py_RETURN_FALSE;
}

static PyObject *stream_fileno(PyObject *obj, PyObject *unused)
{
	return PyLong_FromLong(((struct pystream *)obj)->fd);
}

static PyObject *stream_self(PyObject *obj, PyObject *unused)
{
	Py_INCREF(obj);
	return obj;
}

static PyObject *stream_exit(PyObject *obj, PyObject *args)
{
	Py_RETURN_NONE;
}

static PyObject *get_name(PyObject *obj, void *unused)
{
	return PyUnicode_FromString(
		((struct pystream *)obj)->fd == 1 ? "<stdout>" : "<stderr>");
}

static PyObject *get_text(PyObject *obj, void *text)
{
	return PyUnicode_FromString(text);
}

static PyObject *get_bool(PyObject *obj, void *yes)
{
	return PyBool_FromLong(yes != NULL);
}

static PyObject *get_none(PyObject *obj, void *unused)
{
	Py_RETURN_NONE;
}

static PyObject *get_buffer(PyObject *obj, void *unused)
{
	struct pystream *self = (struct pystream *)obj;

	return PyObject_CallFunction((PyObject *)Py_TYPE(obj), "si",
				     self->fd == 1 ? "stdout" : "stderr", 1);
}

static PyMethodDef methods[] = {
	{ "write", stream_write, METH_O, NULL },
	{ "writelines", stream_writelines, METH_O, NULL },
	{ "flush", stream_none, METH_NOARGS, NULL },
	{ "close", stream_none, METH_NOARGS, "It stays open." },
	{ "fileno", stream_fileno, METH_NOARGS, NULL },
	{ "isatty", stream_false, METH_NOARGS, NULL },
	{ "readable", stream_false, METH_NOARGS, NULL },
	{ "seekable", stream_false, METH_NOARGS, NULL },
	{ "writable", stream_true, METH_NOARGS, NULL },
	{ "reconfigure", (PyCFunction)(void (*)(void))stream_exit,
	  METH_VARARGS | METH_KEYWORDS, "It is always UTF-8." },
	{ "__enter__", stream_self, METH_NOARGS, NULL },
	{ "__exit__", stream_exit, METH_VARARGS, NULL },
	{ NULL },
};

static PyGetSetDef getset[] = {
	{ "name", get_name, NULL, NULL, NULL },
	{ "mode", get_text, NULL, NULL, "w" },
	{ "encoding", get_text, NULL, NULL, "utf-8" },
	{ "errors", get_text, NULL, NULL, "backslashreplace" },
	{ "closed", get_bool, NULL, NULL, NULL },
	{ "line_buffering", get_bool, NULL, NULL, "yes" },
	{ "write_through", get_bool, NULL, NULL, "yes" },
	{ "newlines", get_none, NULL, NULL, NULL },
	{ "buffer", get_buffer, NULL, NULL, NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_init, init },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, getset },
	{ Py_tp_doc, "Stream(name): a file whose text goes to iopub." },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "sandbox_kernel._core.Stream",
	.basicsize = sizeof(struct pystream),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = slots,
};

PyObject *pystream_type(void)
{
	return PyType_FromSpec(&spec);
}
