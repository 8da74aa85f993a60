# SPDX-License-Identifier: Apache-2.0
"""Results as data: each value comes back as it was."""

import base64
import datetime
import decimal
import fractions
import math
import os
import pathlib
import pickle
import sys
import unittest
import uuid

import numpy
import pandas

from driver import Kernel, KernelTest

sys.path.insert(0, os.environ["SANDBOX_CLIENT"])
from sandbox_client import Remote, decode

MIME = "application/vnd.sandbox.result+json"

AUTO = {"sandbox": {"result": "auto"}}

VALUES = (
    "None",
    "True",
    "0",
    "-(1 << 53)",
    "1 << 53 + 1",
    "-(1 << 5000)",
    "1.0",
    "-0.0",
    "1e300",
    "float('inf')",
    "2 - 3j",
    "'text ü \\U0001f600 \\0'",
    "'lone \\ud800'",
    "b''",
    "bytes(range(256))",
    "bytearray(b'abc')",
    "range(1, 10, 3)",
    "[1, [2, []], 'x']",
    "(1, (2,), ())",
    "{1, 2}",
    "frozenset({'a'})",
    "{'a': 1, 2: (3,), (4, 5): {'t': 'int'}, None: b'x'}",
    "datetime.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)",
    "datetime.date(2024, 2, 29)",
    "datetime.time(1, 2, 3)",
    "datetime.timedelta(-1, 5, 6)",
    "decimal.Decimal('1.10')",
    "fractions.Fraction(1, 3)",
    "uuid.UUID(int=5)",
    "pathlib.PurePosixPath('/a/b')",
)
ARRAYS = (
    "numpy.arange(6.0).reshape(2, 3)",
    "numpy.arange(6).reshape(2, 3).T",
    "numpy.array([[True], [False]])",
    "numpy.array(5, dtype='>i2')",
    "numpy.zeros((0, 3), dtype='c16')",
    "numpy.array(['2024-01-01'], dtype='M8[D]')",
    "numpy.array(['ü', 'xyz'])",
    "numpy.array([b'ab', b'c'])",
)
FRAMES = (
    "pandas.DataFrame({'a': [1, 2], 'b': ['x', None], 'c': [0.5, float('nan')]})",
    "pandas.DataFrame({'t': pandas.to_datetime(['2024-01-01', '2024-01-02'])}, index=['r', 's'])",
    "pandas.DataFrame({'n': pandas.array([1, None], dtype='Int64')})",
    "pandas.DataFrame({('a', 1): [1]}, index=pandas.Index([7], name='k'))",
)
IMPORTS = "import datetime, decimal, fractions, pathlib, uuid, numpy, pandas"


class Results(KernelTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kernel.run(IMPORTS)

    def fetch(self, code, **options):
        metadata = {"sandbox": dict({"result": "auto"}, **options)}
        cell = self.run_cell(code, metadata=metadata)
        found = [m for m in cell.messages if MIME in m["content"].get("data", {})]
        self.assertEqual(len(found), 1, code)
        self.tree = found[0]["content"]["data"][MIME]
        return decode(self.tree, buffers=[bytes(b) for b in found[0]["buffers"]])

    def test_values(self):
        for code in VALUES:
            value = self.fetch(code)
            wanted = eval(code)
            self.assertEqual(value, wanted, code)
            self.assertEqual(type(value), type(wanted), code)
        self.assertTrue(math.isnan(self.fetch("float('nan')")))
        self.assertEqual(math.copysign(1, self.fetch("-0.0")), -1)

    def test_arrays(self):
        for code in ARRAYS:
            value, wanted = self.fetch(code), eval(code)
            self.assertEqual(value.dtype, wanted.dtype.newbyteorder("<"), code)
            self.assertEqual(value.shape, wanted.shape, code)
            self.assertTrue((value == wanted).all(), code)
        value = self.fetch("numpy.array([1, 'a', None], dtype=object)")
        self.assertEqual(value.tolist(), [1, "a", None])
        value = self.fetch("numpy.float32(1.5)")
        self.assertEqual((value, value.dtype), (1.5, numpy.dtype("f4")))

    def test_frames(self):
        for code in FRAMES:
            pandas.testing.assert_frame_equal(
                self.fetch(code), eval(code), check_names=True
            )
        series = "pandas.Series([1, 2], name='s')"
        pandas.testing.assert_series_equal(self.fetch(series), eval(series))

    def test_namedtuple(self):
        self.run_cell("import collections; P = collections.namedtuple('P', 'x y')")
        self.assertEqual(self.fetch("P(1, 2)"), (1, 2))
        self.assertEqual(
            (self.tree["value"]["name"], self.tree["value"]["fields"]),
            ("P", ["x", "y"]),
        )
        self.assertEqual(self.fetch("P(1, 2)")._fields, ("x", "y"))

    def test_what_decoders_refuse(self):
        """The kernel sends as objects what would spoil the whole result."""
        self.run_cell(
            "class T(tuple): _fields = ('x;', 'y')\n"
            "class Z(datetime.tzinfo):\n"
            "    key = '../../etc/passwd'\n"
            "    def utcoffset(self, when): return datetime.timedelta(0)"
        )
        for code in ("T((1, 2))", "numpy.longdouble(1)", "numpy.zeros(2, 'g')"):
            self.assertIsInstance(self.fetch("[%s]" % code)[0], Remote, code)
        self.fetch("datetime.datetime(2024, 1, 1, tzinfo=Z())")
        self.assertNotIn("zone", self.tree["value"])
        self.assertEqual(self.fetch("'a\\0b'"), "a\0b")
        self.assertEqual(self.tree["value"]["t"], "str")

    def test_image(self):
        image = self.fetch("from PIL import Image; Image.new('RGB', (3, 2))")
        self.assertEqual(image[:3], ("image/png", (3, 2), "RGB"))
        self.assertEqual(image.data[:4], b"\x89PNG")

    def test_opaque(self):
        self.run_cell(
            "class Own:\n"
            "    def __repr__(self): return 'own'\n"
            "    def _repr_html_(self): return '<own>'"
        )
        value = self.fetch("[Own(), 1]")
        self.assertIsInstance(value[0], Remote)
        self.assertEqual(
            (value[0].type, value[0].repr, value[1]), ("__main__.Own", "own", 1)
        )
        self.fetch("Own()")
        self.assertEqual(self.tree["data"]["text/html"], "<own>")
        # Subclasses may do anything: they are not taken for their parents.
        self.assertIsInstance(self.fetch("class L(list): pass\nL()"), Remote)

    def test_result_name(self):
        self.assertEqual(self.fetch("_result = 3"), 3)
        self.assertEqual(self.fetch("_result = 3\n4"), 4)
        self.assertIsNone(self.fetch("x = 5"))

    def test_limits(self):
        value = self.fetch("d = []\nfor i in range(500): d = [d]\nd")
        self.assertTrue(self.tree["truncated"])
        self.fetch("c = []; c.append(c); c")
        value = self.fetch("[b'x' * 100, b'y' * 2000, 1]", max_bytes=1000)
        self.assertEqual(
            (value[0], value[1].reason, value[2]), (b"x" * 100, "bytes", 1)
        )
        value = self.fetch("list(range(300000))")
        self.assertEqual(value[-1].reason, "nodes")
        # Each level says once that there is more, and not for each item.
        value = self.fetch("[{i: [i] * 100 for i in range(100000)}, 1]")
        self.assertLess(len(value[0]), 3000)
        self.fetch("numpy.array([None] * 300000)")
        self.assertEqual(self.tree["value"]["reason"], "nodes")
        self.fetch("1 << 5000000")
        self.assertEqual(self.tree["value"]["reason"], "digits")
        value = self.fetch("numpy.zeros(1000)", max_bytes=1000)
        self.assertEqual(value.reason, "bytes")
        value = self.fetch("[bytes([i % 256]) for i in range(5000)]")
        self.assertEqual((value[4095], value[4096].reason), (b"\xff", "buffers"))

    def test_only_when_asked(self):
        cell = self.run_cell("1")
        self.assertNotIn(MIME, str(cell.messages))
        self.assertNotIn("RESULT_PICKLE", cell.text())

    def test_pickle(self):
        cell = self.run_cell("{'a': [1]}", metadata={"sandbox": {"result": "pickle"}})
        line = cell.text().strip()
        self.assertTrue(line.startswith("RESULT_PICKLE:"))
        data = base64.b64decode(line[14:])
        self.assertEqual(pickle.loads(data), {"a": [1]})
        self.assertEqual(self.opaque(cell), ({"t": "pickle", "b": 0}, [data]))

    def opaque(self, cell):
        found = [m for m in cell.messages if MIME in m["content"].get("data", {})]
        self.assertEqual(len(found), 1)
        self.tree = found[0]["content"]["data"][MIME]
        return self.tree["value"], [bytes(b) for b in found[0]["buffers"]]

    def test_pickle_limits(self):
        asked = {"sandbox": {"result": "pickle", "max_bytes": 100}}
        node, buffers = self.opaque(self.run_cell("b'x' * 200", metadata=asked))
        self.assertEqual((node["t"], node["reason"], buffers), ("truncated", "bytes", []))
        self.assertTrue(self.tree["truncated"])
        self.assertEqual(self.opaque(self.run_cell("y = 1", metadata=asked)), (None, []))
        asked["sandbox"]["result"] = "none"
        cell = self.run_cell("5", metadata=asked)
        self.assertNotIn(MIME, str(cell.messages))

    def test_pickle_by_environment(self):
        kernel = Kernel(env={"SANDBOX_RESULT_PICKLE": "1"})
        try:
            line = kernel.run("_result = 6").text().strip()
            self.assertEqual(pickle.loads(base64.b64decode(line[14:])), 6)
        finally:
            kernel.stop()

    def test_deadline(self):
        cell = self.fail_cell(
            "while True: pass", metadata={"sandbox": {"deadline": 0.2}}
        )
        self.assertEqual(cell.reply["ename"], "TimeoutError")
        self.assertEqual(self.run_cell("1").result, "1")


UNUSED = (datetime, decimal, fractions, pathlib, uuid)


if __name__ == "__main__":
    unittest.main()
