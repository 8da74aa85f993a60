/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text to Python objects. */
#include "config.h"

#include <string.h>

#include "common/utf8.h"
#include "guest/kernel/value.h"

#define MAX_DEPTH 200
#define MAX_DIGITS 4000 /* of an int; Python itself refuses a few more */

struct reader {
	const char *p, *end;
	unsigned int depth;
	struct buf text; /* of the string or number that is read */
};

static PyObject *read_value(struct reader *r);

static PyObject *bad(const struct reader *r, const char *what)
{
	PyErr_Format(PyExc_ValueError, "not valid JSON: %s", what);
	return NULL;
}

static void skip_space(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' ||
				 *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

static bool take(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return false;
	r->p += n;
	return true;
}

/* The four hex digits of \uXXXX; -1 when they are none. */
static int read_hex(struct reader *r)
{
	int v = 0;

	if (r->end - r->p < 4)
		return -1;
	for (int i = 0; i < 4; i++, r->p++) {
		char c = *r->p;

		if (c >= '0' && c <= '9')
			v = v * 16 + c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = v * 16 + (c | 32) - 'a' + 10;
		else
			return -1;
	}
	return v;
}

/* Surrogates that stand alone too, as Python's own json does. */
static void add_char(struct buf *b, unsigned int c)
{
	char u[4];

	buf_add(b, u, utf8_encode(c, u));
}

static int read_unicode(struct reader *r)
{
	int hi = read_hex(r), lo;

	if (hi < 0)
		return -1;
	if (hi >= 0xd800 && hi < 0xdc00 && r->end - r->p >= 6 &&
	    r->p[0] == '\\' && r->p[1] == 'u') {
		const char *back = r->p;

		r->p += 2;
		lo = read_hex(r);
		if (lo < 0)
			return -1;
		if (lo >= 0xdc00 && lo < 0xe000) {
			add_char(&r->text,
				 0x10000U + ((unsigned)hi - 0xd800) * 0x400 +
					 (unsigned)lo - 0xdc00);
			return 0;
		}
		r->p = back;
	}
	add_char(&r->text, (unsigned)hi);
	return 0;
}

static int read_escape(struct reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (r->p == r->end)
		return -1;
	if (*r->p == 'u') {
		r->p++;
		return read_unicode(r);
	}
	at = *r->p ? strchr(from, *r->p) : NULL;
	if (!at)
		return -1;
	buf_add(&r->text, &to[at - from], 1);
	r->p++;
	return 0;
}

static PyObject *read_string(struct reader *r)
{
	r->text.len = 0;
	r->p++;
	for (;;) {
		const char *start = r->p;

		while (r->p < r->end && *r->p != '"' && *r->p != '\\')
			r->p++;
		if (r->p == r->end)
			return bad(r, "a string does not end");
		if (*r->p == '"' && !r->text.len) {
			r->p++;
			return PyUnicode_DecodeUTF8(start, r->p - 1 - start,
						    "replace");
		}
		buf_add(&r->text, start, (size_t)(r->p - start));
		if (*r->p++ == '"')
			return PyUnicode_DecodeUTF8(r->text.p,
						    (Py_ssize_t)r->text.len,
						    "surrogatepass");
		if (read_escape(r) < 0)
			return bad(r, "a bad escape");
	}
}

static PyObject *make_number(const char *text, bool real)
{
	PyObject *s, *v;

	if (!real)
		return PyLong_FromString(text, NULL, 10);
	s = PyUnicode_FromString(text);
	v = s ? PyFloat_FromString(s) : NULL;
	Py_XDECREF(s);
	return v;
}

static PyObject *read_number(struct reader *r)
{
	const char *start = r->p;
	bool real = false;

	while (r->p < r->end &&
	       (strchr("+-.eE", *r->p) || (*r->p >= '0' && *r->p <= '9')) &&
	       *r->p) {
		real |= *r->p == '.' || (*r->p | 32) == 'e';
		r->p++;
	}
	if (r->p == start)
		return bad(r, "no value where one must be");
	if (r->p - start > MAX_DIGITS)
		return bad(r, "a number is too long");
	r->text.len = 0;
	buf_add(&r->text, start, (size_t)(r->p - start));
	return make_number(r->text.p, real);
}

static PyObject *read_array(struct reader *r)
{
	PyObject *list = PyList_New(0), *v;

	r->p++;
	skip_space(r);
	if (!list || take(r, "]"))
		return list;
	do {
		v = read_value(r);
		if (!v || PyList_Append(list, v) < 0) {
			Py_XDECREF(v);
			goto fail;
		}
		Py_DECREF(v);
		skip_space(r);
	} while (take(r, ","));
	if (take(r, "]"))
		return list;
	bad(r, "a list does not end");
fail:
	Py_DECREF(list);
	return NULL;
}

/* "key": value into dict. */
static int read_member(struct reader *r, PyObject *dict)
{
	PyObject *key, *v = NULL;
	int rc = -1;

	skip_space(r);
	if (r->p == r->end || *r->p != '"') {
		bad(r, "a key must be a string");
		return -1;
	}
	key = read_string(r);
	skip_space(r);
	if (key && !take(r, ":"))
		bad(r, "no ':' after a key");
	else if (key)
		v = read_value(r);
	if (v)
		rc = PyDict_SetItem(dict, key, v);
	Py_XDECREF(v);
	Py_XDECREF(key);
	return rc;
}

static PyObject *read_object(struct reader *r)
{
	PyObject *dict = PyDict_New();

	r->p++;
	skip_space(r);
	if (!dict || take(r, "}"))
		return dict;
	do {
		if (read_member(r, dict) < 0)
			goto fail;
		skip_space(r);
	} while (take(r, ","));
	if (take(r, "}"))
		return dict;
	bad(r, "an object does not end");
fail:
	Py_DECREF(dict);
	return NULL;
}

static PyObject *read_word(struct reader *r)
{
	if (take(r, "true"))
		return PyBool_FromLong(1);
	if (take(r, "false"))
		return PyBool_FromLong(0);
	if (take(r, "NaN"))
		return make_number("nan", true);
	if (take(r, "Infinity"))
		return make_number("inf", true);
	if (take(r, "-Infinity"))
		return make_number("-inf", true);
	if (!take(r, "null"))
		return read_number(r);
	Py_INCREF(Py_None);
	return Py_None;
}

static PyObject *read_value(struct reader *r)
{
	PyObject *v;

	skip_space(r);
	if (r->p == r->end)
		return bad(r, "it ends too early");
	if (*r->p == '"')
		return read_string(r);
	if (*r->p != '{' && *r->p != '[')
		return read_word(r);
	if (r->depth == MAX_DEPTH)
		return bad(r, "it is nested too deeply");
	r->depth++;
	v = *r->p == '{' ? read_object(r) : read_array(r);
	r->depth--;
	return v;
}

PyObject *value_decode(const char *text, size_t len)
{
	struct reader r = { .p = text, .end = text + len };
	PyObject *v = read_value(&r);

	skip_space(&r);
	if (v && r.p < r.end) {
		Py_DECREF(v);
		v = bad(&r, "something follows it");
	}
	buf_done(&r.text);
	return v;
}
