# SPDX-License-Identifier: Apache-2.0
"""The value of a cell as data: application/vnd.sandbox.result+json.

A typed tree that a decoder can build without running anything.  The format is
described in sandbox-kernel(1); change both together.
"""

import math
import sys

MIME = "application/vnd.sandbox.result+json"
VERSION = 1
DEPTH = 64
NODES = 200000
BYTES = 256 << 20
BUFFERS = 4096  # a message with more is none to the gateway
DIGITS = 999990  # hexadecimal; decoders take a million letters
REPR = 4096
SAFE_INT = 1 << 53


def send(shell, value, options):
    """Send the value, in the way that the request asked for."""
    import os

    wanted = options.get("result")
    limit = options.get("max_bytes")
    encoder = Encoder(limit if isinstance(limit, int) and limit > 0 else BYTES)
    if wanted == "auto":
        _publish(shell, encoder, encoder.tree(shell, value))
    elif wanted == "pickle":
        _publish(shell, encoder, encoder.opaque(value, _pickle(value)))
    elif not wanted and os.environ.get("SANDBOX_RESULT_PICKLE") == "1":
        _pickle(value)


def _publish(shell, encoder, tree):
    content = {"data": {MIME: tree}, "metadata": {}, "transient": {}}
    shell.core.publish("display_data", content, None, encoder.buffers)


def _pickle(value):
    """For old clients; what they do with it is their risk."""
    import pickle
    from binascii import b2a_base64

    data = pickle.dumps(value)
    text = b2a_base64(data, newline=False).decode()
    sys.stdout.write("RESULT_PICKLE:" + text + "\n")
    return data


class Full(Exception):
    """A limit was reached."""


class Encoder:
    def __init__(self, limit=BYTES):
        self.buffers = []
        self.room = limit
        self.nodes = NODES
        self.truncated = False
        self._above = set()

    def tree(self, shell, value):
        root = self.node(value, 0)
        answer = {"version": VERSION, "value": root, "truncated": self.truncated}
        if isinstance(root, dict) and root.get("t") == "object":
            from sandbox_kernel import display

            data = display.format(shell, value)[0]
            answer["data"] = {k: v for k, v in data.items() if _cost(v) <= 1 << 20}
        return answer

    def opaque(self, value, data):
        """A tree of bytes that only those unpickle who trust us."""
        node = None
        if value is not None:
            try:
                node = {"t": "pickle", "b": self.buffer(data)}
            except Full as full:
                node = self._left_out(value, str(full))
        return {"version": VERSION, "value": node, "truncated": self.truncated}

    def node(self, value, depth):
        """The node of a value; what does not fit becomes "truncated"."""
        try:
            return self._node(value, depth)
        except Full as full:
            return self._left_out(value, str(full))
        except RecursionError:
            return self._left_out(value, "depth")
        except Exception:
            return self._object(value)

    def _left_out(self, value, reason):
        self.truncated = True
        return {"t": "truncated", "type": type_name(value), "reason": reason}

    def _node(self, value, depth):
        if depth > DEPTH:
            raise Full("depth")
        self.nodes -= 1
        if self.nodes < 0:
            raise Full("nodes")
        if value is None or value is True or value is False:
            return value
        kind = type(value)
        simple = SIMPLE.get(kind)
        if simple is not None:
            return simple(self, value)
        many = MANY.get(kind)
        if many is None:
            return self._other(value, kind, depth)
        if id(value) in self._above:
            return {"t": "object", "type": type_name(value), "repr": "<a cycle>"}
        self._above.add(id(value))
        try:
            return many(self, value, depth + 1)
        finally:
            self._above.discard(id(value))

    def _take(self, count):
        if count > self.room:
            raise Full("bytes")
        self.room -= count

    def buffer(self, data):
        if len(self.buffers) == BUFFERS:
            raise Full("buffers")
        self._take(len(data))
        self.buffers.append(data)
        return len(self.buffers) - 1

    def _int(self, value):
        if -SAFE_INT <= value <= SAFE_INT:
            return value
        if value.bit_length() > 4 * DIGITS:
            raise Full("digits")
        self._take(value.bit_length() // 4)
        return {"t": "int", "v": hex(value)}

    def _float(self, value):
        if math.isfinite(value):
            return value
        return {"t": "float", "v": str(value)}

    def _complex(self, value):
        return {"t": "complex", "v": [self._float(value.real), self._float(value.imag)]}

    def _str(self, value):
        self._take(len(value))
        try:
            value.encode()
            if "\0" not in value:
                return value
        except UnicodeEncodeError:
            pass
        return {"t": "str", "b": self.buffer(value.encode("utf-8", "surrogatepass"))}

    def _bytes(self, value):
        return {"t": type(value).__name__, "b": self.buffer(bytes(value))}

    def _range(self, value):
        parts = (value.start, value.stop, value.step)
        return {"t": "range", "v": [self._int(part) for part in parts]}

    def _list(self, value, depth):
        items = []
        for item in value:
            items.append(self.node(item, depth))
            if self.nodes < 0:  # the rest would only say so again
                break
        return items

    def _whole(self, value, depth):
        """A list that makes no sense without its end."""
        items = self._list(value, depth)
        if len(items) != len(value):
            raise Full("nodes")
        return items

    def _tuple(self, value, depth):
        return {"t": "tuple", "v": self._list(value, depth)}

    def _set(self, value, depth):
        return {"t": type(value).__name__, "v": self._list(value, depth)}

    def _dict(self, value, depth):
        pairs = []
        for key, item in value.items():
            pairs.append([self.node(key, depth), self.node(item, depth)])
            if self.nodes < 0:
                break
        return {"t": "dict", "v": pairs}

    def _other(self, value, kind, depth):
        """Types of modules that only count once somebody imported them."""
        module = kind.__module__.partition(".")[0]
        maker = MODULES.get(module)
        if maker is not None:
            node = maker(self, value, kind, depth)
            if node is not None:
                return node
        if isinstance(value, tuple) and _is_named(kind, value):
            node = {"t": "tuple", "v": self._whole(tuple(value), depth + 1)}
            node.update(name=kind.__name__, fields=[str(f) for f in kind._fields])
            return node
        return self._object(value)

    def _object(self, value):
        from sandbox_kernel.pretty import bounded, safe_repr

        text = bounded(safe_repr(value), REPR)
        text = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
        return {"t": "object", "type": type_name(value), "repr": text}

    def _datetime(self, value, kind, depth):
        name = kind.__name__
        if name in ("datetime", "date", "time"):
            node = {"t": name, "v": value.isoformat()}
            zone = getattr(getattr(value, "tzinfo", None), "key", None)
            if isinstance(zone, str) and zone.isascii() and _is_zone(zone):
                node["zone"] = zone
            return node
        if name == "timedelta":
            return {"t": name, "v": [value.days, value.seconds, value.microseconds]}
        return None

    def _text(self, value, kind, depth):
        if kind.__name__ == "Decimal":
            text = str(value)
            if len(text) > DIGITS:
                raise Full("digits")
            return {"t": "decimal", "v": text}
        if kind.__name__ == "UUID":
            return {"t": "uuid", "v": str(value)}
        if kind.__name__ in ("PosixPath", "PurePosixPath"):
            return {"t": "path", "v": self._str(str(value))}
        if kind.__name__ == "Fraction":
            parts = [value.numerator, value.denominator]
            return {"t": "fraction", "v": [self._int(part) for part in parts]}
        return None

    def _numpy(self, value, kind, depth):
        import numpy

        if isinstance(value, numpy.ndarray):
            return self.array(numpy, value, depth)
        plain = isinstance(value, numpy.generic) and value.dtype.char not in "gG"
        if plain and value.dtype.kind in "biufcMmSU":
            array = numpy.asarray(value)
            return dict(self.array(numpy, array, depth), t="scalar")
        return None

    def array(self, numpy, value, depth):
        shape = list(value.shape)
        if value.dtype.kind == "O" or value.dtype.hasobject:
            items = self._whole(value.ravel().tolist(), depth + 1)
            return {"t": "ndarray", "dtype": "O", "shape": shape, "v": items}
        if value.dtype.kind not in "biufcMmSU" or value.dtype.itemsize > 1 << 20:
            return self._object(value)
        if value.dtype.char in "gG":  # as wide as the machine likes
            return self._object(value)
        self._take(0 if value.nbytes <= self.room else self.room + 1)
        flat = numpy.ascontiguousarray(value)
        if (
            flat.dtype.byteorder == ">"
            or flat.dtype.byteorder == "="
            and sys.byteorder == "big"
        ):
            flat = flat.astype(flat.dtype.newbyteorder("<"))
        return {
            "t": "ndarray",
            "dtype": flat.dtype.str,
            "shape": shape,
            "b": self.buffer(flat.tobytes()),
        }

    def _pandas(self, value, kind, depth):
        import pandas

        depth += 1
        if isinstance(value, pandas.DataFrame):
            columns = [
                self._column(value.iloc[:, i], depth) for i in range(value.shape[1])
            ]
            return {
                "t": "dataframe",
                "columns": self._index(pandas, value.columns, depth),
                "index": self._index(pandas, value.index, depth),
                "data": columns,
            }
        if isinstance(value, pandas.Series):
            return {
                "t": "series",
                "name": self.node(value.name, depth),
                "index": self._index(pandas, value.index, depth),
                "data": self._column(value, depth),
            }
        if isinstance(value, pandas.Index):
            return self._index(pandas, value, depth)
        if isinstance(value, pandas.Timestamp) and not value.nanosecond:
            return self._node(value.to_pydatetime(), depth)
        if isinstance(value, pandas.Timedelta) and not value.nanoseconds:
            return self._node(value.to_pytimedelta(), depth)
        if value is pandas.NaT or value is pandas.NA:
            return {"t": "missing", "v": str(value)}
        return None

    def _column(self, series, depth):
        """One column: an array, or a list where it is no array of numpy's."""
        import numpy

        self.nodes -= 1
        if self.nodes < 0:
            raise Full("nodes")
        if isinstance(series.dtype, numpy.dtype):
            return self.array(numpy, series.to_numpy(), depth)
        return {
            "t": "column",
            "dtype": str(series.dtype),
            "v": self._whole(series.tolist(), depth),
        }

    def _index(self, pandas, index, depth):
        if isinstance(index, pandas.RangeIndex):
            data = self._range(range(index.start, index.stop, index.step))
        elif isinstance(index, pandas.MultiIndex):
            data = self._whole(index.tolist(), depth)
        else:
            data = self._column(index, depth)
        return {
            "t": "index",
            "names": self._whole(list(index.names), depth),
            "data": data,
        }

    def _image(self, value, kind, depth):
        from io import BytesIO

        if not hasattr(value, "tobytes") or not hasattr(value, "save"):
            return None
        file = BytesIO()
        value.save(file, "PNG")
        return {
            "t": "image",
            "mime": "image/png",
            "size": list(value.size),
            "mode": str(value.mode),
            "b": self.buffer(file.getvalue()),
        }


def type_name(value):
    kind = type(value)
    name = "%s.%s" % (kind.__module__, kind.__qualname__)
    return name[8:] if name.startswith("builtins.") else name


def _is_named(kind, value):
    """A named tuple, and not just something that has fields."""
    names = getattr(kind, "_fields", None)
    if type(names) is not tuple or len(names) != len(value):
        return False
    names += (kind.__name__,)
    return all(type(n) is str and n.isidentifier() and len(n) < 64 for n in names)


def _is_zone(name):
    parts = name.translate({43: None, 45: None, 95: None}).split("/")
    return len(name) <= 64 and all(p.isalnum() and p[0].isalpha() for p in parts)


def _cost(item):
    return len(item) if isinstance(item, str) else 0


SIMPLE = {
    int: Encoder._int,
    float: Encoder._float,
    complex: Encoder._complex,
    str: Encoder._str,
    bytes: Encoder._bytes,
    bytearray: Encoder._bytes,
    range: Encoder._range,
}
MANY = {
    list: Encoder._list,
    tuple: Encoder._tuple,
    set: Encoder._set,
    frozenset: Encoder._set,
    dict: Encoder._dict,
}
MODULES = {
    "datetime": Encoder._datetime,
    "decimal": Encoder._text,
    "fractions": Encoder._text,
    "uuid": Encoder._text,
    "pathlib": Encoder._text,
    "numpy": Encoder._numpy,
    "pandas": Encoder._pandas,
    "PIL": Encoder._image,
}
