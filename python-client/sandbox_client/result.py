# SPDX-License-Identifier: Apache-2.0
"""Results of cells, as POST /v1/run answers with them, as values.

The guest is hostile.  Only the types that sandbox-kernel(1) lists are built,
after their sizes, depth and counts were checked; no name that the guest sends
is ever looked up or called.
"""

import binascii
import collections
import datetime
import decimal
import fractions
import json
import keyword
import pathlib
import re
import unicodedata
import uuid

from sandbox_client import frames
from sandbox_client.values import Image, Limits, Remote, ResultError

HEX = re.compile(r"-?0x[0-9a-f]+")
DECIMAL = re.compile(
    r"-?(?:(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,18}))?|Infinity|s?NaN\d*)", re.ASCII
)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z][A-Za-z0-9_+-]*)*")
CLOCK = r"\d\d:\d\d:\d\d(\.\d{6})?([+-]\d\d:\d\d(:\d\d(\.\d{6})?)?)?"
TIMES = {
    "date": re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
    "time": re.compile(CLOCK, re.ASCII),
    "datetime": re.compile(r"\d{4}-\d\d-\d\dT" + CLOCK, re.ASCII),
}
MAX_EXPONENT = 1000000  # of a Decimal: int() of a larger one takes for ever
MAX_GCD = 4096  # digits of a Fraction's parts: to reduce them is quadratic
MAX_TYPES = 256  # named tuples: each is a class
MAX_COLLIDING = 64  # keys of one hash


def decode(typed, *, limits=Limits(), trust_pickle=False, buffers=None):
    """The value of "result" in the answer of POST /v1/run; None if there is none.

    trust_pickle reads a value that came as a pickle, in a process with limits:
    it runs whatever the sandbox put there.  buffers are those of a kernel's
    message, where they are not part of the JSON.
    """
    if typed is None:
        return None
    if not isinstance(typed, dict) or typed.get("version") != 1:
        raise ResultError("it is of another version")
    if "value" not in typed:
        raise ResultError("it has no value")
    if buffers is None:
        buffers = _read_buffers(typed.get("buffers", []), limits)
    elif sum(len(b) for b in buffers) > limits.bytes:
        raise ResultError("too many bytes")
    decoder = Decoder(buffers, limits, trust_pickle)
    try:
        value = decoder.node(typed["value"])
    except ResultError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ResultError("it is malformed: %s" % type(error).__name__) from None
    if isinstance(value, Remote) and isinstance(typed.get("data"), dict):
        value.data = typed["data"]
    return value


def loads(text, **options):
    """decode() of JSON text: of "result", or of the whole answer around it."""
    try:
        typed = json.loads(text, parse_int=_parse_int)
    except (RecursionError, ValueError) as error:
        raise ResultError("it is no JSON: %s" % type(error).__name__) from None
    if isinstance(typed, dict) and "result" in typed:
        typed = typed["result"]
    return decode(typed, **options)


def _parse_int(digits):
    """JSON's own ints are short, and long ones take quadratic time."""
    if len(digits) > 20:
        raise ResultError("an int has too many digits")
    return int(digits)


def _read_buffers(texts, limits):
    if type(texts) is not list or not all(type(text) is str for text in texts):
        raise ResultError("its buffers are no list of texts")
    if len(texts) > limits.nodes or sum(map(len, texts)) // 4 * 3 > limits.bytes:
        raise ResultError("too many bytes")
    return [_read_base64(text) for text in texts]


def _read_base64(text):
    """Strict: what encodes to the same text again."""
    try:
        data = binascii.a2b_base64(text)
    except ValueError:
        raise ResultError("a buffer is not base64") from None
    if binascii.b2a_base64(data, newline=False) != text.encode():
        raise ResultError("a buffer is not base64")
    return data


class Decoder:
    def __init__(self, buffers, limits, trust_pickle):
        self.limits = limits
        self.trust_pickle = trust_pickle
        self._buffers = list(buffers)
        self._nodes = limits.nodes
        self._text = limits.bytes
        self._depth = 0
        self._types = {}

    def node(self, node):
        self._nodes -= 1
        if self._nodes < 0:
            raise ResultError("too many nodes")
        if self._depth >= self.limits.depth:
            raise ResultError("too deep")
        self._depth += 1
        try:
            return self._any(node)
        finally:
            self._depth -= 1

    def _any(self, node):
        kind = type(node)
        if kind is dict:
            maker = KINDS.get(self.text(node, "t"))
            return self._unknown(node) if maker is None else maker(self, node)
        if kind is list:
            return [self.node(item) for item in node]
        if kind is str:
            return self._count(node)
        if kind is int and node.bit_length() > 64:
            raise ResultError("an int is too large")
        if node is None or kind in (bool, int, float):
            return node
        raise ResultError("a value is of no type")

    def items(self, node):
        return [self.node(item) for item in self.list(node, "v")]

    def list(self, node, key, count=None):
        found = node.get(key)
        if type(found) is not list or count not in (None, len(found)):
            raise ResultError("a list is missing")
        return found

    def text(self, node, key, most=None):
        found = node.get(key)
        if type(found) is not str or most is not None and len(found) > most:
            raise ResultError("a text is missing")
        return self._count(found)

    def _count(self, text):
        self._text -= len(text)
        if self._text < 0:
            raise ResultError("too much text")
        return text

    def buffer(self, node):
        """The buffer of the node; no other can have it, so nothing multiplies."""
        index = node.get("b")
        if type(index) is not int or not 0 <= index < len(self._buffers):
            raise ResultError("there is no such buffer")
        found, self._buffers[index] = self._buffers[index], None
        if found is None:
            raise ResultError("two values share a buffer")
        return found

    def _unknown(self, node):
        """A kind of a later version."""
        parts = (node.get("type", node["t"]), node.get("repr", ""))
        return Remote(*(part if type(part) is str else "" for part in parts))

    def _int(self, node):
        text = self.text(node, "v", self.limits.digits)
        if not HEX.fullmatch(text):
            raise ResultError("an int is no number")
        return int(text, 16)

    def _ints(self, node, count):
        values = [self.node(item) for item in self.list(node, "v", count)]
        if any(type(value) is not int for value in values):
            raise ResultError("a number is no int")
        return values

    def _float(self, node):
        text = self.text(node, "v", 4)
        if text not in ("nan", "inf", "-inf"):
            raise ResultError("a float is no number")
        return float(text)

    def _complex(self, node):
        parts = [self.node(item) for item in self.list(node, "v", 2)]
        if any(type(part) not in (int, float) for part in parts):
            raise ResultError("a part of a number is no float")
        return complex(*parts)

    def _str(self, node):
        return bytes(self.buffer(node)).decode("utf-8", "surrogatepass")

    def _range(self, node):
        return range(*self._ints(node, 3))

    def _fraction(self, node):
        parts = self._ints(node, 2)
        if max(part.bit_length() for part in parts) > 4 * MAX_GCD:
            return Remote("fractions.Fraction", "Fraction(...)")
        return fractions.Fraction(*parts)

    def _tuple(self, node):
        values = tuple(self.items(node))
        if "name" not in node and "fields" not in node:
            return values
        fields = tuple(self.list(node, "fields", len(values)))
        return self._named(self.text(node, "name", 256), fields)(*values)

    def _named(self, name, fields):
        found = self._types.get((name, fields))
        if found is None:
            names = (name,) + fields
            if len(self._types) >= MAX_TYPES:
                raise ResultError("too many named tuples")
            if not all(type(n) is str and len(n) <= 256 for n in names):
                raise ResultError("a named tuple has not the right names")
            # Python takes names for the same that are so in this form.
            same = {unicodedata.normalize("NFKC", n) for n in fields}
            if len(same) != len(fields):
                raise ResultError("a named tuple has a name twice")
            if not all(n.isidentifier() and not keyword.iskeyword(n) for n in names):
                raise ResultError("a named tuple has not the right names")
            found = collections.namedtuple(name, fields, rename=True)
            self._types[name, fields] = found
        return found

    def _hashed(self, values):
        """The values, which can be keys and do not all collide."""
        hashes = collections.Counter(map(hash, values))
        if hashes and max(hashes.values()) > MAX_COLLIDING:
            raise ResultError("too many keys have the same hash")
        return values

    def _set(self, node):
        return set(self._hashed(self.items(node)))

    def _frozenset(self, node):
        return frozenset(self._hashed(self.items(node)))

    def _dict(self, node):
        pairs = self.list(node, "v")
        if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise ResultError("a dict has no pairs")
        keys = self._hashed([self.node(pair[0]) for pair in pairs])
        return dict(zip(keys, [self.node(pair[1]) for pair in pairs]))

    def _time(self, node):
        kind, text = node["t"], self.text(node, "v", 64)
        if not TIMES[kind].fullmatch(text):
            raise ResultError("a date or time is out of range")
        value = getattr(datetime, kind).fromisoformat(text)
        if "zone" not in node:
            return value
        zone = self.text(node, "zone", 64)
        if not ZONE.fullmatch(zone):
            raise ResultError("a time zone has no name of one")
        return _in_zone(value, zone)

    def _timedelta(self, node):
        parts = self.list(node, "v", 3)
        if not all(type(part) is int for part in parts):
            raise ResultError("a timedelta is no number")
        return datetime.timedelta(*parts)

    def _decimal(self, node):
        text = self.text(node, "v", self.limits.digits)
        match = DECIMAL.fullmatch(text)
        if not match:
            raise ResultError("a Decimal is no number")
        if match[2] and abs(int(match[2])) > MAX_EXPONENT:
            return Remote("decimal.Decimal", "Decimal('%s')" % text)
        return decimal.Decimal(text)

    def _uuid(self, node):
        text = self.text(node, "v", 36)
        if not UUID.fullmatch(text):
            raise ResultError("a UUID is none")
        return uuid.UUID(text)

    def _path(self, node):
        text = self.node(node.get("v"))
        if type(text) is not str:
            raise ResultError("a path is no string")
        return pathlib.PurePosixPath(text)

    def _image(self, node):
        size = self.list(node, "size", 2)
        if not all(type(part) is int for part in size):
            raise ResultError("an image has no size")
        mime, mode = self.text(node, "mime", 64), self.text(node, "mode", 16)
        return Image(mime, tuple(size), mode, bytes(self.buffer(node)))

    def _object(self, node):
        return Remote(self.text(node, "type"), self.text(node, "repr"))

    def _truncated(self, node):
        reason = self.text(node, "reason", 64)
        return Remote(self.text(node, "type", 4096), reason=reason)

    def _pickle(self, node):
        data = bytes(self.buffer(node))
        if not self.trust_pickle:
            return Remote("pickle", "%d bytes" % len(data), data)
        from sandbox_client import trusted

        return loads(trusted.unpickle(data, self.limits), limits=self.limits)


def _in_zone(value, name):
    """The same moment in the zone, if this host knows it and agrees."""
    import zoneinfo

    try:
        zone = zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, OSError, ValueError):
        return value
    if isinstance(value, datetime.time):
        return value.replace(tzinfo=zone)
    for fold in (0, 1):
        moved = value.replace(tzinfo=zone, fold=fold)
        if moved.utcoffset() == value.utcoffset():
            return moved
    return value


KINDS = {
    "int": Decoder._int,
    "float": Decoder._float,
    "complex": Decoder._complex,
    "str": Decoder._str,
    "bytes": lambda self, node: bytes(self.buffer(node)),
    "bytearray": lambda self, node: bytearray(self.buffer(node)),
    "tuple": Decoder._tuple,
    "set": Decoder._set,
    "frozenset": Decoder._frozenset,
    "dict": Decoder._dict,
    "range": Decoder._range,
    "datetime": Decoder._time,
    "date": Decoder._time,
    "time": Decoder._time,
    "timedelta": Decoder._timedelta,
    "decimal": Decoder._decimal,
    "fraction": Decoder._fraction,
    "uuid": Decoder._uuid,
    "path": Decoder._path,
    "ndarray": frames.array,
    "scalar": frames.scalar,
    "dataframe": frames.frame,
    "series": frames.series,
    "index": frames.index,
    "column": frames.column,
    "missing": frames.missing,
    "image": Decoder._image,
    "object": Decoder._object,
    "truncated": Decoder._truncated,
    "pickle": Decoder._pickle,
}
