# SPDX-License-Identifier: Apache-2.0
"""A decoder of application/vnd.sandbox.result+json, written from the manual
and not from the encoder."""

import datetime
import decimal
import fractions
import pathlib
import uuid

MIME = "application/vnd.sandbox.result+json"


class Remote:
    """What only the sandbox can build."""

    def __init__(self, node):
        self.type = node.get("type")
        self.repr = node.get("repr")
        self.reason = node.get("reason")


def decode(content, buffers):
    tree = content["data"][MIME]
    assert tree["version"] == 1
    return _node(tree["value"], [bytes(b) for b in buffers])


def _node(node, buffers):
    if isinstance(node, list):
        return [_node(item, buffers) for item in node]
    if not isinstance(node, dict):
        return node
    return KINDS[node["t"]](node, buffers)


def _items(node, buffers):
    return [_node(item, buffers) for item in node["v"]]


def _array(node, buffers):
    import numpy

    if node["dtype"] == "O":
        array = numpy.empty(len(node["v"]), object)
        array[:] = _items(node, buffers)
    else:
        dtype = numpy.dtype(node["dtype"])
        assert dtype.kind in "biufcMmSU"
        array = numpy.frombuffer(buffers[node["b"]], dtype)
    return array.reshape(node["shape"])


def _index(node, buffers):
    import pandas

    names = _items({"v": node["names"]}, buffers)
    data = _node(node["data"], buffers)
    if len(names) > 1:
        return pandas.MultiIndex.from_tuples(data, names=names)
    return pandas.Index(data, name=names[0])


def _column(node, buffers):
    import pandas

    return pandas.array(_items(node, buffers), dtype=node["dtype"])


def _frame(node, buffers):
    import pandas

    index = _node(node["index"], buffers)
    data = {i: _node(part, buffers) for i, part in enumerate(node["data"])}
    frame = pandas.DataFrame(data, index=index)
    frame.columns = _node(node["columns"], buffers)
    return frame


def _series(node, buffers):
    import pandas

    index = _node(node["index"], buffers)
    return pandas.Series(
        _node(node["data"], buffers), index=index, name=_node(node["name"], buffers)
    )


def _complex(node, buffers):
    return complex(*_items(node, buffers))


KINDS = {
    "int": lambda n, b: int(n["v"], 16),
    "float": lambda n, b: float(n["v"]),
    "complex": _complex,
    "str": lambda n, b: b[n["b"]].decode("utf-8", "surrogatepass"),
    "bytes": lambda n, b: b[n["b"]],
    "bytearray": lambda n, b: bytearray(b[n["b"]]),
    "range": lambda n, b: range(*_items(n, b)),
    "tuple": lambda n, b: tuple(_items(n, b)),
    "set": lambda n, b: set(_items(n, b)),
    "frozenset": lambda n, b: frozenset(_items(n, b)),
    "dict": lambda n, b: {_node(k, b): _node(v, b) for k, v in n["v"]},
    "datetime": lambda n, b: datetime.datetime.fromisoformat(n["v"]),
    "date": lambda n, b: datetime.date.fromisoformat(n["v"]),
    "time": lambda n, b: datetime.time.fromisoformat(n["v"]),
    "timedelta": lambda n, b: datetime.timedelta(*n["v"]),
    "decimal": lambda n, b: decimal.Decimal(n["v"]),
    "fraction": lambda n, b: fractions.Fraction(*_items(n, b)),
    "uuid": lambda n, b: uuid.UUID(n["v"]),
    "path": lambda n, b: pathlib.PurePosixPath(_node(n["v"], b)),
    "ndarray": _array,
    "scalar": lambda n, b: _array(n, b)[()],
    "index": _index,
    "column": _column,
    "dataframe": _frame,
    "series": _series,
    "missing": lambda n, b: None,
    "image": lambda n, b: (n["mime"], tuple(n["size"]), b[n["b"]]),
    "object": lambda n, b: Remote(n),
    "truncated": lambda n, b: Remote(n),
}
