# SPDX-License-Identifier: Apache-2.0
"""The history of cells, kept on disk.

Each kernel appends to a file of its own, whose number is the session's: so
several kernels never wait for each other, and old sessions go by unlink().
A line is ``[number,"input"]`` or ``[number,null,"output"]``.
"""

import os
from _json import encode_basestring_ascii as quote

SESSIONS = 200
TOTAL_BYTES = 32 << 20
FILE_BYTES = 4 << 20
OUTPUT_CHARS = 4000
INPUT_CHARS = 256 << 10


def folder(name):
    """Where it is kept, or None if it is off."""
    if os.environ.get("SANDBOX_KERNEL_HISTORY") == "off":
        return None
    state = os.environ.get("XDG_STATE_HOME")
    if not state or not state.startswith("/"):
        state = os.path.expanduser("~/.local/state")
        if not state.startswith("/"):
            return None
    return state + "/sandbox-kernel/" + name


class History:
    def __init__(self, name="history"):
        self._dir = folder(name)
        self._fd = -1
        self._session = 0
        self._bytes = 0
        # What the file would hold, when there is none.
        self._memory = []

    @property
    def session(self):
        self._open()
        return self._session

    def _open(self):
        if self._session:
            return
        self._session = 1
        if self._dir is None:
            return
        try:
            os.makedirs(self._dir, 0o700, exist_ok=True)
            number = max(_sessions(self._dir), default=0) + 1
            while self._fd < 0:
                try:
                    self._fd = os.open(
                        _path(self._dir, number),
                        os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC,
                        0o600,
                    )
                except FileExistsError:
                    number += 1
            self._session = number
            _prune(self._dir, number)
        except OSError:
            # A folder that cannot be written to costs the past, not the cell.
            self._dir = None

    def add(self, number, text):
        if text:
            self._append("[%d,%s]\n" % (number, quote(text[:INPUT_CHARS])))

    def add_output(self, number, text):
        if len(text) <= OUTPUT_CHARS:
            self._append("[%d,null,%s]\n" % (number, quote(text)))

    def _append(self, line):
        self._open()
        if self._fd >= 0:
            try:
                os.write(self._fd, line.encode())
                self._bytes += len(line)
                if self._bytes > FILE_BYTES:
                    self._halve()
                return
            except OSError:
                pass
        self._memory.append(line)
        self._bytes += len(line)
        if self._bytes > FILE_BYTES // 4:
            del self._memory[: len(self._memory) // 2]
            self._bytes = sum(map(len, self._memory))

    def _halve(self):
        """Forget the older half of this session."""
        data = os.pread(self._fd, FILE_BYTES * 2, 0)
        data = data[data.index(b"\n", len(data) // 2) + 1 :]
        os.ftruncate(self._fd, 0)
        os.write(self._fd, data)
        self._bytes = len(data)

    def cells(self, session):
        """[(session, number, input, output)] of one session."""
        if session == self._session and self._fd < 0:
            return _parse(session, "".join(self._memory))
        if self._dir is None:
            return []
        try:
            with open(_path(self._dir, session), encoding="utf-8") as file:
                return _parse(session, file.read(FILE_BYTES * 2))
        except (OSError, ValueError):
            return []

    def _newest_first(self):
        mine = self.session
        others = _sessions(self._dir) if self._dir is not None else []
        for number in sorted(set(others) | {mine}, reverse=True):
            yield from reversed(self.cells(number))

    def reply(self, content):
        kind = content.get("hist_access_type", "tail")
        if kind == "range":
            found = self._range(content)
        elif kind == "search":
            found = self._search(content)
        else:
            found = _take(self._newest_first(), _number(content.get("n"), 1000))
        output = bool(content.get("output"))
        rows = [[s, n, [text, out] if output else text] for s, n, text, out in found]
        return {"status": "ok", "history": rows}

    def _range(self, content):
        session = _number(content.get("session"), 0)
        if session <= 0:
            session += self.session
        start = _number(content.get("start"), 1)
        stop = content.get("stop")
        stop = _number(stop, None) if stop is not None else None
        cells = self.cells(session)
        if cells and start < 0:
            start += cells[-1][1] + 1
        return [c for c in cells if c[1] >= start and (stop is None or c[1] < stop)]

    def _search(self, content):
        from fnmatch import translate
        from re import compile

        match = compile(translate(str(content.get("pattern") or "*"))).match
        seen = set()
        unique = bool(content.get("unique"))

        def fits(entry):
            if not match(entry[2]) or unique and entry[2] in seen:
                return False
            seen.add(entry[2])
            return True

        limit = _number(content.get("n"), 1000)
        return _take((c for c in self._newest_first() if fits(c)), limit)


def _number(value, default):
    return value if isinstance(value, int) else default


def _take(entries, limit):
    """The newest ones, oldest first."""
    found = []
    for entry in entries:
        if len(found) >= limit:
            break
        found.append(entry)
    found.reverse()
    return found


def _path(where, number):
    return "%s/%08d" % (where, number)


def _sessions(where):
    try:
        return [int(name) for name in os.listdir(where) if name.isdigit()]
    except OSError:
        return []


def _prune(where, newest):
    """Remove the oldest sessions beyond the limits."""
    room = TOTAL_BYTES
    for i, number in enumerate(sorted(_sessions(where), reverse=True)):
        path = _path(where, number)
        try:
            room -= os.stat(path).st_size
            if number != newest and (i >= SESSIONS or room < 0):
                os.unlink(path)
        except OSError:
            continue


def _parse(session, text):
    from json import loads

    cells = {}
    for line in text.split("\n"):
        try:
            number, given, *rest = loads(line)
        except (ValueError, TypeError):
            continue
        if isinstance(given, str):
            cells[number] = (session, number, given, None)
        elif rest and number in cells:
            cells[number] = cells[number][:3] + (rest[0],)
    return list(cells.values())
