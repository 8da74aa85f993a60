/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Python objects to JSON text and back, so that nobody needs to import json.
 * Both have the GIL and set a Python exception when they fail.
 */

#include "guest/kernel/python.h"

#include "common/util.h"

/*
 * None, bool, int, float, str, list, tuple and dict; bytes as base64; objects
 * with __index__ or __float__ as numbers, with isoformat() as text.  NaN and
 * the infinities, which JSON has not, as the text of their repr.  TypeError for
 * all else, ValueError for what is nested too deeply.
 */
int value_encode(PyObject *obj, struct buf *out);

/* What JSON text stands for; also NaN and Infinity, as Python writes them. */
PyObject *value_decode(const char *text, size_t len);
