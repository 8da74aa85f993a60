/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Python's stable ABI: one module for every Python from 3.9 on. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
