/* SPDX-License-Identifier: Apache-2.0 */
/* What Python sends and tells: publish(), set_info(), comms. */
#include "config.h"

#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "guest/kernel/core.h"
#include "guest/kernel/value.h"

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
void core_flush_stdio(void)
{
	if (!__fpending(stdout))
		return;
	Py_BEGIN_ALLOW_THREADS fflush(stdout);
	Py_END_ALLOW_THREADS
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

PyObject *core_publish(PyObject *self, PyObject *args, PyObject *kw)
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
	    !is_type_name(type) ||
	    (parent != Py_None && !core_is_request(parent)))
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

PyObject *core_flush(PyObject *self, PyObject *unused)
{
	struct kernel *k = core_kernel();

	if (!k)
		return NULL;
	core_flush_stdio();
	outbox_lock(&k->out);
	capture_drain(&k->cap, &k->out, false);
	outbox_unlock(&k->out);
	Py_RETURN_NONE;
}

PyObject *core_set_info(PyObject *self, PyObject *info)
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

PyObject *core_comm_add(PyObject *self, PyObject *args)
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

PyObject *core_comm_remove(PyObject *self, PyObject *args)
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
