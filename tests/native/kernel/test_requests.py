# SPDX-License-Identifier: Apache-2.0
"""What clients ask besides running cells: completion, help, history, the end."""

import unittest

from driver import Kernel, KernelTest, strip, wait_for


class Leaving(unittest.TestCase):
    def leave(self, code):
        kernel = Kernel()
        try:
            cell = kernel.run(code)
            self.assertEqual(cell.reply["status"], "ok")
            sources = [p["source"] for p in cell.reply["payload"]]
            self.assertEqual(sources, ["ask_exit"])
            kernel.manager.provisioner.process.wait(30)
        finally:
            kernel.stop()

    def test_exit(self):
        self.leave("exit()\nprint('not reached')")

    def test_bare_quit(self):
        self.leave("quit")


class Requests(KernelTest):
    def test_interrupt(self):
        for code in (
            "import time; time.sleep(100)",
            "while True: pass",
            "import subprocess; subprocess.run(['sleep', '100'])",
        ):
            identity = self.kernel.send("print('on', flush=True)\n" + code)
            wait_for(self.kernel, identity, "on")
            self.kernel.manager.interrupt_kernel()
            cell = self.kernel.collect(identity)
            self.assertEqual(cell.reply["ename"], "KeyboardInterrupt", code)
            self.assertLess(len(cell.reply["traceback"]), 15)

    def test_complete(self):
        self.run_cell(
            "long_name = {'käse': 1, 'kuh': 2}\n"
            "class O: pass\n"
            "o = O(); o.attr1 = 1; o.attr2 = 2"
        )
        for code, wanted in (
            ("long_na", ["long_name"]),
            ("o.at", ["attr1", "attr2"]),
            ("o.attr1 = 'ü'; o.at", ["attr1", "attr2"]),
            ("long_name['k", ["kuh", "käse"]),
            ("import collec", ["collections"]),
            ("from collections import OrderedD", ["OrderedDict"]),
            ("import os.pa", []),
            ("open('/usr/bin/enw', mod", ["mode="]),
            ("whi", ["while"]),
            ("'abc'.upp", ["upper"]),
            ("nothing.at", []),
        ):
            reply = self.kernel.ask("complete_request", code=code, cursor_pos=len(code))
            self.assertEqual(reply["matches"], wanted, code)
            self.assertEqual(reply["cursor_end"], len(code))
        reply = self.kernel.ask(
            "complete_request", code="ü = long_na + 1", cursor_pos=11
        )
        self.assertEqual((reply["cursor_start"], reply["matches"]), (4, ["long_name"]))

    def test_complete_file(self):
        code = "open('/etc/pass"
        reply = self.kernel.ask("complete_request", code=code, cursor_pos=len(code))
        self.assertIn("passwd", reply["matches"])

    def test_inspect(self):
        self.run_cell("def looked_at(a, b=2):\n    'Its words.'\n    return a")
        reply = self.kernel.ask(
            "inspect_request", code="looked_at(1, ", cursor_pos=13, detail_level=0
        )
        text = strip(reply["data"]["text/plain"])
        self.assertIn("looked_at(a, b=2)", text)
        self.assertIn("Its words.", text)
        reply = self.kernel.ask(
            "inspect_request", code="looked_at", cursor_pos=3, detail_level=1
        )
        self.assertIn("return a", strip(reply["data"]["text/plain"]))
        reply = self.kernel.ask(
            "inspect_request", code="unknown_thing", cursor_pos=3, detail_level=0
        )
        self.assertEqual((reply["found"], reply["data"]), (False, {}))

    def test_is_complete(self):
        for code, wanted in (
            ("1", "complete"),
            ("await f()", "complete"),
            ("%time 1", "complete"),
            ("!ls", "complete"),
            ("%%bash\nls", "incomplete"),
            ("if a:", "incomplete"),
            ("f(1,", "incomplete"),
            ("x = = 1", "invalid"),
        ):
            reply = self.kernel.ask("is_complete_request", code=code)
            self.assertEqual(reply["status"], wanted, code)
        reply = self.kernel.ask("is_complete_request", code="def f():\n    if a:")
        self.assertEqual(reply["indent"], " " * 8)

    def test_bad_content(self):
        for kind in (
            "complete_request",
            "inspect_request",
            "is_complete_request",
            "history_request",
        ):
            self.kernel.ask(kind, code=7, cursor_pos="x", n="y", hist_access_type=[])
        self.assertEqual(self.run_cell("1").result, "1")


class History(unittest.TestCase):
    def test_sessions(self):
        first = Kernel()
        first.run("'hist one'")
        first.run("hist_two = 2")
        second = Kernel()
        second.run("'hist three'")
        tail = second.ask(
            "history_request", hist_access_type="tail", n=3, output=True, raw=True
        )
        rows = tail["history"]
        self.assertEqual(
            [row[2][0] for row in rows], ["'hist one'", "hist_two = 2", "'hist three'"]
        )
        self.assertEqual(
            [row[2][1] for row in rows], ["'hist one'", None, "'hist three'"]
        )
        self.assertEqual(rows[0][0], rows[1][0])
        self.assertNotEqual(rows[1][0], rows[2][0])
        for session in (-1, rows[0][0]):
            found = second.ask(
                "history_request",
                hist_access_type="range",
                session=session,
                start=1,
                stop=2,
                output=False,
                raw=True,
            )
            self.assertEqual(found["history"], [[rows[0][0], 1, "'hist one'"]])
        first.run("hist_two = 2")
        found = second.ask(
            "history_request",
            hist_access_type="search",
            pattern="hist_*",
            unique=True,
            output=False,
            raw=True,
        )
        self.assertEqual([row[2] for row in found["history"]], ["hist_two = 2"])
        first.stop()
        second.stop()

    def test_off(self):
        kernel = Kernel(env={"SANDBOX_KERNEL_HISTORY": "off"})
        kernel.run("'only here'")
        rows = kernel.ask(
            "history_request", hist_access_type="tail", n=10, output=False, raw=True
        )
        self.assertEqual(rows["history"], [[1, 1, "'only here'"]])
        kernel.stop()


if __name__ == "__main__":
    unittest.main()
