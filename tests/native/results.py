# SPDX-License-Identifier: Apache-2.0
"""Both decoders of results: what the kernel encodes comes back as it was, and
what a hostile guest sends does no harm.  results.py RESULT-TOOL [no-limit]"""

import base64
import collections
import datetime
import decimal
import fractions
import json
import os
import pathlib
import pickle
import random
import resource
import subprocess
import sys
import unittest
import unittest.mock
import uuid
import zoneinfo

import numpy
import pandas

import hostile_results
from sandbox_client import Limits, Remote, ResultError, decode, loads
from sandbox_kernel.result import Encoder

MEMORY = 3 << 30  # of this process, with all that pandas loads
TOOL_MEMORY = 1 << 30
SHOWN = 65536

P = collections.namedtuple("P", "x y")
ZONE = datetime.timezone(datetime.timedelta(hours=-5))
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
RANDOM = numpy.random.default_rng(1)

# fmt: off
VALUES = [
    True, 0, -5, 1 << 53, 1 << 60, -(1 << 5000), 1.0, -0.0, 0.1, 1e16, 1e15, 1e-5, 1e-4, 1.5e300, 5e-324, 1e22,
    123456789.123, float("nan"), float("-inf"), 2 - 3j, 1j, complex("nan+infj"), complex(-0.0, -0.0),
    "", "a", "it's", "\"q\"'", "\\", "ü\U0001f600\x1b[31m\x00\n\t\u202e\xa0\u2028\ufeff\ue000", "\ud800x",
    b"", bytes(range(256)), b"'", bytearray(b"a\"b"), range(3), range(1, 10, 3), range(0, 1 << 70, 1 << 65),
    [1, [2, []], "x"], (1,), (), (1, (2,)), set(), {1}, frozenset(), frozenset({"a"}), {},
    {"a": 1, 2: (3,), None: b"x", (4, 5): {"t": "int"}}, P(1, "b"), [P(1, 2), P(3, 4)],
    datetime.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=datetime.timezone.utc), datetime.datetime(2024, 2, 29),
    datetime.datetime(1, 1, 1, 1, 2), datetime.date(9999, 12, 31), datetime.time(1, 2, 3), datetime.time(0, 0, 0, 5),
    datetime.datetime(2024, 1, 1, tzinfo=ZONE), datetime.datetime(2024, 7, 1, tzinfo=BERLIN),
    datetime.time(1, 2, tzinfo=datetime.timezone.utc),
    datetime.timedelta(-1, 5, 6), datetime.timedelta(0), datetime.timedelta(1),
    decimal.Decimal("1.10"), decimal.Decimal("NaN"), decimal.Decimal("-1E+5"), decimal.Decimal("-Infinity"),
    fractions.Fraction(-1, 3), uuid.UUID(int=5), pathlib.Path("/a/b"),
]
ARRAYS = [
    numpy.arange(6.0).reshape(2, 3), numpy.arange(6).reshape(2, 3).T, numpy.array([True, False]), numpy.array(5),
    numpy.array(True), numpy.zeros((0, 3)), numpy.zeros(0), numpy.array([1.5, 2, numpy.nan]), numpy.array([1e10, 1]),
    numpy.array([1e-5, 1]), numpy.array([1 / 3, 2 / 3]), numpy.array([-1.5, numpy.inf]),
    numpy.array([numpy.nan, -numpy.inf]), numpy.arange(2000), numpy.arange(2000.0).reshape(40, 50),
    numpy.arange(24).reshape(2, 3, 4), numpy.arange(100), numpy.arange(100.0) / 7,
    numpy.array([1, 2], "f4") / numpy.float32(3), numpy.array([0.1, 0.2], "f2"), numpy.array([1, -2], "i2"),
    numpy.array([1 << 63], "u8"), numpy.array(["a", "bcd"]), numpy.array([b"a", b"bcd"]),
    numpy.array(["2024-01-01", "NaT"], "M8[D]"), numpy.array(["2024-01-01T01:02:03.5"], "M8[ns]"),
    numpy.array([5, -3], "m8[s]"), numpy.array(["2024"], "M8[Y]"), numpy.array(["1969-12"], "M8[M]"),
    numpy.array(["1969-12-31T23"], "M8[h]"), numpy.array([1 + 2j, 3 - 4.5j]), numpy.array([1 + 2j], "c8"),
    RANDOM.normal(size=(5, 5)), RANDOM.normal(size=30), RANDOM.normal(size=20).astype("f4"),
    RANDOM.normal(size=(3, 3)) * 1e6, RANDOM.normal(size=(3, 3)) * 1e-6, RANDOM.normal(size=(2000, 3)),
    RANDOM.normal(size=7) + 1j * RANDOM.normal(size=7), RANDOM.integers(-1000, 1000, (30, 40)),
    RANDOM.normal(size=5).astype("f2"), numpy.arange(1001), numpy.zeros((3, 2, 2, 2)), numpy.array(["long" * 20] * 3),
    numpy.float32([1e-7, 3]), numpy.zeros((1,) * 5), numpy.array([0.0, -0.0]), numpy.array(1.5), numpy.array("x"),
    numpy.array([1e-10, 0, numpy.nan]), numpy.array([[1 + 1j, numpy.nan], [1e10, 0]]),
    numpy.array([1, "a", None, (1,)], dtype=object),
]
# numpy 2 shows its scalars in another way.
SCALARS = [
    numpy.float32(0.1), numpy.int64(5), numpy.bool_(True), numpy.str_("x"), numpy.float64(1e100), numpy.float16(0.1),
    numpy.datetime64("2024-01-01"), numpy.timedelta64(5, "s"), numpy.complex128(1 + 2j),
]
FRAMES = [
    pandas.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.5, float("nan")]}),
    pandas.DataFrame({"t": pandas.to_datetime(["2024-01-01", "2024-01-02"])}, index=["r", "s"]),
    pandas.DataFrame({"n": pandas.array([1, None], dtype="Int64")}),
    pandas.DataFrame({("a", 1): [1]}, index=pandas.Index([7], name="k")),
    pandas.DataFrame({"z": pandas.to_datetime(["2024-01-01"], utc=True)}),
    pandas.DataFrame({"c": pandas.Categorical(["a", "b", "a"])}),
    pandas.DataFrame(RANDOM.normal(size=(100, 30))),
    pandas.DataFrame({"a": []}),
]
# fmt: on
SHOWN_FRAMES = [
    "   a     b    c\n0  1     x  0.5\n1  2  None  NaN",
    "                     t\nr  2024-01-01 00:00:00\ns  2024-01-02 00:00:00",
    "      n\n0     1\n1  <NA>",
]


def encode(value):
    encoder = Encoder()
    node = encoder.node(value, 0)
    buffers = [base64.b64encode(b).decode() for b in encoder.buffers]
    return json.dumps({"version": 1, "value": node, "buffers": buffers})


class Tool:
    """The decoder of sandboxctl, with little memory."""

    def __init__(self, path, limit):
        self._process = subprocess.Popen(
            [path, str(SHOWN)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=self._limit if limit else None,
        )

    @staticmethod
    def _limit():
        resource.setrlimit(resource.RLIMIT_AS, (TOOL_MEMORY, TOOL_MEMORY))

    def ask(self, text):
        self._process.stdin.write(text.encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def stop(self):
        self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait()


class RoundTrip(unittest.TestCase):
    def check(self, value):
        text = encode(value)
        self.assertEqual(tool.ask(text).get("show"), repr(value))
        back = loads(text)
        if not isinstance(value, pathlib.PurePath):
            self.assertEqual(repr(back), repr(value))
            self.assertEqual(type(back).__name__, type(value).__name__)
        if "na" not in repr(value).lower():
            self.assertTrue(numpy.all(back == value), repr(value))

    def test_values(self):
        for value in VALUES + ARRAYS:
            with self.subTest(repr(value)[:60]):
                self.check(value)

    @unittest.skipUnless(numpy.__version__ < "2", "numpy 2 shows them otherwise")
    def test_scalars(self):
        for value in SCALARS:
            self.check(value)

    def make(self, random, depth):
        """A value of random leaves."""
        kind = random.randrange(6 if depth else 1)
        count = random.randrange(5)
        simple = [v for v in VALUES if v.__hash__ and v == v]
        if kind == 0:
            return random.choice(VALUES + ARRAYS[:12])
        if kind == 1:
            return {random.choice(simple) for _ in range(count)}
        if kind == 2:
            return random.choice([random.getrandbits(200), random.gauss(0, 1e9)])
        items = [self.make(random, depth - 1) for _ in range(count)]
        if kind == 3:
            return dict(zip(random.sample(simple, count), items))
        return tuple(items) if kind == 4 else items

    def test_random(self):
        rng = random.Random(5)
        for i in range(300):
            value = self.make(rng, 4)
            text = encode(value)
            back, shown = loads(text), tool.ask(text)["show"]
            self.assertEqual(shown, repr(value), i)
            if "{" not in shown:  # a set may come back in another order
                self.assertEqual(encode(back), text, i)

    def test_frames(self):
        for value in FRAMES:
            pandas.testing.assert_frame_equal(loads(encode(value)), value)
            self.assertIn("show", tool.ask(encode(value)))
        for value, shown in zip(FRAMES, SHOWN_FRAMES):
            self.assertEqual(tool.ask(encode(value))["show"], shown)
        series = pandas.Series([1.5, 2.25], index=["a", "b"], name="s")
        pandas.testing.assert_series_equal(loads(encode(series)), series)
        shown = "a  1.50\nb  2.25\nName: s, dtype: float64"
        self.assertEqual(tool.ask(encode(series))["show"], shown)

    def test_plain(self):
        """For --json."""
        value = {"a": (1, numpy.arange(4).reshape(2, 2)), "b": [1.5, None, 1 << 70]}
        self.assertEqual(
            tool.ask(encode(value))["plain"],
            {
                "a": [1, [[0, 1], [2, 3]]],
                "b": [1.5, None, {"t": "int", "v": hex(1 << 70)}],
            },
        )

    def test_without_numpy(self):
        array, frame = encode(numpy.arange(2)), encode(FRAMES[0])
        hidden = {name: None for name in ("numpy", "pandas")}
        with unittest.mock.patch.dict(sys.modules, hidden):
            array = loads(array)
            frame = loads(frame)
        self.assertEqual((array.type, array.data["shape"]), ("numpy.ndarray", (2,)))
        self.assertEqual(frame.type, "pandas.DataFrame")
        self.assertEqual(frame.data["index"].data["items"], range(2))


class Hostile(unittest.TestCase):
    def test_python(self):
        for name, want, text in hostile_results.cases():
            with self.subTest(name):
                try:
                    value = loads(text)
                except ResultError:
                    self.assertIn(want, ("refused", "any"))
                    continue
                self.assertIn(want, ("fine", "any", "opaque"))
                if want == "opaque":
                    self.assertIsInstance(value, Remote)
                    self.assertTrue(repr(value).isprintable())

    def test_sandboxctl(self):
        for name, want, text in hostile_results.cases():
            with self.subTest(name):
                answer = tool.ask(text)
                if "error" in answer:
                    self.assertIn(want, ("refused", "any"), answer["error"])
                    continue
                self.assertNotEqual(want, "refused")
                shown = answer["show"]
                self.assertLessEqual(len(shown.encode()), SHOWN)
                self.assertTrue(shown.replace("\n", "").isprintable(), shown[:80])

    def test_collisions(self):
        """Keys that all have one hash take quadratic time."""
        step = sys.hash_info.modulus
        node = [{"t": "int", "v": hex(i * step)} for i in range(100000)]
        with self.assertRaises(ResultError):
            loads(hostile_results.typed({"t": "set", "v": node}))

    def test_collisions_in_pandas(self):
        """The same for its own tables: what is too much for them stays a list."""
        step = sys.hash_info.modulus
        big = [{"t": "int", "v": hex(i * step)} for i in range(60000)]
        folded = [i * ((1 << 32) + 1) for i in range(60000)] + ["x"]
        for items in (big, folded):
            node = {"t": "column", "dtype": "category", "v": items}
            found = loads(hostile_results.typed(node))
            self.assertEqual((len(found), str(found.dtype)), (len(items), "object"))
            rows = [hostile_results.many("tuple", i, 0) for i in items]
            for names in (["a", "b"], ["a"]):
                for row in rows:
                    row["v"] = row["v"][: len(names)]
                node = hostile_results.index(rows, names)
                self.assertEqual(loads(hostile_results.typed(node)).nlevels, 1)

    def test_few_of_many(self):
        """What is not hostile has its type, however long it is."""
        many, few = range(15000), [i % 9 for i in range(15000)]
        days = [datetime.datetime(2024, 1, 1 + i % 7) for i in many]
        rows = pandas.MultiIndex.from_arrays([days, few], names=["a", "b"])
        frame = pandas.DataFrame({"n": pandas.Categorical(few)}, index=rows)
        pandas.testing.assert_frame_equal(loads(encode(frame)), frame)


class Call:
    """A pickle that calls something."""

    def __init__(self, function, *arguments):
        self._call = function, arguments

    def __reduce__(self):
        return self._call


# On whichever descriptor the answer goes to.
FLOOD = """import os
while True:
    for fd in range(3, 9):
        try:
            os.write(fd, b"{" * 65536)
        except OSError:
            pass
"""


class Trusted(unittest.TestCase):
    def read(self, value, **limits):
        return self.read_bytes(pickle.dumps(value), **limits)

    def read_bytes(self, data, **limits):
        typed = json.loads(hostile_results.typed({"t": "pickle", "b": 0}, data))
        return decode(typed, trust_pickle=True, limits=Limits(**limits))

    def refuses(self, value, **limits):
        with self.assertRaises(ResultError) as caught:
            if type(value) is bytes:
                self.read_bytes(value, **limits)
            else:
                self.read(value, **limits)
        return str(caught.exception)

    def test_values(self):
        # It has no modules but Python's own, and sends no zones.
        other = ("P(", "zoneinfo", "Path")
        values = [v for v in VALUES if not any(word in repr(v) for word in other)]
        self.assertEqual(repr(self.read(values)), repr(values))

    def test_elsewhere(self):
        self.assertNotEqual(self.read(Call(os.getpid)), os.getpid())
        environment = self.read(Call(eval, "dict(__import__('os').environ)"))
        self.assertEqual(set(environment) - {"LC_CTYPE"}, set())
        self.assertIsInstance(self.read(Call(eval, "object()")), Remote)

    def test_limits(self):
        for code in (
            "while True: pass",
            "raise SystemExit('ran')",
            "open(%r, 'ab', 0).write(b'x')" % os.path.join(os.getcwd(), "file"),
        ):
            self.refuses(Call(exec, code), seconds=1)
        self.refuses(hostile_results.BOMB, memory=200 << 20)
        self.assertIn("large", self.refuses(Call(exec, FLOOD), bytes=1 << 20))
        self.refuses(b"")
        self.refuses(b"\x80\x02\x82\x01.")
        self.refuses(b"Pname\n.")
        nested = []
        for _ in range(200):
            nested = [nested]
        self.refuses(nested)

    def test_no_network(self):
        if subprocess.call(["unshare", "-rn", "true"], stderr=subprocess.DEVNULL):
            self.skipTest("no namespaces here")
        there = self.read(Call(os.readlink, "/proc/self/ns/net"))
        self.assertNotEqual(there, os.readlink("/proc/self/ns/net"))


if __name__ == "__main__":
    tool = Tool(sys.argv.pop(1), limit=sys.argv[1:] != ["no-limit"])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=1)
    sys.exit(tool.stop() or not program.result.wasSuccessful())
