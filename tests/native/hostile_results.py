# SPDX-License-Identifier: Apache-2.0
"""Results that a hostile guest might send, for both decoders.

CASES yields (name, what must come of it, the JSON text): "refused", "opaque"
(the value is shown by words only), or "fine" (it is what it says, and harmless).
"""

import base64
import json
import pickle

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r"
BOMB = b"\x80\x04\x8c\x08builtins\x8c\x05bytes\x93J\x00\xa3\xe1\x11\x85R."  # 300 MB
BIG = 32 << 20
SMALL = 4 << 20


class Evil:
    def __reduce__(self):
        return (exec, ("raise SystemExit('ran')",))


def typed(value, *buffers, **more):
    texts = [base64.b64encode(b).decode() for b in buffers]
    return json.dumps(dict(version=1, value=value, buffers=texts, **more))


def array(dtype, shape, data=b"", **more):
    node = {"t": "ndarray", "dtype": dtype, "shape": shape, "b": 0}
    return typed(dict(node, **more), data)


def many(kind, *items):
    return {"t": kind, "v": list(items)}


def hexadecimal(digits):
    return {"t": "int", "v": "0x" + digits}


def index(data, names=(None,)):
    return {"t": "index", "names": list(names), "data": data}


def span(*parts):
    return many("range", *parts)


def frame(columns, rows, *data):
    return {"t": "dataframe", "columns": columns, "index": rows, "data": list(data)}


def objects(*items):
    return {"t": "ndarray", "dtype": "O", "shape": [len(items)], "v": list(items)}


def deep(depth, wrap=lambda v: [v]):
    value = 0
    for _ in range(depth):
        value = wrap(value)
    return value


def nested_text(depth):
    return '{"version":1,"value":%s,"buffers":[]}' % ("[" * depth + "]" * depth)


def pickles():
    yield "a pickle", "opaque", typed({"t": "pickle", "b": 0}, pickle.dumps(Evil()))
    yield "a pickle bomb", "opaque", typed({"t": "pickle", "b": 0}, BOMB)
    yield "pickle as bytes", "fine", typed({"t": "bytes", "b": 0}, pickle.dumps(Evil()))


def trees():
    yield "deep lists", "refused", typed(deep(100))
    yield "deep tuples", "refused", typed(deep(200, lambda v: many("tuple", v)))
    yield "deep dicts", "refused", typed(deep(200, lambda v: many("dict", [1, v])))
    yield "deep keys", "refused", typed(
        many("dict", [deep(200, lambda v: many("tuple", v)), 1])
    )
    yield "very deep lists", "refused", nested_text(100000)
    yield "a wide list", "refused", typed([0] * 1000000)
    yield "wide sets", "refused", typed([many("set", 1, 2) for _ in range(100000)])
    yield "many empty lists", "refused", typed([[[]] for _ in range(150000)])
    yield "many buffers", "refused", typed([], *[b""] * 300000)


def arrays():
    yield "too few bytes", "refused", array("<f8", [3], bytes(16))
    yield "too many bytes", "refused", array("<f8", [1], bytes(16))
    yield "negative", "refused", array("<f8", [-1, -2], bytes(16))
    yield "huge", "refused", array("<f8", [1 << 62], bytes(16))
    yield "overflow to 0", "refused", array("<f8", [1 << 32, 1 << 32], b"")
    yield "overflow to 16", "refused", array("<f8", [(1 << 61) + 2], bytes(16))
    yield "huge and empty", "refused", array("<f8", [0, 1 << 62, 1 << 62], b"")
    yield "many empty rows", "fine", array("<f8", [1 << 36, 0], b"")
    yield "past int64", "refused", array("<f8", [1 << 70], bytes(16))
    yield "a float shape", "refused", array("<f8", [2.0], bytes(16))
    yield "a bool shape", "refused", array("<f8", [True, True], bytes(8))
    yield "a text shape", "refused", array("<f8", "22", bytes(16))
    yield "many dimensions", "refused", array("<f8", [1] * 100, bytes(8))
    yield "a list of lists of each byte", "fine", array(
        "|u1", [1000000] + [1] * 31, bytes(1000000)
    )
    yield "a list of lists of each object", "fine", array(
        "O", [190000] + [1] * 31, v=[0] * 190000
    )
    yield "no shape", "refused", typed({"t": "ndarray", "dtype": "<f8", "b": 0}, b"")
    yield "no item size", "refused", array("|S0", [1 << 40], b"")
    yield "huge items", "refused", array("<U999999999", [0], b"")
    yield "objects by pointer", "refused", array("|O", [1], bytes(8))
    yield "objects with bytes", "refused", array("O", [1], bytes(8))
    yield "structures", "refused", array("<f8,<f8", [1], bytes(16))
    yield "fields", "refused", array([["a", "|O"]], [1], bytes(8))
    yield "sub-arrays", "refused", array("(1000000000,)<f8", [0], b"")
    yield "void", "refused", array("|V8", [1], bytes(8))
    yield "a long double", "refused", array("<f16", [1], bytes(16))
    yield "big endian", "refused", array(">f8", [1], bytes(8))
    yield "a unit of 0", "refused", array("<M8[0s]", [1], bytes(8))
    yield "an odd unit", "refused", array("<M8[parsec]", [1], bytes(8))
    yield "no bool", "refused", array("|b1", [2], b"\x02\xff")
    yield "no Unicode", "refused", array("<U1", [1], b"\xff\xff\xff\x7f")
    yield "too few items", "refused", array("O", [2], v=[1])
    yield "too many items", "refused", array("O", [1], v=[1, 2])
    yield "a huge date", "fine", array("<M8[s]", [1], b"\xff" * 7 + b"\x7f")
    yield "surrogates", "fine", array("<U1", [1], b"\x00\xd8\x00\x00")
    yield "a scalar with shape", "refused", typed(
        {"t": "scalar", "dtype": "|u1", "shape": [1], "b": 0}, b"a"
    )
    yield "a scalar object", "refused", typed(
        {"t": "scalar", "dtype": "O", "shape": [], "v": [[]]}
    )


def numbers():
    yield "ten million digits", "refused", typed(hexadecimal("f" * 10000000))
    yield "a million digits", "fine", typed(hexadecimal("f" * 999000))
    yield "decimal digits", "refused", typed({"t": "int", "v": "9" * 5000})
    yield "underscores", "refused", typed(hexadecimal("1_0"))
    yield "digits of another script", "refused", typed(hexadecimal("\u0663"))
    yield "a JSON int", "refused", '{"version":1,"value":%s}' % ("9" * 100000)
    yield "a float word", "refused", typed({"t": "float", "v": "1e5"})
    yield "complex strings", "refused", typed(many("complex", "1", "2"))
    yield "a huge exponent", "opaque", typed({"t": "decimal", "v": "1E+999999999"})
    yield "a huger exponent", "refused", typed({"t": "decimal", "v": "1E+" + "9" * 30})
    yield "no decimal", "refused", typed({"t": "decimal", "v": "__import__"})
    yield "denominator 0", "refused", typed(many("fraction", 1, 0))
    yield "huge fraction", "opaque", typed(
        many("fraction", hexadecimal("f" * 900000), hexadecimal("e" * 900000))
    )
    yield "step 0", "refused", typed(span(0, 1, 0))
    yield "a float range", "refused", typed(span(0, 1.5, 1))
    yield "a huge range", "fine", typed(span(0, 1 << 60, 1))


def buffers():
    raw = '{"version":1,"value":{"t":"bytes","b":0},"buffers":[%s]}'
    for name, text in (
        ("no padding", "QUI"),
        ("bits behind the end", "QUJ="),
        ("padding inside", "QQ==QQ=="),
        ("padding only", "===="),
        ("white space", "QU I"),
        ("a newline", "QUJD\\n"),
        ("URL letters", "-_-_"),
        ("not ASCII", "\u0444\u0444\u0444\u0444"),
    ):
        yield name, "refused", raw % ('"%s"' % text)
    yield "a number for a buffer", "refused", raw % "1"
    yield "null for a buffer", "refused", raw % "null"
    for place in (1, -1, 0.0, "0", None, True, [0], 1 << 62):
        yield "buffer %r" % (place,), "refused", typed({"t": "bytes", "b": place}, b"x")
    yield "one buffer for 1,000", "refused", typed(
        [{"t": "bytes", "b": 0} for _ in range(1000)], bytes(BIG)
    )
    yield "arrays of one buffer", "refused", typed(
        [{"t": "ndarray", "dtype": "|u1", "shape": [SMALL], "b": 0}] * 1000,
        bytes(SMALL),
    )
    yield "a big buffer", "fine", typed({"t": "bytes", "b": 0}, bytes(SMALL))
    yield "a big array", "fine", array("|u1", [SMALL], bytes(SMALL))


def containers():
    yield "a list as key", "refused", typed(many("dict", [[], 1]))
    yield "a dict as key", "refused", typed(many("dict", [many("dict"), 1]))
    yield "a list in a key", "refused", typed(many("dict", [many("tuple", []), 1]))
    yield "a set of lists", "refused", typed(many("set", []))
    yield "a set of arrays", "refused", typed(many("set", objects()))
    yield "no pairs", "refused", typed(many("dict", [1]))
    yield "triples", "refused", typed(many("dict", [1, 2, 3]))
    yield "pairs of text", "refused", typed(many("dict", "ab"))
    yield "an object for pairs", "refused", typed({"t": "dict", "v": {"a": 1}})
    nan = {"t": "float", "v": "nan"}
    yield "NaN keys", "fine", typed(many("dict", [nan, 1], [nan, 2]))
    for name in ("x;y", "", "0", "a b", "__import__('os')", "x" * 1000, 5, None):
        node = {"t": "tuple", "name": "P", "fields": [name], "v": [1]}
        yield "a field %.20r" % (name,), "refused", typed(node)
    node = {"t": "tuple", "name": "P(object): pass", "fields": ["x"], "v": [1]}
    yield "a bad type name", "refused", typed(node)
    node = {"t": "tuple", "name": "P", "fields": ["x", "y"], "v": [1]}
    yield "too many fields", "refused", typed(node)
    for fields in (["x", "x"], ["\ufb01", "fi"]):
        node = {"t": "tuple", "name": "P", "fields": fields, "v": [1, 2]}
        yield "fields %a" % fields, "any", typed(node)


def texts():
    yield "escapes", "fine", typed(ESCAPE)
    yield "escapes in a repr", "opaque", typed(
        {"t": "object", "type": ESCAPE, "repr": ESCAPE}
    )
    yield "escapes in a kind", "opaque", typed({"t": ESCAPE, "repr": ESCAPE})
    yield "escapes in a reason", "opaque", typed(
        {"t": "truncated", "type": ESCAPE, "reason": ESCAPE}
    )
    yield "lone surrogates", "fine", typed({"t": "str", "b": 0}, b"\xed\xa0\x80")
    yield "no UTF-8", "refused", typed({"t": "str", "b": 0}, b"\xff\xfe")
    yield "a long repr", "opaque", typed(
        {"t": "object", "type": "x", "repr": "\x1b" * (4 << 20)}
    )
    yield "a later kind", "opaque", typed({"t": "later", "type": "m.T", "repr": "r"})
    node = {"t": "later", "type": 1, "repr": [[]]}
    yield "a later kind with junk", "opaque", typed(node)


def times():
    for text in (
        "0000-01-01T00:00:00",
        "10000-01-01T00:00:00",
        "2023-02-29T00:00:00",
        "2023-13-01T00:00:00",
        "2023-01-01T24:00:00",
        "2023-01-01T00:00:00+99:00",
        "2023-01-01",
        "2023-W01-1T00:00:00",
        "\u0662023-01-01T00:00:00",
        "",
        "x" * 100000,
    ):
        yield "time %.30r" % text, "refused", typed({"t": "datetime", "v": text})
    for zone in ("../../etc/passwd", "/etc/passwd", "a/../b", "", "A\0", 5, "Z" * 999):
        node = {"t": "datetime", "v": "2023-01-01T00:00:00+00:00", "zone": zone}
        yield "zone %.20r" % (zone,), "refused", typed(node)
    node = {"t": "datetime", "v": "2023-01-01T00:00:00+00:00", "zone": "No/Where"}
    yield "an unknown zone", "fine", typed(node)
    yield "a huge timedelta", "refused", typed(many("timedelta", 10**12, 0, 0))
    yield "a timedelta of text", "refused", typed(many("timedelta", "1", 0, 0))
    yield "no UUID", "refused", typed({"t": "uuid", "v": "{urn:uuid}"})


def frames():
    rows = index(span(0, 2, 1))
    names = index(objects("a"))
    column = {"t": "column", "dtype": "Int64", "v": [1, 2]}
    yield "too few columns", "refused", typed(frame(names, rows))
    yield "a short column", "refused", typed(frame(names, rows, dict(column, v=[1])))
    huge = index(span(0, 1 << 60, 1))
    yield "a huge index", "refused", typed(frame(names, huge, column))
    yield "an index past int64", "refused", typed(
        frame(names, index(span(0, hexadecimal("f" * 30), 1)), column)
    )
    yield "huge columns", "refused", typed(frame(huge, rows, column))
    yield "no index", "refused", typed(frame(names, [1, 2], column))
    pairs = index([1, 2], ["x", "y"])
    yield "rows of tuples", "refused", typed(frame(names, pairs, column))
    yield "a column that is none", "refused", typed(frame(names, rows, [1, 2]))
    yield "no names", "refused", typed(index(span(0, 1, 1), []))
    for dtype in ("(100000000,)f8", "category", "period[D]", "datetime64[ns, ../x]"):
        node = frame(names, rows, dict(column, dtype=dtype))
        yield "column of %s" % dtype, "fine", typed(node)
    node = frame(names, rows, dict(column, dtype=1))
    yield "a column of no type", "refused", typed(node)
    yield "missing what", "refused", typed({"t": "missing", "v": "x"})


def fields():
    for kind in (
        "int float complex str bytes bytearray tuple set frozenset dict range"
        " datetime date time timedelta decimal uuid path fraction ndarray scalar"
        " dataframe series index column missing image object truncated pickle"
    ).split():
        yield "%s without fields" % kind, "refused", typed({"t": kind})
        for junk in (None, 5, {"x": []}, [[[]]], "\x1b" * 5):
            keys = "v b type repr data index columns dtype shape names size mime mode"
            node = dict.fromkeys((keys + " reason name zone").split(), junk)
            legal = kind in ("object", "truncated", "path") or junk == [[[]]]
            want = "any" if legal else "refused"
            yield "%s of %.9r" % (kind, junk), want, typed(dict(node, t=kind), b"")
    for text in ("[]", "5", '{"value":1}', '{"version":2,"value":1}', '{"version":1}'):
        yield "around: %s" % text, "refused", text
    for kind in (1, None, [], {}, ""):
        want = "refused" if kind != "" else "any"
        yield "kind %r" % (kind,), want, typed({"t": kind})
    yield "no kind", "refused", typed({"v": 1})
    yield "junk beside it", "opaque", typed(
        {"t": "object", "type": "x", "repr": "y"}, data={"text/html": [[[ESCAPE]]]}
    )
    yield "junk for a bundle", "opaque", typed(
        {"t": "object", "type": "x", "repr": "y"}, data=[1]
    )


def cases():
    groups = [pickles, trees, arrays, numbers, buffers]
    for group in groups + [containers, texts, times, frames, fields]:
        for name, want, text in group():
            yield "%s: %s" % (group.__name__, name), want, text
