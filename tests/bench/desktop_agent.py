# SPDX-License-Identifier: Apache-2.0
"""desktop_agent.py TASK: what bench-desktop does beside the screen, natively or
in a guest: draw, type, and read how much time of a processor who used.

TASK is JSON: {"do": "moving"|"still"|"numbers"|"typed"|"clock", ...}; so is the answer.
Needs nothing but Python and libX11, as every guest has them."""
import ctypes
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time

CELL, BITS = 32, 10  # of a number on the screen; desktop_record.py reads them
LEAD = 3  # seconds until a film has begun, and a still screen is a still one

X = ctypes.CDLL("libX11.so.6")
ID, PTR, INT = ctypes.c_ulong, ctypes.c_void_p, ctypes.c_int
X.XOpenDisplay.restype = PTR
for name in "XDefaultRootWindow", "XCreateSimpleWindow", "XCreatePixmap":
    getattr(X, name).restype = ID
X.XCreateGC.restype = PTR


class Attributes(ctypes.Structure):
    """XSetWindowAttributes"""

    _fields_ = [(n, ID) for n in ("pixmap", "pixel", "bpixmap", "bpixel")]
    _fields_ += [(n, INT) for n in ("bit_gravity", "win_gravity", "store")]
    _fields_ += [("planes", ID), ("bpix", ID), ("save_under", INT)]
    _fields_ += [("events", ID), ("propagate", ID)]
    _fields_ += [("override_redirect", INT), ("colormap", ID), ("cursor", ID)]


class Screen:
    """All of the screen, full of text: a page of several screens' height, of
    which it shows a part, as one request, so that no half picture is seen."""

    def __init__(self):
        self.dpy = PTR(X.XOpenDisplay(None))
        assert self.dpy, "no display"
        root = ID(X.XDefaultRootWindow(self.dpy))
        s = X.XDefaultScreen(self.dpy)
        self.width = X.XDisplayWidth(self.dpy, s)
        self.height = X.XDisplayHeight(self.dpy, s)
        self.gc = PTR(X.XCreateGC(self.dpy, root, ID(0), None))
        self.window = ID(
            X.XCreateSimpleWindow(
                self.dpy, root, 0, 0, self.width, self.height, 0, ID(0), ID(0)
            )
        )
        a = Attributes(override_redirect=1)
        X.XChangeWindowAttributes(self.dpy, self.window, ID(1 << 9), ctypes.byref(a))
        self.page = self.pixmap(2 * self.height)
        self.back = self.pixmap(self.height)
        self.write_page(2 * self.height)
        X.XMapRaised(self.dpy, self.window)

    def pixmap(self, height):
        depth = X.XDefaultDepth(self.dpy, X.XDefaultScreen(self.dpy))
        return ID(X.XCreatePixmap(self.dpy, self.window, self.width, height, depth))

    def colour(self, rgb):
        X.XSetForeground(self.dpy, self.gc, ID(rgb))

    def fill(self, where, x, y, width, height, rgb):
        self.colour(rgb)
        X.XFillRectangle(self.dpy, where, self.gc, x, y, width, height)

    def write_page(self, height):
        """The same text each time; its second half is its first one again."""
        self.fill(self.page, 0, 0, self.width, height, 0x101418)
        for y in range(12, height, 16):
            r = random.Random(y % (height // 2))
            line = " ".join(
                "".join(r.choice("etaoinshrdlu0123456789_(){};") for _ in range(n))
                for n in (r.randint(2, 11) for _ in range(r.randint(5, 45)))
            ).encode()
            self.colour(r.choice((0xD0D0D0, 0xD0D0D0, 0x80C080, 0x8090E0)))
            X.XDrawString(self.dpy, self.page, self.gc, 4, y, line, len(line))

    def copy(self, source, y, target):
        X.XCopyArea(self.dpy, source, target, self.gc, 0, y, self.width, self.height, 0, 0)

    def show(self, n, number=None):
        """The n-th picture of the text that moves; returns when it is there."""
        y = n * 4 % self.height
        if number is None:
            self.copy(self.page, y, self.window)
        else:
            self.copy(self.page, y, self.back)
            for i in range(2 * BITS):
                bit = number >> (i % BITS) & 1 ^ (i >= BITS)
                self.fill(self.back, i * CELL, 0, CELL, CELL, 0xFFFFFF * bit)
            self.copy(self.back, 0, self.window)
        X.XSync(self.dpy, 0)

    def server(self):
        """The server's process: whoever listens at the other end."""
        fd = os.dup(X.XConnectionNumber(self.dpy))
        with socket.socket(fileno=fd) as s:
            cred = s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return struct.unpack("3i", cred)[0]


def stat(pid):
    """A process's name and its parent."""
    with open("/proc/%d/stat" % pid) as f:
        text = f.read()
    name = text[text.index("(") + 1 : text.rindex(")")]
    return name, int(text[text.rindex(")") + 2 :].split()[1])


def guestd():
    pid = os.getpid()
    while pid > 1:
        name, parent = stat(pid)
        if name == "guestd":
            return pid
        pid = parent
    raise SystemExit("guestd did not start this")


def child_of(parent, name):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if stat(int(pid)) == (name, parent):
                return int(pid)
        except OSError:
            pass
    return None


def clock(pid):
    """Seconds of a processor: Linux's clock of another process has this number."""
    return time.clock_gettime(~pid << 3 | 2)


class Watch:
    """Who uses the processor; in seconds since the begin."""

    def __init__(self, screen, task):
        g = guestd()
        self.film = None
        self.pids = {"guestd": g, "server": screen.server()}
        if "ffmpeg" in task:
            self.film = subprocess.Popen(task["ffmpeg"], stdin=subprocess.DEVNULL)
            self.pids["recorder"] = self.film.pid
        else:
            pid = child_of(g, "sandbox-recorder"[:15])
            if pid:
                self.pids["recorder"] = pid
        self.began = {}

    def read(self):
        return {
            **{k: clock(pid) for k, pid in self.pids.items()},
            "seconds": time.monotonic(),
        }

    def begin(self):
        self.began = self.read()

    def end(self):
        return {k: v - self.began[k] for k, v in self.read().items()}

    def close(self):
        if self.film:
            self.film.send_signal(signal.SIGINT)
            self.film.wait(60)


def sleep_until(when):
    time.sleep(max(0, when - time.monotonic()))


def moving(screen, watch, task):
    """Text that moves, so many pictures a second."""
    fps, n, begin = task["fps"], 0, time.monotonic()
    while n < fps * (LEAD + task["seconds"]):
        if n == fps * LEAD:
            watch.begin()
        screen.show(n)
        n += 1
        sleep_until(begin + n / fps)
    return watch.end()


def still(screen, watch, task):
    """A film that has begun is done with its first pictures, sooner or later."""
    screen.show(0)
    watch.begin()
    end = time.monotonic() + 20 * LEAD
    while time.monotonic() < end:
        time.sleep(LEAD)
        if watch.film or watch.end()["recorder"] < 0.001 * LEAD:
            break
        watch.begin()
    watch.begin()
    time.sleep(task["seconds"])
    return watch.end()


def numbers(screen, watch, task):
    """Pictures with numbers, and for how long each was there for sure: from
    the server's word that it is drawn to the request of the next one."""
    r, shown, begin = random.Random(6), [], time.monotonic()
    while time.monotonic() < begin + LEAD:
        screen.show(0, 0)
        time.sleep(0.1)
    watch.begin()
    for n in range(1, task["count"] + 1):
        screen.show(n, n)
        since = time.monotonic()
        time.sleep(task["ms"] / 1000 if n % 2 else r.uniform(0.02, 0.12))
        shown.append([n, (time.monotonic() - since) * 1000])
    screen.show(0, 0)
    time.sleep(1)
    return {**watch.end(), "shown": shown}


def typed(task):
    """An xterm that keeps what is typed: the times of its first and last byte.
    With "by" we type it ourselves, with that program.  It begins once PATH.go exists."""
    path = task["path"]
    keep = "stty raw -echo; exec cat > '%s'" % path
    for old in path, path + ".go":
        if os.path.exists(old):
            os.unlink(old)
    xterm = subprocess.Popen(
        ["xterm", "-u8", "-fn", "fixed", "-T", task["title"], "-e", "sh", "-c", keep]
    )
    try:
        return type_into(path, task)
    finally:
        xterm.terminate()
        xterm.wait(10)


def type_into(path, task):
    while not os.path.exists(path + ".go"):
        time.sleep(0.02)
    by, size, last = None, 0, time.monotonic()
    if "by" in task:
        by = subprocess.Popen(task["by"], env={**os.environ, "LC_ALL": "C.UTF-8"})
    first = last
    # Until all is there, or nothing more comes.
    while size < task["bytes"] and time.monotonic() < last + (5 if size else 30):
        time.sleep(0.002)
        now = os.path.getsize(path) if os.path.exists(path) else 0
        if now > size:
            last = time.monotonic()
            first = first if size or by else last
            size = now
    if by:
        by.wait(60)
    with open(path, "rb") as f:
        return {"seconds": last - first, "text": f.read().decode(errors="replace")}


def main():
    task = json.loads(sys.argv[1])
    if task["do"] == "typed":
        print(json.dumps(typed(task)))
        return
    if task["do"] == "clock":
        print(json.dumps({"guestd": clock(guestd())}))
        return
    screen = Screen()
    watch = Watch(screen, task)
    try:
        found = {"moving": moving, "still": still, "numbers": numbers}[task["do"]](
            screen, watch, task
        )
    finally:
        watch.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
