/* SPDX-License-Identifier: Apache-2.0 */
/* Request: what next() gives.  Its parts are decoded when they are asked for. */
#include "config.h"

#include "guest/kernel/core.h"
#include "guest/kernel/value.h"

struct pyrequest {
	PyObject_HEAD struct request *r;
	PyObject *parts[3]; /* header, metadata, content; NULL: not yet */
};

static PyTypeObject *request_type; /* lives as long as the process */

struct request *pyrequest_get(PyObject *obj)
{
	return ((struct pyrequest *)obj)->r;
}

bool core_is_request(PyObject *obj)
{
	if (Py_TYPE(obj) == request_type)
		return true;
	PyErr_SetString(PyExc_TypeError, "a Request is needed");
	return false;
}

PyObject *pyrequest_new(struct request *r)
{
	struct pyrequest *self =
		(struct pyrequest *)PyType_GenericAlloc(request_type, 0);

	if (!self) {
		request_unref(r);
		return NULL;
	}
	self->r = r;
	return (PyObject *)self;
}

static void dealloc(PyObject *obj)
{
	struct pyrequest *self = (struct pyrequest *)obj;
	PyTypeObject *type = Py_TYPE(obj);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	for (size_t i = 0; i < ARRAY_SIZE(self->parts); i++)
		Py_XDECREF(self->parts[i]);
	request_unref(self->r);
	release(obj);
	Py_DECREF(type);
}

static PyObject *get_part(PyObject *obj, void *which)
{
	struct pyrequest *self = (struct pyrequest *)obj;
	size_t i = (size_t)which;
	const struct slice *s[] = { &self->r->header, &self->r->metadata,
				    &self->r->content };

	if (!self->parts[i])
		self->parts[i] = value_decode(s[i]->p, s[i]->len);
	Py_XINCREF(self->parts[i]);
	return self->parts[i];
}

static PyObject *get_type(PyObject *obj, void *unused)
{
	return PyUnicode_FromString(pyrequest_get(obj)->type);
}

static PyObject *get_channel(PyObject *obj, void *unused)
{
	return PyUnicode_FromString(channel_name(pyrequest_get(obj)->channel));
}

static PyObject *get_buffers(PyObject *obj, void *unused)
{
	const struct request *r = pyrequest_get(obj);
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < r->nbuffers; i++) {
		PyObject *b = PyBytes_FromStringAndSize(
			r->buffers[i].p, (Py_ssize_t)r->buffers[i].len);
		PyObject *view = b ? PyMemoryView_FromObject(b) : NULL;

		if (!view || PyList_Append(list, view) < 0)
			Py_CLEAR(list);
		Py_XDECREF(view);
		Py_XDECREF(b);
	}
	return list;
}

static PyGetSetDef getset[] = {
	{ "type", get_type, NULL, "the msg_type", NULL },
	{ "channel", get_channel, NULL, "'shell' or 'control'", NULL },
	{ "header", get_part, NULL, "the header, a dict", (void *)0 },
	{ "metadata", get_part, NULL, "the metadata, a dict", (void *)1 },
	{ "content", get_part, NULL, "the content, a dict", (void *)2 },
	{ "buffers", get_buffers, NULL, "a list of memoryviews", NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_getset, getset },
	{ Py_tp_doc, "A message that wants to be answered with reply()." },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "sandbox_kernel._core.Request",
	.basicsize = sizeof(struct pyrequest),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};

PyObject *pyrequest_type(void)
{
	PyObject *type = PyType_FromSpec(&spec);

	request_type = (PyTypeObject *)type;
	Py_XINCREF(type);
	return type;
}
