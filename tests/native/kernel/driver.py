# SPDX-License-Identifier: Apache-2.0
"""A kernel under test, through jupyter_client as everybody uses it."""

import itertools
import os
import queue
import re
import time
import unittest

from jupyter_client.manager import KernelManager

NAME = os.environ.get("KERNEL_NAME", "sandbox-python")
LIMIT = 60


class Cell:
    """What one execute_request brought."""

    def __init__(self):
        self.reply = None
        self.messages = []

    def of(self, kind):
        return [m["content"] for m in self.messages if m["msg_type"] == kind]

    @property
    def kinds(self):
        """In their order; text that comes in pieces is one."""
        kinds = [m["msg_type"] for m in self.messages]
        return [kind for kind, _ in itertools.groupby(kinds)]

    def text(self, name="stdout"):
        return "".join(c["text"] for c in self.of("stream") if c["name"] == name)

    @property
    def result(self):
        found = self.of("execute_result")
        return found[0]["data"]["text/plain"] if found else None

    @property
    def error(self):
        found = self.of("error")
        return "\n".join(found[0]["traceback"]) if found else None


class Kernel:
    def __init__(self, name=NAME, env=None):
        self.manager = KernelManager(kernel_name=name)
        self.manager.start_kernel(env=dict(os.environ, **(env or {})))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=LIMIT)

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def send(self, code, metadata=None, **content):
        asked = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        asked.update(content)
        session = self.client.session
        message = session.msg("execute_request", asked, metadata=metadata)
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def run(self, code, metadata=None, answers=(), **content):
        """Run a cell to its end; answers are typed when it asks."""
        answers = list(answers)
        identity = self.send(code, metadata, allow_stdin=bool(answers), **content)
        return self.collect(identity, answers)

    def collect(self, identity, answers=()):
        cell = Cell()
        end = time.monotonic() + LIMIT
        while True:
            if time.monotonic() > end:
                raise TimeoutError("no idle; so far: %r" % cell.messages)
            if answers and self._asked(cell):
                self.client.input(answers.pop(0))
            try:
                message = self.client.get_iopub_msg(timeout=0.02 if answers else 1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != identity:
                continue
            if message["msg_type"] == "status":
                if message["content"]["execution_state"] == "idle":
                    break
                continue
            cell.messages.append(message)
        while cell.reply is None:
            message = self.client.get_shell_msg(timeout=LIMIT)
            if message["parent_header"].get("msg_id") == identity:
                cell.reply = message["content"]
        return cell

    def _asked(self, cell):
        try:
            cell.messages.append(self.client.get_stdin_msg(timeout=0.02))
        except queue.Empty:
            return False
        return True

    def ask(self, kind, **content):
        """Another request of the shell channel; the content of its reply."""
        message = self.client.session.msg(kind, content)
        self.client.shell_channel.send(message)
        while True:
            reply = self.client.get_shell_msg(timeout=LIMIT)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]


class KernelTest(unittest.TestCase):
    """Tests that share one kernel."""

    env = {}
    name = NAME

    @classmethod
    def setUpClass(cls):
        cls.kernel = Kernel(cls.name, cls.env)

    @classmethod
    def tearDownClass(cls):
        cls.kernel.stop()

    def run_cell(self, code, **keys):
        cell = self.kernel.run(code, **keys)
        self.assertEqual(cell.reply["status"], "ok", cell.error)
        return cell

    def fail_cell(self, code, **keys):
        cell = self.kernel.run(code, **keys)
        self.assertEqual(cell.reply["status"], "error")
        return cell


def strip(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def wait_for(kernel, identity, text):
    while True:
        message = kernel.client.get_iopub_msg(timeout=30)
        ours = message["parent_header"].get("msg_id") == identity
        if ours and text in message["content"].get("text", ""):
            return
