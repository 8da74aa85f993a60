# SPDX-License-Identifier: Apache-2.0
"""Notebooks: magics, IPython's display, plots, tables, widgets, nbclient."""

import os
import subprocess
import sys
import tempfile
import unittest

import nbformat
from nbclient import NotebookClient

from driver import NAME, Kernel, KernelTest

PNG = "iVBORw0KGgo"


class Magics(KernelTest):
    def test_loaded_when_needed(self):
        kernel = Kernel()
        try:
            names = ["IPython", "asyncio", "json", "sqlite3", "inspect", "traceback"]
            loaded = "import sys; [m for m in %r if m in sys.modules]" % names
            self.assertEqual(kernel.run(loaded).result, "[]")
            kernel.run("%time 1")
            self.assertIn("IPython", kernel.run(loaded).result)
        finally:
            kernel.stop()

    def test_command(self):
        self.run_cell("word = 'expanded'")
        cell = self.run_cell("!echo out {word} $word; echo err >&2; exit 3")
        self.assertEqual(cell.text(), "out expanded expanded\n")
        self.assertEqual(cell.text("stderr"), "err\n")
        self.assertEqual(self.run_cell("_exit_code").result, "3")
        self.assertEqual(
            self.run_cell("lines = !printf 'a\\nb\\n'\nlist(lines)").result,
            "['a', 'b']",
        )

    def test_mixed(self):
        cell = self.run_cell("n = 3\nif n:\n    !echo in block\nn % 2\n")
        self.assertEqual(cell.text(), "in block\n")
        self.assertEqual(cell.result, "1")

    def test_bash(self):
        self.assertEqual(
            self.run_cell("%%bash\nfor i in 1 2; do echo $i; done").text(), "1\n2\n"
        )

    def test_timeit(self):
        self.assertIn("loop", self.run_cell("%timeit -n1 -r1 sum(range(10))").text())

    def test_time_shows_value(self):
        cell = self.run_cell("%time 6 * 7")
        self.assertIn("Wall time", cell.text())
        self.assertEqual(cell.result, "42")

    def test_pip(self):
        for code in ("%pip --version", "pip list --help"):
            cell = self.run_cell(code)
            self.assertIn("pip", cell.text() + cell.text("stderr"), code)

    def test_autoreload(self):
        self.run_cell(
            "%%writefile reloaded_module.py\nvalue = 1\n",
        )
        self.run_cell(
            "%load_ext autoreload\n%autoreload 2\nimport reloaded_module as m"
        )
        # Another size and a later time, so that nobody takes it for the same.
        self.run_cell("%%writefile reloaded_module.py\nvalue = 20000\n")
        self.run_cell("import os; os.utime('reloaded_module.py', (1, 2**31))")
        self.assertEqual(self.run_cell("m.value").result, "20000")

    def test_run(self):
        self.run_cell("%%writefile script.py\nimport sys\nprint(sys.argv[1:])\nran = 1")
        self.assertEqual(self.run_cell("%run script.py a b").text(), "['a', 'b']\n")
        self.assertEqual(self.run_cell("ran").result, "1")

    def test_capture(self):
        cell = self.run_cell("%%capture got\nprint('hidden')\ndisplay(5)\n6")
        self.assertEqual(
            (cell.text(), cell.of("display_data"), cell.result), ("", [], None)
        )
        cell = self.run_cell("got.stdout, len(got.outputs)")
        self.assertEqual(cell.result, "('hidden\\n', 2)")

    def test_unknown(self):
        cell = self.fail_cell("%nosuchmagic")
        self.assertEqual(cell.reply["ename"], "UsageError")
        self.assertEqual(len(cell.reply["traceback"]), 1)

    def test_syntax_error_stays_one(self):
        cell = self.fail_cell("x = 5 %% 3 = !")
        self.assertEqual(cell.reply["ename"], "SyntaxError")

    def test_help(self):
        self.run_cell("def helped(a):\n    'Words of help.'")
        for code in ("helped?", "?helped"):
            page = self.run_cell(code).reply["payload"]
            self.assertEqual([p["source"] for p in page], ["page"])
            self.assertIn("Words of help.", page[0]["data"]["text/plain"])
        page = self.run_cell("helped??").reply["payload"]
        self.assertIn("def helped(a)", page[0]["data"]["text/plain"])

    def test_names_are_shared(self):
        cell = self.run_cell(
            "get_ipython().user_ns is globals(), get_ipython().run_line_magic('pwd', '') != ''"
        )
        self.assertEqual(cell.result, "(True, True)")

    def test_display_module(self):
        cell = self.run_cell(
            "from IPython.display import HTML, Image, display, clear_output, update_display\n"
            "h = display(HTML('<b>1</b>'), display_id='x')\n"
            "update_display(HTML('2'), display_id='x')\n"
            "clear_output(wait=True)\n"
            "HTML('last')"
        )
        self.assertEqual(cell.of("display_data")[0]["data"]["text/html"], "<b>1</b>")
        self.assertEqual(cell.of("update_display_data")[0]["data"]["text/html"], "2")
        self.assertEqual(cell.of("clear_output"), [{"wait": True}])
        self.assertEqual(cell.of("execute_result")[0]["data"]["text/html"], "last")

    def test_formatter_registered_by_user(self):
        self.run_cell(
            "class Own: pass\n"
            "f = get_ipython().display_formatter.formatters['text/html']\n"
            "f.for_type(Own, lambda o: '<own>')"
        )
        data = self.run_cell("Own()").of("execute_result")[0]["data"]
        self.assertEqual(data["text/html"], "<own>")

    def test_errors_look_the_same(self):
        self.run_cell("%time 1")
        cell = self.fail_cell("1/0")
        self.assertEqual(len(cell.of("error")), 1)
        self.assertNotIn("sandbox_kernel", cell.error)


class Plots(KernelTest):
    def pictures(self, cell):
        return [
            c["data"]["image/png"]
            for c in cell.of("display_data")
            if "image/png" in c["data"]
        ]

    def test_at_the_end(self):
        cell = self.run_cell(
            "import matplotlib.pyplot as plt\nplt.plot([1, 2]);\nprint('before')"
        )
        shown = self.pictures(cell)
        self.assertEqual(len(shown), 1)
        self.assertTrue(shown[0].startswith(PNG))
        self.assertEqual(cell.messages[-1]["msg_type"], "display_data")
        self.assertEqual(self.run_cell("plt.get_fignums()").result, "[]")

    def test_show(self):
        cell = self.run_cell(
            "import matplotlib.pyplot as plt\n"
            "plt.figure(); plt.plot([1])\n"
            "plt.show()\n"
            "print('after')\n"
            "plt.figure(); plt.plot([2])\n"
            "plt.show()"
        )
        wanted = ["execute_input", "display_data", "stream", "display_data"]
        self.assertEqual(cell.kinds, wanted)

    def test_value_is_shown_once(self):
        cell = self.run_cell(
            "import matplotlib.pyplot as plt\nfig, ax = plt.subplots(); ax.plot([1])\nfig"
        )
        self.assertTrue(
            cell.of("execute_result")[0]["data"]["image/png"].startswith(PNG)
        )
        self.assertEqual(self.pictures(cell), [])

    def test_with_magic(self):
        cell = self.run_cell(
            "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1]);"
        )
        self.assertEqual(len(self.pictures(cell)), 1)

    def test_children_keep_their_backend(self):
        self.assertEqual(
            self.run_cell("import os; os.environ.get('MPLBACKEND')").result, None
        )

    def test_pandas(self):
        data = self.run_cell("import pandas as pd\npd.DataFrame({'a': [1, 2]})").of(
            "execute_result"
        )[0]["data"]
        self.assertIn("<table", data["text/html"])
        self.assertIn("a", data["text/plain"])

    def test_image(self):
        data = self.run_cell("from PIL import Image\nImage.new('RGB', (2, 2))").of(
            "execute_result"
        )[0]["data"]
        self.assertTrue(data["image/png"].startswith(PNG))


class Comms(KernelTest):
    def test_widget(self):
        cell = self.run_cell(
            "import ipywidgets\ns = ipywidgets.IntSlider(value=3, max=9)\ns"
        )
        opened = cell.of("comm_open")
        self.assertTrue(any(c["target_name"] == "jupyter.widget" for c in opened))
        model = [c for c in opened if "IntSlider" in str(c["data"])][-1]["comm_id"]
        listed = self.kernel.ask("comm_info_request", target_name="jupyter.widget")
        self.assertIn(model, listed["comms"])
        # The widgets of version 6 have another word for it than those since.
        for method, key in (("backbone", "sync_data"), ("update", "state")):
            data = {"method": method, key: {"value": 5}}
            self.send_comm("comm_msg", {"comm_id": model, "data": data})
        self.assertEqual(self.run_cell("s.value").result, "5")
        sent = [
            c
            for c in self.run_cell("s.value = 7").of("comm_msg")
            if c["comm_id"] == model
        ]
        self.assertIn("7", str(sent))
        self.assertTrue(self.run_cell("s.close()").of("comm_close"))

    def send_comm(self, kind, content):
        client = self.kernel.client
        client.shell_channel.send(client.session.msg(kind, content))

    def test_comm_package(self):
        self.run_cell(
            "import comm\ngot = []\ndef target(c, m):\n"
            "    c.on_msg(lambda m: got.append(m['content']['data']))\n"
            "comm.get_comm_manager().register_target('t', target)"
        )
        self.send_comm("comm_open", {"comm_id": "c1", "target_name": "t", "data": {}})
        self.send_comm("comm_msg", {"comm_id": "c1", "data": {"n": 1}})
        self.assertEqual(self.run_cell("got").result, "[{'n': 1}]")
        self.send_comm(
            "comm_open", {"comm_id": "c2", "target_name": "nobody", "data": {}}
        )
        self.run_cell("0")  # comm_info does not wait its turn
        self.assertNotIn("c2", self.kernel.ask("comm_info_request")["comms"])
        opened = self.run_cell(
            "c = comm.create_comm(target_name='mine', data={'k': 1}, buffers=[b'xyz'])"
        )
        message = [m for m in opened.messages if m["msg_type"] == "comm_open"][0]
        self.assertEqual(bytes(message["buffers"][0]), b"xyz")
        self.assertEqual(message["content"]["target_name"], "mine")


CELLS = (
    "import matplotlib.pyplot as plt\nimport pandas as pd",
    "fig, ax = plt.subplots()\nax.bar(['a', 'b'], [1, 2]);",
    "pd.DataFrame({'x': [1, 2]}).describe()",
    "!echo from the shell",
    "await __import__('asyncio').sleep(0, 'awaited')",
)


class Notebooks(unittest.TestCase):
    def notebook(self):
        cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
        spec = {
            "kernelspec": {"name": NAME, "display_name": NAME, "language": "python"}
        }
        return nbformat.v4.new_notebook(cells=cells, metadata=spec)

    def check(self, book):
        outputs = [cell.outputs for cell in book.cells]
        self.assertTrue(outputs[1][0].data["image/png"].startswith(PNG))
        self.assertIn("<table", outputs[2][0].data["text/html"])
        self.assertEqual(outputs[3][0].text, "from the shell\n")
        self.assertEqual(outputs[4][0].data["text/plain"], "'awaited'")
        self.assertEqual([cell.execution_count for cell in book.cells], [1, 2, 3, 4, 5])

    def test_nbclient(self):
        book = self.notebook()
        NotebookClient(book, timeout=120).execute()
        self.check(book)

    def test_nbconvert(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.ipynb")
            nbformat.write(self.notebook(), path)
            command = [
                sys.executable,
                "-m",
                "nbconvert",
                "--to",
                "notebook",
                "--execute",
            ]
            subprocess.run(
                command + ["--output", "out.ipynb", path],
                check=True,
                stderr=subprocess.DEVNULL,
            )
            self.check(nbformat.read(os.path.join(folder, "out.ipynb"), 4))


if __name__ == "__main__":
    unittest.main()
