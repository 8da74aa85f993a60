# SPDX-License-Identifier: Apache-2.0
"""input(), getpass() and sys.stdin, which ask the front end."""

import builtins
import io
import sys

from sandbox_kernel.shell import current


# What front ends answer at the end of their input.
END = "\x04"


class StdinNotImplementedError(NotImplementedError):
    """The front end said that it cannot be asked."""


def ask(prompt, password=False):
    shell = current()
    if not shell.allow_stdin:
        raise StdinNotImplementedError(
            "input() was called, but this front end takes no input requests"
        )
    sys.stdout.flush()
    sys.stderr.flush()
    line = shell.core.input(prompt, password)
    if line == END:
        raise EOFError("the front end has no more input")
    return line


def read_line(prompt="", /):
    """Read a line from the front end; the prompt is shown there."""
    return ask(str(prompt))


def getpass(prompt="Password: ", stream=None):
    """Read a password from the front end, which does not show it."""
    return ask(str(prompt), True)


class Stdin(io.TextIOBase):
    """Lines typed in the front end."""

    encoding = "utf-8"
    errors = "strict"
    name = "<stdin>"
    mode = "r"

    def __init__(self):
        self._rest = ""

    def readable(self):
        return True

    def isatty(self):
        return False

    def readline(self, size=-1):
        if not self._rest:
            try:
                self._rest = ask("") + "\n"
            except EOFError:
                return ""
        end = len(self._rest) if size is None or size < 0 else size
        line, self._rest = self._rest[:end], self._rest[end:]
        return line

    def read(self, size=-1):
        # One line is all that a front end gives at a time: what waits for
        # the end of the input would wait for ever.
        return self.readline(size)


def install():
    read_line.__name__ = read_line.__qualname__ = "input"
    builtins.input = read_line
    sys.stdin = Stdin()
