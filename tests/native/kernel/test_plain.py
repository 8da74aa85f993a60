# SPDX-License-Identifier: Apache-2.0
"""A venv that has nothing, not even IPython: $KERNEL_PLAIN is its kernelspec."""

import os
import unittest

from driver import KernelTest

MISSING = "IPython is not installed"


class Plain(KernelTest):
    name = os.environ.get("KERNEL_PLAIN", "sandbox-plain")

    def test_is_the_venv(self):
        self.assertEqual(
            self.run_cell("import sys; sys.prefix != sys.base_prefix").result, "True"
        )
        self.assertEqual(self.run_cell("sys.path[0]").result, "''")

    def test_value(self):
        self.assertEqual(self.run_cell("6 * 7").result, "42")

    def test_command(self):
        self.run_cell("word = 'expanded'")
        cell = self.run_cell("for i in range(2):\n    !echo {i} $word")
        self.assertEqual(cell.text(), "0 expanded\n1 expanded\n")
        self.assertEqual(self.run_cell("x = !printf 'a\\nb'\nx").result, "['a', 'b']")

    def test_magics(self):
        self.assertEqual(self.run_cell("%%bash\necho $((1 + 2))").text(), "3\n")
        self.assertIn("loop", self.run_cell("%timeit 1 + 1").text())
        cell = self.run_cell("%time 6 * 7")
        self.assertEqual(cell.result, "42")
        self.run_cell("%env SANDBOX_TEST=1 2")
        self.assertEqual(self.run_cell("%env SANDBOX_TEST").result, "'1 2'")
        self.run_cell("%cd /")
        self.assertEqual(self.run_cell("%pwd").result, "'/'")
        self.run_cell("%matplotlib inline")
        # pip itself is not here, but the right Python is asked for it.
        self.assertIn(
            "No module named pip", self.run_cell("%pip --version").text("stderr")
        )

    def test_help(self):
        page = self.run_cell("zip?").reply["payload"]
        self.assertEqual([p["source"] for p in page], ["page"])

    def test_what_is_missing_is_said(self):
        for code in ("%prun 1", "%%html\n<b>", "%load_ext autoreload"):
            cell = self.fail_cell(code)
            self.assertEqual(cell.reply["ename"], "UsageError")
            self.assertIn("%pip install ipython", cell.reply["evalue"])
        cell = self.fail_cell("from IPython.display import HTML")
        self.assertEqual(cell.reply["ename"], "ModuleNotFoundError")
        self.assertIn(MISSING, cell.error)
        cell = self.fail_cell("get_ipython()")
        self.assertEqual(cell.reply["ename"], "NameError")

    def test_importlib_is_not_fooled(self):
        cell = self.run_cell(
            "import importlib.util\nimportlib.util.find_spec('IPython')"
        )
        self.assertIsNone(cell.result)

    def test_display(self):
        self.assertEqual(
            self.run_cell("display(1)").of("display_data")[0]["data"],
            {"text/plain": "1"},
        )


if __name__ == "__main__":
    unittest.main()
