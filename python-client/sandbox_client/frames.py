# SPDX-License-Identifier: Apache-2.0
"""Arrays of numpy and frames of pandas, where those are installed.

Their types come from short lists: names of types are a language of their own,
in which few letters can ask for gigabytes.
"""

import datetime
import re

from sandbox_client.values import Remote, ResultError

DTYPE = re.compile(
    r"\|[biu]1|<[iu][248]|<f[248]|<c(?:8|16)|\|S\d{1,7}|<U\d{1,7}"
    r"|<[Mm]8(?:\[(?:[1-9]\d{0,8})?(?:[YMWDhms]|[munpfa]s)\])?",
    re.ASCII,
)
COLUMN = re.compile(
    r"U?Int(8|16|32|64)|Float(32|64)|boolean|string|category"
    r"|datetime64\[(s|ms|us|ns), [A-Za-z][A-Za-z0-9_+/-]{0,63}\]",
    re.ASCII,
)
MAX_ITEM = 1 << 20  # bytes
MAX_DIMS = 32
MAX_PRODUCT = 1 << 41
MAX_COMPARED = 10000  # different numbers and times, of a category or of an index
SIMPLE = (bool, float, datetime.date, datetime.datetime, datetime.timedelta)


def _module(name):
    """numpy or pandas: ours, never one that the guest names."""
    try:
        return __import__(name)
    except ImportError:
        return None


def _shape(decoder, node):
    shape, product = decoder.list(node, "shape"), 1
    if len(shape) > MAX_DIMS:
        raise ResultError("an array has no possible shape")
    for size in shape:
        if type(size) is not int or size < 0:
            raise ResultError("an array has no possible shape")
        product *= size or 1
        if product > MAX_PRODUCT:
            raise ResultError("an array has no possible shape")
    return tuple(shape), 0 if 0 in shape else product


def _item_size(dtype):
    if dtype[1] in "Mm":
        return 8
    return int(dtype[2:]) * (4 if dtype[1] == "U" else 1)


def _data(decoder, node, dtype, count):
    if not DTYPE.fullmatch(dtype):
        raise ResultError("an array is of a type that we do not read")
    size = _item_size(dtype)
    if size > 4 * MAX_ITEM or not size and count:
        raise ResultError("an array has items of no possible size")
    data = decoder.buffer(node)
    if len(data) != count * size:
        raise ResultError("an array has not the size of its shape")
    return data


def array(decoder, node):
    numpy = _module("numpy")
    shape, count = _shape(decoder, node)
    dtype = decoder.text(node, "dtype", 64)
    if dtype == "O":
        if len(decoder.list(node, "v")) != count:
            raise ResultError("an array has not the size of its shape")
        items = decoder.items(node)
        if numpy is None:
            return _stand_in("numpy.ndarray", dtype=dtype, shape=shape, items=items)
        found = numpy.empty(count, object)
        for i, item in enumerate(items):
            found[i] = item
        return found.reshape(shape)
    data = _data(decoder, node, dtype, count)
    if numpy is None:
        return _stand_in("numpy.ndarray", dtype=dtype, shape=shape, bytes=data)
    _check_items(numpy, dtype, data)
    if not data:
        return numpy.empty(shape, dtype)
    return numpy.frombuffer(data, dtype).reshape(shape).copy()


def _check_items(numpy, dtype, data):
    """What numpy takes on trust."""
    if dtype[1] == "b" and (numpy.frombuffer(data, "|u1") > 1).any():
        raise ResultError("a bool is neither true nor false")
    if dtype[1] == "U" and (numpy.frombuffer(data, "<u4") > 0x10FFFF).any():
        raise ResultError("a string is not Unicode")


def scalar(decoder, node):
    if node.get("shape") != [] or node.get("dtype") == "O":
        raise ResultError("a scalar has a shape")
    found = array(decoder, node)
    return found if isinstance(found, Remote) else found[()]


def missing(decoder, node):
    pandas = _module("pandas")
    text = decoder.text(node, "v", 8)
    if text not in ("NaT", "<NA>"):
        raise ResultError("a missing value is of no kind")
    if pandas is None:
        return Remote("pandas." + text.strip("<>"), text)
    return pandas.NaT if text == "NaT" else pandas.NA


def _stand_in(kind, **data):
    return Remote(kind, kind, data)


def _part(decoder, node):
    """A column: an array of one dimension, or a list with a type."""
    if type(node) is not dict or node.get("t") not in ("ndarray", "column"):
        raise ResultError("a column is none")
    if node["t"] == "ndarray" and len(decoder.list(node, "shape")) != 1:
        raise ResultError("a column has a shape")
    return decoder.node(node)


def _length(part):
    """Of a column or an index, also of one that stands in."""
    if not isinstance(part, Remote):
        return len(part)
    if "shape" in part.data:
        return part.data["shape"][0]
    return _length(part.data["items"])


def _is_missing(pandas, item):
    if item is None or item is pandas.NaT or item is pandas.NA:
        return True
    return type(item) is float and item != item


def _is_simple(item):
    """Of the types whose hashes Python itself can bear, whatever they are."""
    return type(item) in SIMPLE or type(item) is int and item.bit_length() <= 64


def _may_compare(pandas, items):
    """Whether pandas may look for those that are equal.

    A guest finds numbers that collide in its tables, and then each is compared
    with all others; the hashes of texts have a secret.
    """
    odd = [i for i in items if type(i) is not str and not _is_missing(pandas, i)]
    if len(odd) <= MAX_COMPARED:
        return True
    return all(map(_is_simple, odd)) and len(set(odd)) <= MAX_COMPARED


def column(decoder, node):
    dtype, items = decoder.text(node, "dtype", 256), decoder.items(node)
    pandas = _module("pandas")
    if pandas is None:
        return _stand_in("pandas.array", dtype=dtype, items=items)
    may = dtype != "category" or _may_compare(pandas, items)
    if may and COLUMN.fullmatch(dtype):
        try:
            return pandas.array(items, dtype=dtype)
        except Exception:  # pandas raises what it likes: take them as they are
            pass
    found = _module("numpy").empty(len(items), object)
    for i, item in enumerate(items):
        found[i] = item
    return found


def index(decoder, node):
    names = [decoder.node(name) for name in decoder.list(node, "names")]
    data = node.get("data")
    if not names:
        raise ResultError("an index has no names")
    if type(data) is list:
        items = decoder.node(data)
        if any(not isinstance(i, tuple) or len(i) != len(names) for i in items):
            raise ResultError("an index has not as many parts as names")
    elif type(data) is dict and data.get("t") == "range":
        items = decoder.node(data)
        if any(abs(part) >= 1 << 62 for part in (items.start, items.stop, items.step)):
            raise ResultError("an index is out of range")
    else:
        items = _part(decoder, data)
    pandas = _module("pandas")
    if pandas is None:
        return _stand_in("pandas.Index", names=names, items=items)
    return _build(_build_index, pandas, items, names)


def _build_index(pandas, items, names):
    if isinstance(items, range):
        return pandas.RangeIndex(items, name=names[0])
    if isinstance(items, list):
        if not all(_may_compare(pandas, part) for part in zip(*items)):
            return pandas.Index(items, tupleize_cols=False)
        if len(names) > 1:
            return pandas.MultiIndex.from_tuples(items, names=names)
    return pandas.Index(items, name=names[0])


def _build(maker, *arguments):
    """pandas raises what it likes for values that do not go together."""
    try:
        return maker(*arguments)
    except Exception as error:
        raise ResultError("pandas refuses it: %s" % type(error).__name__) from None


def _index_of(decoder, node, key):
    found = node.get(key)
    if type(found) is not dict or found.get("t") != "index":
        raise ResultError("a frame has no index")
    return decoder.node(found)


def frame(decoder, node):
    columns, rows = (_index_of(decoder, node, key) for key in ("columns", "index"))
    parts = [_part(decoder, part) for part in decoder.list(node, "data")]
    if len(parts) != _length(columns):
        raise ResultError("a frame has not as many columns as names")
    if any(_length(part) != _length(rows) for part in parts):
        raise ResultError("a frame has columns of unequal length")
    pandas = _module("pandas")
    if pandas is None:
        return _stand_in("pandas.DataFrame", columns=columns, index=rows, data=parts)
    return _build(_build_frame, pandas, columns, rows, parts)


def _build_frame(pandas, columns, rows, parts):
    found = pandas.DataFrame(dict(enumerate(parts)), index=rows)
    found.columns = columns
    return found


def series(decoder, node):
    rows, name = _index_of(decoder, node, "index"), decoder.node(node.get("name"))
    data = _part(decoder, node.get("data"))
    if _length(data) != _length(rows):
        raise ResultError("a series has not the length of its index")
    pandas = _module("pandas")
    if pandas is None:
        return _stand_in("pandas.Series", name=name, index=rows, data=data)
    return _build(lambda: pandas.Series(data, index=rows, name=name))
