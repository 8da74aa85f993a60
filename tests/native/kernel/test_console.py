# SPDX-License-Identifier: Apache-2.0
"""jupyter console --existing, typed into a terminal."""

import os
import pty
import re
import select
import signal
import sys
import time
import unittest

from driver import LIMIT, Kernel

# A terminal program asks where the cursor is and waits for the answer.
ASKED, ANSWER = b"\x1b[6n", b"\x1b[1;1R"


LINES = (
    ("earlier + 3", r"Out\[\d+\]:\s*23"),
    ("print('un' + 'mistakable')", "unmistakable"),
)


class ClientFault(Exception):
    """Debian's console trips over its own event loop now and then ("cannot
    enter context"), whatever the kernel does: it is started once more."""


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
            if "Unhandled exception in event loop" in self.plain():
                raise ClientFault(self.plain()[-2000:])
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

    def prompt(self, last=0):
        """Wait until it asks for another line, and return its number."""
        pattern = r"In \[(?!%s\])(\d+)\]:" % last
        self.expect(pattern)
        return re.search(pattern, self.plain()).group(1)

    def walk(self, *lines):
        """Type each line when it is asked for, and see what it prints."""
        number = self.prompt()
        for line, wanted in lines:
            self.type(line + "\r")
            self.expect(wanted)
            number = self.prompt(number)

    def end(self):
        """It is not asked to end: one that has stumbled would not."""
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Console(unittest.TestCase):
    def test_existing(self):
        kernel = Kernel()
        kernel.run("earlier = 20")
        try:
            for left in 2, 1, 0:
                try:
                    return self.use(kernel)
                except ClientFault:
                    if not left:
                        raise
        finally:
            kernel.stop()

    def use(self, kernel):
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
            terminal.walk(
                *LINES, ("1/0", "ZeroDivisionError: division by zero")
            )
        finally:
            terminal.end()


if __name__ == "__main__":
    unittest.main()
