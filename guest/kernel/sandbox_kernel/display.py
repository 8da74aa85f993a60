# SPDX-License-Identifier: Apache-2.0
"""Objects as mime bundles, and display()."""

import sys

from sandbox_kernel.pretty import pretty

METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_pdf_", "application/pdf"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
    ("_repr_javascript_", "application/javascript"),
)
PLAIN = frozenset(
    (int, float, bool, str, bytes, list, tuple, dict, set, frozenset, complex)
    + (range, slice, type(None), type, type(len), type(lambda: 0), type(sys))
)
CANARY = "_no_object_has_this_method_"


def format(shell, value):
    """(data, metadata) of a value; empty when it showed itself."""
    if shell.ipython is not None:
        return _by_ipython(shell, value)
    if type(value) in PLAIN:
        return {"text/plain": pretty(value)}, {}
    data, metadata = {}, {}
    if not isinstance(value, type) and not _answers_all(value):
        if _call(value, "_ipython_display_") is not None:
            return {}, {}
        _collect(value, data, metadata)
    figure = sys.modules.get("matplotlib.figure")
    if figure is not None and isinstance(value, figure.Figure):
        from sandbox_kernel import mpl

        data.update(mpl.picture(value))
    if "text/plain" not in data:
        data["text/plain"] = pretty(value)
    return data, metadata


def _by_ipython(shell, value):
    data, metadata = shell.ipython.display_formatter.format(value)
    return {key: encode(item) for key, item in data.items()}, metadata


def _answers_all(value):
    """Objects whose __getattr__ invents everything have no rich form."""
    try:
        return getattr(value, CANARY, None) is not None
    except Exception:
        return False


def _call(value, name, *args, **keys):
    """What the method gives: None when it is missing or fails."""
    try:
        method = getattr(value, name, None)
        if not callable(method):
            return None
        given = method(*args, **keys)
        return True if name == "_ipython_display_" else given
    except Exception as error:
        if not isinstance(error, NotImplementedError):
            kind = type(error).__name__
            print(
                "%s of a result failed: %s: %s" % (name, kind, error), file=sys.stderr
            )
        return None


def _collect(value, data, metadata):
    given = _call(value, "_repr_mimebundle_", include=None, exclude=None)
    if isinstance(given, tuple) and len(given) == 2:
        given, more = given
        if isinstance(more, dict):
            metadata.update(more)
    if isinstance(given, dict):
        for mime, item in given.items():
            data[str(mime)] = encode(item)
    for name, mime in METHODS:
        if mime in data or not hasattr(value, name):
            continue
        given = _call(value, name)
        if isinstance(given, tuple) and len(given) == 2:
            given, metadata[mime] = given
        if given is not None:
            data[mime] = encode(given)


def encode(item):
    """Binary pictures travel as base64."""
    if isinstance(item, (bytes, bytearray, memoryview)):
        from binascii import b2a_base64

        return b2a_base64(item, newline=False).decode()
    return item


class Handle:
    """What display(display_id=...) gives: updates what was shown."""

    def __init__(self, shell, display_id):
        self._shell = shell
        self.display_id = display_id

    def __repr__(self):
        return "<DisplayHandle display_id=%s>" % self.display_id

    def display(self, obj, **keys):
        display(self._shell, obj, display_id=self.display_id, **keys)

    def update(self, obj, **keys):
        display(self._shell, obj, display_id=self.display_id, update=True, **keys)


def display(
    shell,
    *objects,
    include=None,
    exclude=None,
    metadata=None,
    transient=None,
    display_id=None,
    raw=False,
    clear=False,
    update=False,
    **more
):
    if clear:
        clear_output(shell, wait=True)
    transient = dict(transient or {})
    if display_id is True:
        display_id = _new_id()
    if display_id is not None:
        transient["display_id"] = display_id
    for obj in objects:
        data, extra = (obj, {}) if raw else format(shell, obj)
        if not data:
            continue
        data = {
            mime: item
            for mime, item in data.items()
            if (not include or mime in include) and (not exclude or mime not in exclude)
        }
        if metadata:
            extra = dict(extra, **metadata)
        publish(shell, data, extra, transient, update)
    return Handle(shell, display_id) if display_id is not None else None


def publish(shell, data, metadata, transient, update=False, buffers=None):
    publisher = getattr(shell.ipython, "display_pub", None)
    if publisher is not None and not getattr(publisher, "sends", False):
        # %%capture has put its own in this place.
        publisher.publish(data, metadata, transient=transient, update=update)
        return
    send(shell, data, metadata, transient, update, buffers)


def send(shell, data, metadata, transient, update=False, buffers=None):
    kind = "update_display_data" if update else "display_data"
    content = {"data": data, "metadata": metadata or {}, "transient": transient or {}}
    shell.core.publish(kind, content, None, buffers)


def clear_output(shell, wait=False):
    sys.stdout.flush()
    sys.stderr.flush()
    shell.core.publish("clear_output", {"wait": bool(wait)})


def _new_id():
    from os import urandom

    return urandom(16).hex()
