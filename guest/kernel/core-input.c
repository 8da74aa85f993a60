/* SPDX-License-Identifier: Apache-2.0 */
/* input(): a question to the client of the request that runs. */
#include "config.h"

#include <string.h>

#include "guest/kernel/core.h"
#include "guest/kernel/value.h"

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

PyObject *core_input(PyObject *self, PyObject *args, PyObject *kw)
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
	core_flush_stdio();
	outbox_lock(&k->out);
	capture_drain(&k->cap, &k->out, true);
	outbox_add(&k->out, o);
	outbox_unlock(&k->out);
	value = wait_input(k);
	inbox_want_input(&k->in, false);
	inbox_wake(&k->in);
	return value;
}
