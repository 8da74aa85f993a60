# SPDX-License-Identifier: Apache-2.0
"""The bash that the cells run in.

It is interactive, but has no terminal: so an interrupt, an unset variable or a
syntax error end the cell and not bash.  It reads lines of ours from its stdin;
the cells have another one.  A cell is a file that it sources, which makes bash
less talkative than it is at a prompt.  Files of ours are opened under /proc, and
so no child of a cell holds them.
"""

import os
import time

# Not "signal", whose enums cost as much as all the rest of our start.
import _signal as signal
from select import POLLIN, poll

ARGV = "bash --norc --noprofile --noediting +H +o history -i -s".split()
# What an EXIT trap keeps for the next bash, in an order in which it can be read
# again: patterns of functions may need an option, errexit must come last.
KEPT = """
shopt -p; declare -p; declare -f; declare -Fx; alias -p; umask -p; trap -p
printf "set --"; printf " %q" "$@"; printf "\\ncd -- %q\\n" "$PWD"; set +o
"""
# How soon we look again at what was interrupted, each time twice as long, and
# how often it is interrupted at most.
AGAIN_MS = 10
INTERRUPTS = 5
# The second one kills all but bash, and bash too if that is not enough.
FORCE_S = 0.5
# How long bash may take to end when the kernel does.
LEAVE_S = 0.5
PASSES = 3
ANSWER_BYTES = 1 << 20


def quote(text):
    """One word of bash; NUL is in no word."""
    return "'" + text.replace("\0", "").replace("'", "'\\''") + "'"


class Child:
    def __init__(self, core):
        self.core = core
        self.cause = None
        self.ended = None
        self.kept = False
        self._last = 0
        self._heard, tell = os.pipe()
        os.set_blocking(self._heard, False)
        self._cell, self._state, self._answer = map(
            os.memfd_create, ("cell", "state", "answer")
        )
        files = dict(tell=tell, cell=self._cell, state=self._state)
        files.update(answer=self._answer, stderr=2)
        self._path = {
            name: "/proc/%d/fd/%d" % (os.getpid(), fd) for name, fd in files.items()
        }
        self._start()

    def _start(self):
        down, self._commands = os.pipe()
        # A session of our own has all that cells start; if it is not ours, or
        # has a terminal that bash would want, bash gets one.
        own = os.getsid(0) == os.getpid() and not _terminal()
        self._pid = os.posix_spawnp(
            "bash",
            ARGV,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, down, 0),
                (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
            ],
            setsigmask=[],
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT],
            **({"setpgroup": 0} if own else {"setsid": True})
        )
        os.close(down)
        self._session = os.getpid() if own else self._pid
        self._pidfd = os.pidfd_open(self._pid)
        self._poll = poll()
        for fd in self._heard, self._pidfd:
            self._poll.register(fd, POLLIN)
        self._send(self._greeting())

    def _greeting(self):
        """Its first lines: the state of the one before, and how to keep it."""
        self._mark = os.urandom(16).hex()
        text = KEPT.strip().replace("\n", ";")
        # A subshell that is interrupted at its start still has our trap.
        keep = "[[ $BASHPID != $$ ]] || { %s; echo '# %s'; } >|%s 2>/dev/null"
        lines = "unset HISTFILE MAILCHECK\n"
        if self.ended is not None and self.kept:
            lines += ". %s\n" % self._path["state"]
        self.ended = None
        keep %= (text, self._mark, self._path["state"])
        return lines + "trap -- %s EXIT\n" % quote(keep)

    def _send(self, text):
        """A line or two, for which the pipe has room."""
        try:
            os.write(self._commands, text.encode())
        except BrokenPipeError:
            pass  # it has ended, and we shall see that

    def run(self, code):
        """The status of a cell; `cause` says why it was interrupted, `ended` how
        bash came to its end, and `kept` whether its state did not."""
        # $? is what it was.  With errexit that would be the end.
        before = "[[ $- == *e* ]] || (exit %d); " % self._last if self._last else ""
        self._last = self._source(code, before, "2>|{stderr}\n")
        return self._last

    def ask(self, code):
        """What bash prints about its own state; "" if it cannot say."""
        self._source(code, "", ">|{answer} 2>/dev/null || :\n")
        data = os.pread(self._answer, ANSWER_BYTES, 0)
        os.ftruncate(self._answer, 0)
        return data.decode("utf-8", "replace")

    def _source(self, code, before, after):
        data = code.replace("\0", "").encode("utf-8", "replace")
        os.ftruncate(self._cell, 0)
        with open(self._cell, "wb", closefd=False) as file:
            file.seek(0)
            file.write(data)
        text = before + "\\builtin . {cell} </dev/null " + after
        return self._do(text.format(**self._path))

    def _do(self, line):
        if self.ended is not None:
            self._start()
        self.cause = None
        self._strikes = 0
        self._begun = False
        # All of a line is given up when something in it goes wrong, and so the
        # end has a line of its own.
        token = self._new_token()
        self._send(self._say % "begin" + "; " + line + self._done)
        status = self._wait(token)
        if self._strikes and self.ended is None:
            # Interrupted while it read a command, bash may run that one later.
            token = self._new_token()
            self._send(self._done)
            self._wait(token)
        return status

    def _new_token(self):
        """What a cell cannot say by accident."""
        token = os.urandom(16).hex()
        say = "\\builtin printf '%%s %%s\\n' %s " % token
        self._say = say.replace("%", "%%") + "%s >|" + self._path["tell"]
        self._done = self._say % '"$?"' + "\n"
        self._left = INTERRUPTS
        return token.encode()

    def _wait(self, token):
        heard = b""
        while True:
            waits = self._strikes and self._begun
            patience = AGAIN_MS << INTERRUPTS - self._left if waits else None
            events, error = self.core.guard(self._poll.poll, patience)
            if error is not None:
                self._strike(error)
            elif not events:
                self._insist()
            ready = [fd for fd, _ in events or ()]
            *lines, heard = (heard + self._hear()).split(b"\n")
            for line in lines:
                word, _, text = line.partition(b" ")
                if word != token:
                    continue
                if text != b"begin":
                    return int(text)
                self._begin()
            if self._pidfd in ready:
                return self._reap()

    def _begin(self):
        self._begun = True
        if self._strikes:
            self._interrupt()

    def _insist(self):
        """Time has passed since an interrupt."""
        if self._strikes > 1:
            self._force()
        elif self._left and not self._struck & _handling(self._pid):
            # What ran had just ended or was just beginning, and bash went on.
            self._interrupt()

    def _interrupt(self):
        self._left = max(self._left - 1, 0)
        self._struck = _handling(self._pid)
        _kill(-self._pid, signal.SIGINT)
        # Bash may have read that line already, and given it up too.
        self._send(self._done)

    def _hear(self):
        try:
            return os.read(self._heard, 4096)
        except BlockingIOError:
            return b""

    def _strike(self, error):
        """The first interrupt is for the cell to heed, the next one is not."""
        if not isinstance(error, KeyboardInterrupt):
            raise error
        self.cause = self.core.interrupted_by()
        # Two that come at once are raised once.
        self._strikes = max(self._strikes + 1, self.core.interrupts())
        if self.cause == "shutdown":
            self._strikes += 1
        if self._strikes == 1:
            # Before it has begun, there is nothing to interrupt.
            if self._begun:
                self._interrupt()
        else:
            self._until = time.monotonic() + FORCE_S
            self._force()

    def _force(self):
        for pid in self._others():
            _kill(pid, signal.SIGKILL)
        if time.monotonic() > self._until:
            _kill(self._pid, signal.SIGKILL)
        else:
            self._interrupt()

    def _others(self):
        """All of the session, but for bash and us."""
        found = (int(name) for name in os.listdir("/proc") if name.isdigit())
        found = [pid for pid in found if _session(pid) == self._session]
        return set(found) - {self._pid, os.getpid()}

    def _reap(self):
        """Bash has ended: its status."""
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self.ended = status
        os.close(self._commands)
        os.close(self._pidfd)
        size = os.fstat(self._state).st_size
        tail = os.pread(self._state, 64, max(size - 64, 0))
        self.kept = tail.endswith(b"# %s\n" % self._mark.encode())
        return status if status >= 0 else 128 - status

    def close(self):
        """Bash ends as at the end of its input; nothing of it stays behind."""
        if self.ended is None:
            os.close(self._commands)
            over = poll()
            over.register(self._pidfd, POLLIN)
            over.poll(LEAVE_S * 1000)
            _kill(self._pid, signal.SIGKILL)
        # Who is just being started is found the next time.
        for _ in range(PASSES):
            for pid in self._others():
                _kill(pid, signal.SIGKILL)


def _kill(pid, sig):
    try:
        os.kill(pid, sig)
    except (ProcessLookupError, PermissionError):
        pass


def _handling(pid):
    """The programs below a bash that have a handler for SIGINT.  A subshell has
    one of bash's own, and may have been struck before there was anything in it."""
    found, shells = set(), [pid]
    for shell in shells:
        text = _read("/proc/%d/task/%d/children" % (shell, shell))
        for child in map(int, text.split()):
            if _read("/proc/%d/cmdline" % child).split("\0")[:-1] == ARGV:
                shells.append(child)
            elif _catches(child):
                found.add(child)
    return found


def _catches(pid):
    _, _, rest = _read("/proc/%d/status" % pid).partition("\nSigCgt:")
    return bool(rest) and int(rest.split()[0], 16) >> (signal.SIGINT - 1) & 1


def _read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _session(pid):
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return -1


def _terminal():
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        return True
    except OSError:
        return False
