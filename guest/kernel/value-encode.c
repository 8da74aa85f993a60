/* SPDX-License-Identifier: Apache-2.0 */
/* Python objects to JSON text. */
#include "config.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "guest/kernel/utf8-text.h"
#include "guest/kernel/value.h"

#define MAX_DEPTH 200

static int encode(PyObject *obj, struct buf *out, unsigned int depth);

/* Lone surrogates, which UTF-8 has not, are shown as \udXXX. */
static PyObject *utf8_of(PyObject *str)
{
	return PyUnicode_AsEncodedString(str, "utf-8", "backslashreplace");
}

static int encode_str(PyObject *obj, struct buf *out)
{
	PyObject *bytes = utf8_of(obj);
	Py_ssize_t n;
	char *p;

	if (!bytes || PyBytes_AsStringAndSize(bytes, &p, &n) < 0) {
		Py_XDECREF(bytes);
		return -1;
	}
	utf8_quote(p, (size_t)n, out);
	Py_DECREF(bytes);
	return 0;
}

/* The text that a new reference to a str is; quoted or as it is. */
static int encode_text(PyObject *str, bool quoted, struct buf *out)
{
	PyObject *bytes;
	int rc = -1;

	if (!str)
		return -1;
	if (quoted) {
		rc = encode_str(str, out);
		Py_DECREF(str);
		return rc;
	}
	bytes = utf8_of(str);
	Py_DECREF(str);
	if (bytes) {
		buf_add(out, PyBytes_AsString(bytes),
			(size_t)PyBytes_Size(bytes));
		rc = 0;
	}
	Py_XDECREF(bytes);
	return rc;
}

/* A subclass (an IntEnum, numpy's float64) may have a repr of its own. */
static int encode_int(PyObject *obj, struct buf *out)
{
	int overflow;
	long long v = PyLong_AsLongLongAndOverflow(obj, &overflow);
	PyObject *s;

	if (!overflow && v == -1 && PyErr_Occurred())
		return -1;
	if (!overflow) {
		buf_addf(out, "%lld", v);
		return 0;
	}
	s = PyObject_CallMethod((PyObject *)&PyLong_Type, "__repr__", "O", obj);
	return encode_text(s, false, out);
}

static int encode_float(double v, struct buf *out)
{
	PyObject *f = PyFloat_FromDouble(v);
	PyObject *s = f ? PyObject_Repr(f) : NULL;

	Py_XDECREF(f);
	return encode_text(s, !isfinite(v), out);
}

static int encode_bytes(PyObject *obj, struct buf *out)
{
	PyObject *bytes = PyBytes_FromObject(obj);
	size_t n, cap;
	autofree char *text = NULL;

	if (!bytes)
		return -1;
	n = (size_t)PyBytes_Size(bytes);
	cap = sodium_base64_ENCODED_LEN(n, sodium_base64_VARIANT_ORIGINAL);
	text = xmalloc(cap);
	sodium_bin2base64(text, cap, (unsigned char *)PyBytes_AsString(bytes),
			  n, sodium_base64_VARIANT_ORIGINAL);
	buf_addf(out, "\"%s\"", text);
	Py_DECREF(bytes);
	return 0;
}

static int encode_list(PyObject *obj, struct buf *out, unsigned int depth)
{
	/* A list may change while its items are encoded; this does not. */
	PyObject *items = PySequence_Tuple(obj);
	int rc = 0;

	if (!items)
		return -1;
	buf_adds(out, "[");
	for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_Size(items); i++) {
		if (i)
			buf_adds(out, ",");
		rc = encode(PyTuple_GetItem(items, i), out, depth + 1);
	}
	buf_adds(out, "]");
	Py_DECREF(items);
	return rc;
}

/* Keys that are no text become what json makes of them. */
static int encode_key(PyObject *key, struct buf *out)
{
	autobuf struct buf b = { 0 };

	if (PyUnicode_Check(key))
		return encode_str(key, out);
	if (key == Py_None || PyBool_Check(key) || PyLong_Check(key) ||
	    PyFloat_Check(key)) {
		if (encode(key, &b, 0) < 0)
			return -1;
		buf_addf(out, b.p[0] == '"' ? "%s" : "\"%s\"", b.p);
		return 0;
	}
	return encode_text(PyObject_Str(key), true, out);
}

static int encode_dict(PyObject *obj, struct buf *out, unsigned int depth)
{
	PyObject *items = PyMapping_Items(obj);
	int rc = 0;

	if (!items)
		return -1;
	buf_adds(out, "{");
	for (Py_ssize_t i = 0; rc == 0 && i < PyList_Size(items); i++) {
		PyObject *kv = PyList_GetItem(items, i);

		if (i)
			buf_adds(out, ",");
		rc = encode_key(PyTuple_GetItem(kv, 0), out);
		buf_adds(out, ":");
		if (rc == 0)
			rc = encode(PyTuple_GetItem(kv, 1), out, depth + 1);
	}
	buf_adds(out, "}");
	Py_DECREF(items);
	return rc;
}

/* Numbers of other libraries, dates, and what gives its bytes away. */
static int encode_other(PyObject *obj, struct buf *out)
{
	PyObject *v;
	int rc;

	if (PyIndex_Check(obj)) {
		v = PyNumber_Index(obj);
		rc = v ? encode_int(v, out) : -1;
	} else if (PyObject_HasAttrString(obj, "__float__")) {
		v = PyNumber_Float(obj);
		rc = v ? encode_float(PyFloat_AsDouble(v), out) : -1;
	} else if (PyObject_HasAttrString(obj, "isoformat")) {
		v = PyObject_CallMethod(obj, "isoformat", NULL);
		rc = v && PyUnicode_Check(v) ? encode_str(v, out) : -1;
	} else {
		v = PyObject_Repr((PyObject *)Py_TYPE(obj));
		PyErr_Format(PyExc_TypeError, "%S is not JSON serializable",
			     v ? v : Py_None);
		rc = -1;
	}
	Py_XDECREF(v);
	if (rc < 0 && !PyErr_Occurred())
		PyErr_SetString(PyExc_TypeError, "isoformat() gave no text");
	return rc;
}

static int encode(PyObject *obj, struct buf *out, unsigned int depth)
{
	if (depth > MAX_DEPTH) {
		PyErr_SetString(PyExc_ValueError, "nested too deeply");
		return -1;
	}
	if (obj == Py_None)
		return buf_adds(out, "null"), 0;
	if (PyBool_Check(obj))
		return buf_adds(out, obj == Py_True ? "true" : "false"), 0;
	if (PyUnicode_Check(obj))
		return encode_str(obj, out);
	if (PyLong_Check(obj))
		return encode_int(obj, out);
	if (PyFloat_Check(obj))
		return encode_float(PyFloat_AsDouble(obj), out);
	if (PyDict_Check(obj))
		return encode_dict(obj, out, depth);
	if (PyList_Check(obj) || PyTuple_Check(obj))
		return encode_list(obj, out, depth);
	if (PyBytes_Check(obj) || PyByteArray_Check(obj) ||
	    PyMemoryView_Check(obj))
		return encode_bytes(obj, out);
	return encode_other(obj, out);
}

int value_encode(PyObject *obj, struct buf *out)
{
	return encode(obj, out, 0);
}
