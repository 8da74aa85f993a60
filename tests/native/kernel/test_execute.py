# SPDX-License-Identifier: Apache-2.0
"""What cells do: values, names, errors, await, input."""

import unittest

from driver import Kernel, KernelTest, strip, wait_for


class Values(KernelTest):
    def test_last_expression(self):
        cell = self.run_cell("x = 20\nx + 1")
        self.assertEqual(cell.result, "21")
        content = cell.of("execute_result")[0]
        self.assertEqual(content["execution_count"], cell.reply["execution_count"])
        self.assertEqual(cell.of("execute_input")[0]["code"], "x = 20\nx + 1")

    def test_semicolon(self):
        for code in ("7;", "(7) ;", "'ü' ;  # why not", "a = 1; 7;"):
            self.assertIsNone(self.run_cell(code).result, code)
        self.assertEqual(self.run_cell("a = 1; 7").result, "7")
        self.assertEqual(self.run_cell("';'").result, "';'")

    def test_none_shows_nothing(self):
        self.assertIsNone(self.run_cell("None").result)

    def test_underscores(self):
        n = self.run_cell("11").reply["execution_count"]
        self.run_cell("12")
        self.run_cell("13")
        cell = self.run_cell("(_, __, ___, Out[%d], _%d, In[%d])" % (n, n, n))
        self.assertEqual(cell.result, "(13, 12, 11, 11, 11, '11')")

    def test_own_underscore(self):
        kernel = Kernel()
        try:
            kernel.run("_ = 'mine'")
            kernel.run("1")
            self.assertEqual(kernel.run("_").result, "'mine'")
        finally:
            kernel.stop()

    def test_out_is_bounded(self):
        for i in range(130):
            self.run_cell("'r%d'" % i)
        self.assertEqual(self.run_cell("len(Out) <= 100").result, "True")
        n = self.run_cell("bytearray(80 << 20);  bytearray(80 << 20)").reply[
            "execution_count"
        ]
        self.assertEqual(self.run_cell("%d in Out" % n).result, "False")

    def test_silent(self):
        before = self.run_cell("1").reply["execution_count"]
        cell = self.kernel.run("quiet = 5\nquiet", silent=True)
        self.assertEqual(cell.messages, [])
        self.assertEqual(cell.reply["execution_count"], before)
        self.assertEqual(self.run_cell("quiet").reply["execution_count"], before + 1)

    def test_not_stored(self):
        before = self.run_cell("1").reply["execution_count"]
        self.run_cell("2", store_history=False)
        self.assertEqual(self.run_cell("3").reply["execution_count"], before + 1)

    def test_main_module(self):
        self.run_cell("import pickle, __main__\nclass P:\n    pass\np = P()\np.v = 4")
        cell = self.run_cell(
            "pickle.loads(pickle.dumps(p)).v, __main__.p is p, __name__"
        )
        self.assertEqual(cell.result, "(4, True, '__main__')")

    def test_get_source(self):
        self.run_cell("def sourced():\n    return 1")
        cell = self.run_cell("import inspect; print(inspect.getsource(sourced))")
        self.assertEqual(cell.text(), "def sourced():\n    return 1\n\n")

    def test_future_lasts(self):
        self.run_cell("from __future__ import annotations")
        self.assertEqual(
            self.run_cell("def f(a: nowhere): pass\nf.__annotations__").result,
            "{'a': 'nowhere'}",
        )

    def test_user_expressions(self):
        cell = self.run_cell("u = 6", user_expressions={"a": "u * 7", "b": "1/0"})
        found = cell.reply["user_expressions"]
        self.assertEqual(found["a"]["data"]["text/plain"], "42")
        self.assertEqual(found["b"]["status"], "error")
        self.assertEqual(found["b"]["ename"], "ZeroDivisionError")

    def test_long_values(self):
        cell = self.run_cell("list(range(50))")
        self.assertEqual(cell.result.split("\n")[:2], ["[0,", " 1,"])
        cell = self.run_cell("'x' * (3 << 20)")
        self.assertIn("characters in all", cell.result[-40:])

    def test_bad_repr(self):
        self.run_cell("class Bad:\n    def __repr__(self): 1/0")
        self.assertIn("ZeroDivisionError", self.run_cell("Bad()").result)

    def test_no_json(self):
        self.run_cell(
            "class J:\n    def _repr_mimebundle_(self, **k): return {'a/b': object()}"
        )
        self.kernel.run("J()")
        self.kernel.run("display(J())")
        self.kernel.run("1", user_expressions={"j": "J()"})
        self.assertEqual(self.run_cell("1").result, "1")

    def test_dead_attribute_object(self):
        self.run_cell(
            "class All:\n"
            "    def __getattr__(self, n): return lambda *a, **k: 'x'\n"
            "    def __repr__(self): return 'all'"
        )
        self.assertEqual(
            self.run_cell("All()").of("execute_result")[0]["data"],
            {"text/plain": "all"},
        )


class Display(KernelTest):
    def test_rich(self):
        self.run_cell(
            "class Rich:\n"
            "    def _repr_html_(self): return '<i>x</i>', {'isolated': True}\n"
            "    def _repr_png_(self): return b'\\x89PNG'\n"
            "    def _repr_latex_(self): return None\n"
            "    def __repr__(self): return 'rich'"
        )
        content = self.run_cell("Rich()").of("execute_result")[0]
        wanted = {
            "text/html": "<i>x</i>",
            "image/png": "iVBORw==",
            "text/plain": "rich",
        }
        self.assertEqual(content["data"], wanted)
        self.assertEqual(content["metadata"], {"text/html": {"isolated": True}})

    def test_bundle(self):
        self.run_cell(
            "class B:\n    def _repr_mimebundle_(self, include=None, exclude=None):\n"
            "        return {'text/x-own': 'own', 'text/plain': 'p'}, {'k': 1}"
        )
        content = self.run_cell("B()").of("execute_result")[0]
        self.assertEqual(content["data"], {"text/x-own": "own", "text/plain": "p"})
        self.assertEqual(content["metadata"], {"k": 1})

    def test_display_and_update(self):
        cell = self.run_cell("h = display(1, display_id='d1'); h.update(2)")
        shown, updated = cell.of("display_data")[0], cell.of("update_display_data")[0]
        self.assertEqual(shown["transient"], {"display_id": "d1"})
        self.assertEqual(updated["transient"], {"display_id": "d1"})
        self.assertEqual(updated["data"], {"text/plain": "2"})

    def test_order(self):
        cell = self.run_cell("print('a'); display('b'); print('c'); 'd'")
        wanted = ["execute_input", "stream", "display_data", "stream", "execute_result"]
        self.assertEqual(cell.kinds, wanted)


class Errors(KernelTest):
    def test_traceback(self):
        self.run_cell("def inner(v):\n    before = 1\n    return 1 / v\n\n# after")
        cell = self.fail_cell("x = 1\ninner(0)")
        content = cell.of("error")
        self.assertEqual(len(content), 1)
        self.assertEqual(content[0]["ename"], "ZeroDivisionError")
        self.assertEqual(cell.reply["traceback"], content[0]["traceback"])
        text = strip(cell.error)
        self.assertIn("----> 3     return 1 / v", text)
        self.assertIn("----> 2 inner(0)", text)
        self.assertIn(", line 2\n", text)
        self.assertTrue(text.endswith("ZeroDivisionError: division by zero"), text)
        self.assertNotIn("sandbox_kernel", text)
        self.assertIn("\x1b[31m", cell.error)

    def test_library_frame(self):
        text = strip(self.fail_cell("import json; json.loads('{')").error)
        self.assertIn("json/decoder.py:", text)

    def test_raise_alone(self):
        cell = self.fail_cell("raise")
        self.assertEqual(
            [m["msg_type"] for m in cell.messages], ["execute_input", "error"]
        )
        self.assertEqual(cell.reply["ename"], "RuntimeError")

    def test_no_context_of_ours(self):
        # The magics are looked for after a SyntaxError; nobody may see it.
        text = strip(self.fail_cell("%%bash\nexit 3").error)
        self.assertNotIn("SyntaxError", text)

    def test_syntax_error(self):
        cell = self.fail_cell("a = 1\nb = = 2")
        text = strip(cell.error)
        self.assertEqual(cell.reply["ename"], "SyntaxError")
        self.assertIn("line 2", text)
        self.assertIn("    b = = 2\n        ^", text)

    def test_chained(self):
        text = strip(
            self.fail_cell(
                "try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e"
            ).error
        )
        self.assertLess(text.index("ZeroDivisionError"), text.index("direct cause"))
        self.assertLess(text.index("direct cause"), text.index("KeyError: 'k'"))
        text = strip(self.fail_cell("try:\n    1/0\nexcept Exception:\n    nope").error)
        self.assertIn("During handling", text)
        text = strip(
            self.fail_cell(
                "try:\n    1/0\nexcept Exception:\n    raise OSError('x') from None"
            ).error
        )
        self.assertNotIn("ZeroDivisionError", text)

    def test_recursion(self):
        cell = self.fail_cell("def r(): r()\nr()")
        self.assertEqual(cell.reply["ename"], "RecursionError")
        self.assertLess(len(cell.reply["traceback"]), 200)

    def test_hostile_exception(self):
        self.run_cell("class E(Exception):\n    def __str__(self): 1/0")
        self.assertEqual(self.fail_cell("raise E").reply["ename"], "E")
        self.assertEqual(self.run_cell("1").result, "1")

    @unittest.skipUnless(hasattr(__builtins__, "ExceptionGroup"), "needs 3.11")
    def test_group(self):
        text = strip(
            self.fail_cell(
                "raise ExceptionGroup('g', [ValueError('one'), KeyError('two')])"
            ).error
        )
        self.assertIn("ValueError: one", text)
        self.assertIn("KeyError: 'two'", text)

    def test_sys_exit_is_an_error(self):
        cell = self.fail_cell("import sys; sys.exit(3)")
        self.assertEqual(cell.reply["ename"], "SystemExit")
        self.assertEqual(self.run_cell("1").result, "1")

    def test_last_exception(self):
        self.fail_cell("1/0")
        self.assertEqual(
            self.run_cell("import sys; sys.last_value").result,
            "ZeroDivisionError('division by zero')",
        )

    def test_stop_on_error(self):
        sent = [
            self.kernel.send(c) for c in ("import time; time.sleep(.3); 1/0", "2", "3")
        ]
        replies = {}
        while len(replies) < 3:
            message = self.kernel.client.get_shell_msg(timeout=30)
            replies[message["parent_header"]["msg_id"]] = message["content"]["status"]
        self.assertEqual(replies[sent[0]], "error")
        self.assertNotIn("ok", [replies[i] for i in sent])
        self.assertEqual(self.run_cell("4").result, "4")


class Await(KernelTest):
    def test_await(self):
        self.run_cell(
            "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 5"
        )
        self.assertEqual(self.run_cell("await f()").result, "5")
        self.assertEqual(self.run_cell("a = await f()\na + 1").result, "6")
        self.assertEqual(
            self.run_cell("async with asyncio.Lock() as l:\n    b = 1\nb").result, "1"
        )

    def test_loop_lasts(self):
        self.run_cell(
            "q = asyncio.Queue() if 'asyncio' in dir() else __import__('asyncio').Queue()"
        )
        self.run_cell("await q.put(1)")
        self.run_cell(
            "import asyncio; t = asyncio.ensure_future(q.get(), loop=asyncio.get_event_loop())"
        )
        self.assertEqual(self.run_cell("await t").result, "1")

    def test_tasks_run_between_cells(self):
        self.run_cell(
            "import asyncio, os\nr, w = os.pipe()\nasync def later():\n"
            "    await asyncio.sleep(0.05)\n    os.write(w, b'done')"
        )
        self.run_cell("t = asyncio.create_task(later())")
        # Written while no cell runs, else this would wait for ever.
        with open("/proc/%d/fd/%s" % self.pipe_end(), "rb") as pipe:
            self.assertEqual(pipe.read(4), b"done")
        self.assertEqual(self.run_cell("t.done()").result, "True")

    def test_loop_is_closed(self):
        self.run_cell("import asyncio\nawait asyncio.sleep(0)")
        self.run_cell("asyncio.get_event_loop().close()")
        self.assertEqual(self.run_cell("await asyncio.sleep(0, 4)").result, "4")

    def test_task_wants_to_leave(self):
        self.run_cell(
            "import asyncio\nasync def leave():\n"
            "    await asyncio.sleep(0.05)\n    raise SystemExit\n"
            "t = asyncio.create_task(leave())"
        )
        self.assertEqual(self.run_cell("1").result, "1")

    def pipe_end(self):
        pid = self.kernel.manager.provisioner.process.pid
        return pid, self.run_cell("r").result

    def test_asyncio_run(self):
        self.run_cell("import asyncio\nasync def g(): return 8")
        self.assertEqual(self.run_cell("asyncio.run(g())").result, "8")
        self.assertEqual(self.run_cell("await g()").result, "8")

    def test_error_in_task(self):
        text = strip(self.fail_cell("async def bad():\n    1/0\nawait bad()").error)
        self.assertIn("----> 2     1/0", text)
        self.assertNotIn("base_events", text)

    def test_interrupt(self):
        identity = self.kernel.send(
            "import asyncio\nprint('on')\nawait asyncio.sleep(100)"
        )
        wait_for(self.kernel, identity, "on")
        self.kernel.manager.interrupt_kernel()
        cell = self.kernel.collect(identity)
        self.assertEqual(cell.reply["ename"], "KeyboardInterrupt")
        self.assertEqual(self.run_cell("await asyncio.sleep(0, 3)").result, "3")


class Input(KernelTest):
    def test_input(self):
        cell = self.run_cell("n = input('name? ')\nn", answers=["Ada"])
        self.assertEqual(cell.result, "'Ada'")
        self.assertEqual(
            cell.of("input_request"), [{"prompt": "name? ", "password": False}]
        )

    def test_getpass(self):
        cell = self.run_cell("import getpass\ngetpass.getpass('pw ')", answers=["s"])
        self.assertEqual(
            cell.of("input_request"), [{"prompt": "pw ", "password": True}]
        )

    def test_stdin(self):
        cell = self.run_cell("import sys\nsys.stdin.readline()", answers=["line"])
        self.assertEqual(cell.result, "'line\\n'")

    def test_not_allowed(self):
        cell = self.fail_cell("input()")
        self.assertEqual(cell.reply["ename"], "StdinNotImplementedError")

    def test_pdb(self):
        self.run_cell(
            "def debugged():\n    secret = 41\n    breakpoint()\n    return secret"
        )
        cell = self.run_cell("debugged()", answers=["p secret + 1", "c"])
        self.assertIn("42", cell.text())
        self.assertEqual(cell.result, "41")
        cell = self.run_cell("debugged()\n1", answers=["s", "s", "s", "s", "c"])
        self.assertNotIn("sandbox_kernel", cell.text())

    def test_interrupt(self):
        identity = self.kernel.send("input('wait')", allow_stdin=True)
        self.kernel.client.get_stdin_msg(timeout=30)
        self.kernel.manager.interrupt_kernel()
        cell = self.kernel.collect(identity)
        self.assertEqual(cell.reply["ename"], "KeyboardInterrupt")


if __name__ == "__main__":
    unittest.main()
