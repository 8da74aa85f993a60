# SPDX-License-Identifier: Apache-2.0
"""What an object is: inspect_request and name?"""

import inspect

from sandbox_kernel.names import find, name_at
from sandbox_kernel.pretty import bounded, safe_repr

RED, OFF = "\x1b[31m", "\x1b[39m"
TEXT = 64 << 10


def reply(shell, content):
    code = str(content.get("code", ""))
    position = content.get("cursor_pos")
    if not isinstance(position, int):
        position = len(code)
    detail = content.get("detail_level", 0)
    for name in name_at(code, position):
        found, value = find(shell.ns, name)
        if found:
            text = describe(name, value, detail == 1)
            return _answer(True, {"text/plain": text})
    return _answer(False, {})


def _answer(found, data):
    return {"status": "ok", "found": found, "data": data, "metadata": {}}


def page(shell, name, detail):
    """name? as a page of the front end."""
    found, value = find(shell.ns, name)
    if not found:
        print("Object `%s` not found." % name)
        return
    text = describe(name, value, detail)
    shell.payload.append({"source": "page", "data": {"text/plain": text}, "start": 0})


def describe(name, value, detail):
    parts = []
    callable_ = callable(value)
    if callable_:
        parts.append(("Signature", _signature(name, value)))
    if not callable_ or not (inspect.isroutine(value) or inspect.isclass(value)):
        parts.append(("String form", " " + bounded(safe_repr(value), 1000)))
        length = _length(value)
        if length is not None:
            parts.append(("Length", " %d" % length))
    source = _source(value) if detail else None
    if source:
        parts.append(("Source", "\n" + source))
    else:
        doc = _quietly(inspect.getdoc, value) or "<no docstring>"
        parts.append(("Docstring", "\n" + bounded(doc, TEXT)))
    if callable_ and inspect.isclass(value):
        doc = _quietly(inspect.getdoc, value.__init__)
        if doc and doc != object.__init__.__doc__:
            parts.append(("Init docstring", "\n" + bounded(doc, TEXT)))
    file = _quietly(inspect.getfile, value)
    if file:
        parts.append(("File", " " + file))
    parts.append(("Type", " " + type(value).__name__))
    return "\n".join("%s%s:%s%s" % (RED, key, OFF, text) for key, text in parts if text)


def _quietly(call, *args):
    try:
        return call(*args)
    except Exception:
        return None


def _signature(name, value):
    signature = _quietly(inspect.signature, value)
    if signature is None:
        return None
    return " %s%s" % (name.rpartition(".")[2], bounded(str(signature), 4000))


def _length(value):
    return _quietly(len, value) if hasattr(type(value), "__len__") else None


def _source(value):
    if not (callable(value) or inspect.ismodule(value)):
        value = type(value)
    text = _quietly(inspect.getsource, value)
    return bounded(text.rstrip("\n"), TEXT) if text else None
