# SPDX-License-Identifier: Apache-2.0
"""The REPL of sandboxctl py on a real terminal: python3 ctl-repl.py COMMAND..."""

import json
import os
import pty
import re
import select
import signal
import sys
import termios
import time
import urllib.request

LIMIT = 60
CTRL_C, CTRL_D, CTRL_E, CTRL_R, TAB = b"\x03", b"\x04", b"\x05", b"\x12", b"\t"
# What moves the cursor or clears; libedit redraws lines with it.
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")


class Repl:
    def __init__(self, command):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.environ["NO_COLOR"] = "1"
            os.execvp(command[0], command)

    def read(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.fd], [], [], left)[0]:
            raise SystemExit("FAIL: waited too long; seen: %r" % self.seen[-2000:])
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        if not data:
            raise EOFError
        self.seen += data

    def expect(self, text):
        """Wait for the text; what came before it is forgotten."""
        deadline = time.monotonic() + LIMIT
        while True:
            clean = ESCAPES.sub(b"", self.seen)
            at = clean.find(text)
            if at >= 0:
                before = clean[:at]
                self.seen = clean[at + len(text) :]
                return before
            try:
                self.read(deadline)
            except EOFError:
                raise SystemExit("FAIL: no %r at the end of %r" % (text, self.seen))

    def send(self, data):
        os.write(self.fd, data)

    def prompt(self, text=b">>> "):
        """Wait until keys mean what they mean to an editor."""
        self.expect(text)
        self.wait_mode(termios.ICANON)

    def wait_mode(self, flag):
        deadline = time.monotonic() + LIMIT
        while termios.tcgetattr(self.fd)[3] & flag:
            check(time.monotonic() < deadline, "the terminal's mode is not set")
            time.sleep(0.01)

    def line(self, text, prompt=b">>> "):
        """Type a line at the prompt."""
        self.prompt(prompt)
        self.send(text + b"\r")

    def end(self):
        """The exit status."""
        deadline = time.monotonic() + LIMIT
        try:
            while True:
                self.read(deadline)
        except EOFError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def check(what, name):
    if not what:
        raise SystemExit("FAIL: " + name)


def first(command, history):
    r = Repl(command)
    r.line(b"x = 6 * 7")
    r.line(b"x")
    r.expect(b"\r\n42\r\n")
    # A block, indented by itself, ended by an empty line.
    r.line(b"for i in range(3):")
    r.line(b"print('row', i)", b"... ")
    r.prompt(b"... ")
    r.send(b"\r")
    r.expect(b"row 2\r\n")
    # An exception, and on.
    r.line(b"1/0")
    r.expect(b"ZeroDivisionError: division by zero")
    # Ctrl-C clears the line, and leaves a block.
    r.prompt()
    r.send(b"raise SystemError('not me')" + CTRL_C)
    r.expect(b"KeyboardInterrupt")
    r.line(b"def f():")
    r.prompt(b"... ")
    r.send(CTRL_C)
    r.expect(b"KeyboardInterrupt")
    # Ctrl-C interrupts what runs, also what prints without end.
    r.line(b"import time; print('sle' + 'eps'); time.sleep(600)")
    r.expect(b"sleeps\r\n")
    r.send(CTRL_C)
    r.expect(b"KeyboardInterrupt")
    r.line(b"while True: print('flo' + 'od')")
    r.expect(b"flood\r\nflood\r\n")
    r.send(CTRL_C)
    r.expect(b"KeyboardInterrupt")
    # Questions; what is hidden does not show.
    r.line(b"print('hello ' + input('wh' + 'o? '))")
    r.expect(b"who? ")
    r.send(b"Bob\r")
    r.expect(b"hello Bob\r\n")
    r.line(b"import getpass; print(len(getpass.getpass('ke' + 'y? ')))")
    r.expect(b"key? ")
    r.wait_mode(termios.ECHO)
    r.send(b"s3cret\r")
    check(b"s3cret" not in r.expect(b"6\r\n"), "a password was shown")
    completion(r)
    # The guest cannot drive the terminal.
    r.line(b"print('a\\x1b]0;title\\x07b\\x1b[2Jc')")
    while b"abc\r\n" not in r.seen:
        r.read(time.monotonic() + LIMIT)
    check(b"title" not in r.seen.split(b"abc\r\n")[0].split(b"\n")[-1], "an escape")
    r.expect(b"abc\r\n")
    r.prompt()
    r.send(CTRL_D)
    check(r.end() == 0, "Ctrl-D")
    check(os.stat(history).st_mode & 0o777 == 0o600, "others read the history")


def completion(r):
    r.line(b"long_name_of_mine = 'found'; long_name_of_yours = 1")
    r.prompt()
    r.send(b"long_n" + TAB)
    r.expect(b"long_name_of_yours")
    r.send(b"m" + TAB + b"\r")
    r.expect(b"'found'\r\n")


def second(command):
    """State and history are still there; a kernel that dies is replaced."""
    r = Repl(command)
    r.prompt()
    # What is found can be changed; how it is drawn is libedit's to say.
    r.send(CTRL_R + b"6 * 7" + CTRL_E + b" + 1; print('cha' + 'nged', x)\r")
    r.expect(b"changed 43\r\n")
    r.line(b"import os; os._exit(9)")
    r.expect(b"the kernel died: ")
    r.line(b"x")
    r.expect(b"NameError")
    r.line("größe = 'ünï'; größe".encode())
    r.expect("\r\n'ünï'\r\n".encode())
    r.line(b"exit()")
    check(r.end() == 0, "exit()")


# Does something when the file is there; until then the kernel is busy.
WAIT = """print('bu' + 'sy'); \
[*iter(lambda: time.sleep(0.01) or os.path.exists('%s'), True)]; %s"""


def busy(command, flag):
    """A block that is typed while another client's cell runs."""
    other, r = Repl(command), Repl(command)
    other.line(b"import os, time")
    other.line((WAIT % (flag, "None")).encode())
    other.expect(b"busy\r\n")
    # Ctrl-C gives up the line, whether it is whole or not.
    for text in (b"for i in range(2):", b"gone = 1"):
        r.line(text)
        r.expect(b"the kernel is busy")
        r.send(CTRL_C)
        r.expect(b"KeyboardInterrupt")
    # Else the rest of the block is asked for, late.
    r.line(b"for i in range(2):")
    r.expect(b"the kernel is busy")
    open(flag, "w").close()
    r.line(b"print('row', i, 'gone' in globals())", b"... ")
    r.prompt(b"... ")
    r.send(b"\r")
    check(b"Error" not in r.expect(b"row 1 False\r\n"), "half a block was run")
    # Nor does it go to the next kernel when this one dies.
    os.unlink(flag)
    other.line((WAIT % (flag, "os._exit(9)")).encode())
    other.expect(b"busy\r\n")
    r.line(b"for i in range(2):")
    r.expect(b"the kernel is busy")
    open(flag, "w").close()
    r.expect(b"the kernel died: ")
    check(b"Error" not in r.expect(b">>> "), "half a block was run")
    other.prompt()
    other.send(CTRL_D)
    check(other.end() == 0, "Ctrl-D")
    r.wait_mode(termios.ICANON)
    r.send(b"5 * 5\r")
    r.expect(b"\r\n25\r\n")
    r.line(b"exit()")
    check(r.end() == 0, "exit()")


def restarted(command, url):
    """A kernel that somebody else restarts is not restarted once more."""
    def ask(path, data=None):
        with urllib.request.urlopen(url + path, data, LIMIT) as f:
            return json.load(f)

    r = Repl(command)
    r.line(b"import time; print('sle' + 'eps'); time.sleep(600)")
    r.expect(b"sleeps\r\n")
    kernel = next(k for k in ask("/api/kernels") if k["execution_state"] == "busy")
    model = ask("/api/kernels/" + kernel["id"] + "/restart", b"{}")
    r.expect(b"the kernel died: ")
    r.line(b"import os; print('pid', os.getpid())")
    r.expect(b"pid %d\r\n" % model["pid"])
    r.line(b"exit()")
    check(r.end() == 0, "exit()")


def hang_up(command):
    """The terminal goes away while a cell runs."""
    r = Repl(command)
    r.line(b"import time; print('sle' + 'eps'); time.sleep(600)")
    r.expect(b"sleeps\r\n")
    os.kill(r.pid, signal.SIGHUP)
    check(r.end() == 128 + signal.SIGHUP, "the status after SIGHUP")


def main():
    history, command = sys.argv[1], sys.argv[2:]
    first(command, history)
    second(command)
    busy(command, os.path.dirname(history) + "/free")
    restarted(command, os.environ["URL"])
    hang_up(command)


main()
