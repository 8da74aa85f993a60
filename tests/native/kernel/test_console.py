# SPDX-License-Identifier: Apache-2.0
"""jupyter console --existing, typed into a terminal."""

import os
import pty
import re
import select
import sys
import time
import unittest

from driver import LIMIT, Kernel

# A terminal program asks where the cursor is and waits for the answer.
ASKED, ANSWER = b"\x1b[6n", b"\x1b[1;1R"


class Terminal:
    def __init__(self, command):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "xterm"
            os.execvp(command[0], command)

    def expect(self, pattern):
        end = time.monotonic() + LIMIT
        while not re.search(pattern, self.plain()):
            ready = select.select([self.fd], [], [], 1)[0]
            if ready:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    data = b""
                if not data:
                    raise AssertionError("ended: %r" % self.plain()[-2000:])
                self.text += data
                for _ in range(data.count(ASKED)):
                    os.write(self.fd, ANSWER)
            elif time.monotonic() > end:
                raise AssertionError("no %r in %r" % (pattern, self.plain()[-2000:]))

    def plain(self):
        text = self.text.decode(errors="replace")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)

    def type(self, line):
        self.text = b""
        os.write(self.fd, line.encode())

    def end(self):
        os.close(self.fd)
        return os.waitpid(self.pid, 0)


class Console(unittest.TestCase):
    def test_existing(self):
        kernel = Kernel()
        kernel.run("earlier = 20")
        terminal = Terminal(
            [
                sys.executable,
                "-m",
                "jupyter_console",
                "--existing",
                kernel.manager.connection_file,
            ]
        )
        try:
            terminal.expect(r"In \[")
            terminal.type("earlier + 3\r")
            terminal.expect(r"Out\[\d+\]:\s*23")
            terminal.type("print('un' + 'mistakable')\r")
            terminal.expect("unmistakable")
            terminal.type("1/0\r")
            terminal.expect("ZeroDivisionError: division by zero")
        finally:
            terminal.end()
            kernel.stop()


if __name__ == "__main__":
    unittest.main()
