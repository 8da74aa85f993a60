# SPDX-License-Identifier: Apache-2.0
"""Typing any text, read back from programs.  Usage: typed.py PORT DIR"""
import base64
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

from PIL import Image

import cdp
from desktop import DEADLINE, Desktop, Events, wait_until

port, folder = int(sys.argv[1]), sys.argv[2]
desk = Desktop(port, folder + "/run")
COUNT = 10000


def post(body, status=200, path="keyboard", method="POST"):
    # It waits for programs, which are slow on a busy machine.
    got, _, data = desk.ask(
        method,
        "/v1/screen/" + path,
        body,
        {"Content-Type": "application/json"},
        10 * DEADLINE,
    )
    assert got == status, (path, str(body)[:200], got, data[:500])
    return json.loads(data) if data else None


def keyboard(text, **more):
    return post({"text": text, **more})


RANGES = (
    (0x20, 0x7E),
    (0xA1, 0xAC),
    (0xC0, 0x24F),
    (0x300, 0x33F),  # combining
    (0x391, 0x3A1),
    (0x410, 0x44F),
    (0x5D0, 0x5EA),  # from right to left
    (0x3041, 0x3096),
    (0x4E00, 0x9FA5),
    (0xAC00, 0xD7A3),
    (0x1F300, 0x1F5FF),  # emoji
    (0x20000, 0x2A6D6),
)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
THUMB, RAINBOW = "\U0001f44d\U0001f3fd", "\U0001f3f3\ufe0f\u200d\U0001f308"


def random_char(r):
    return chr(r.randint(*r.choice(RANGES)))


def random_text(n, seed, line=160):
    """Characters of all kinds, with lines, tabs and joined emoji."""
    r = random.Random(seed)
    out = ""
    while len(out) < n:
        out += "".join(random_char(r) for _ in range(r.randint(0, line)))
        out += r.choice((FAMILY, THUMB, RAINBOW, "print('plain')"))
        out += r.choice("\n\n\t")
    return out[: n - 1] + "\n"


def few_rare(n, rare, seed):
    """What the keyboard has, and that many characters that it has not."""
    r = random.Random(seed)
    odd = set()
    while len(odd) < rare:
        odd.add(chr(r.randint(*r.choice(RANGES[2:]))))
    odd, usual = sorted(odd), list(map(chr, range(*RANGES[0])))
    return "".join(r.choice(r.choice((odd, usual))) for _ in range(n))


def same(what, got, want):
    if got != want:
        i = next(
            (i for i, (a, b) in enumerate(zip(got, want)) if a != b),
            min(len(got), len(want)),
        )
        raise AssertionError(
            (what, len(got), len(want), i, got[i : i + 20], want[i : i + 20])
        )


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def has_keyboard(title):
    """A window that was there before the window manager has to be given it."""
    for w in desk.get_json("/v1/screen/windows")["windows"]:
        if title in w["title"]:
            if w["focused"]:
                return w
            desk.ask("POST", f"/v1/screen/windows/{w['id']}/focus")
    return None


class Program:
    """What is typed into: each has read() and clear()."""

    name = ""

    def __enter__(self):
        return self

    def takes(self, text, **more):
        self.clear()
        keyboard(text, **more)
        self.has(text)

    def has(self, text):
        end = time.monotonic() + DEADLINE
        while len(self.read()) < len(text) and time.monotonic() < end:
            time.sleep(0.05)
        same(self.name, self.read(), text)


class XTerm(Program):
    """A terminal whose reader keeps each byte that it gets."""

    name = "xterm"

    def __init__(self):
        self.out = folder + "/xterm.out"
        self.seen = 0
        reader = "stty raw -echo; printf '\\033]2;reader\\a'; exec cat > " + self.out
        self.p = subprocess.Popen(
            ["xterm", "-u8", "-e", "sh", "-c", reader],
            env={**desk.env, "LC_ALL": "C.UTF-8"},
        )
        wait_until(lambda: has_keyboard("reader"))

    def __exit__(self, *exc):
        self.p.terminate()
        self.p.wait()

    def clear(self):
        self.seen = len(read_text(self.out))

    def read(self):
        return read_text(self.out)[self.seen :].replace("\r", "\n")


GTK = """
import sys, gi
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk
w = Gtk.Window(title="gtk-test")
scrolled = Gtk.ScrolledWindow()
v = Gtk.TextView()
scrolled.add(v)
w.add(scrolled)
b = v.get_buffer()
saved = None
def save():
    global saved
    text = b.get_text(*b.get_bounds(), True)
    if text != saved:
        with open(sys.argv[1], "w", newline="") as f:
            f.write(text)
    saved = text
    return True
GLib.timeout_add(100, save)
w.set_default_size(500, 400)
w.show_all()
Gtk.main()
"""


class Gtk(Program):
    name = "GTK"

    def __init__(self):
        self.out = folder + "/gtk.out"
        self.p = subprocess.Popen(
            [sys.executable, "-c", GTK, self.out],
            env={**desk.env, "NO_AT_BRIDGE": "1", "LC_ALL": "C.UTF-8"},
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: has_keyboard("gtk-test"))

    def __exit__(self, *exc):
        self.p.terminate()
        self.p.wait()

    def clear(self):
        post({"key": "ctrl+a"})
        post({"key": "Delete"})
        wait_until(lambda: not self.read())

    def read(self):
        return read_text(self.out)


AREA = "document.getElementById('t')"
# A tab is a character there, not the way to the next field.
TAB = (
    "<script>clicked = false; t.onclick = () => { clicked = true; };"
    "t.onkeydown = e => { if (e.key == 'Tab') { e.preventDefault();"
    " t.setRangeText('\\t', t.selectionStart, t.selectionEnd, 'end'); } }</script>"
)


class Chromium(Program):
    name = "Chromium"

    def __init__(self):
        home = folder + "/chromium"
        os.makedirs(home)
        self.browser = cdp.Browser(home, size=(900, 600), display=desk.env)
        try:
            self.page = self.browser.page
            self.page.open(
                "data:text/html,<title>area</title>"
                "<textarea id=t rows=30 cols=90></textarea>" + TAB
            )
            self.page.until(AREA)
            w = wait_until(lambda: has_keyboard("area"))
            # Once: a second click, come late, would mark a word.
            post({"x": w["x"] + 300, "y": w["y"] + 300}, path="mouse")
            self.page.until(f"clicked && document.activeElement == {AREA}")
        except BaseException:
            self.browser.close()
            raise

    def __exit__(self, *exc):
        self.browser.close()

    def clear(self):
        self.page.eval(f"{AREA}.value = ''")

    def read(self):
        return self.page.eval(f"{AREA}.value")


def twice_at_once(program):
    """Two who type at the same time do not mix their letters."""
    first, second = random_text(500, 5), random_text(500, 6)
    program.clear()
    threads = [threading.Thread(target=keyboard, args=[t]) for t in (first, second)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    wait_until(lambda: len(program.read()) >= 1000)
    assert program.read() in (first + second, second + first), program.read()


def copy(text):
    post({"text": text}, 204, "clipboard", "PUT")


def copied():
    return desk.get_json("/v1/screen/clipboard")["text"]


def try_program(program, line=600):
    """What each program must get exactly."""
    was = "what was \u00e9 copied\n"
    with program() as p:
        copy(was)
        p.takes(random_text(COUNT, 1, line))
        assert copied() == was
        # As many as the keyboard has room for: no key has two meanings.
        p.takes(few_rare(600, 90, 2), method="keys")
        p.takes("pasted \u4e2d\U0001f600", method="paste")
        p.clear()
        post({"action": "down", "keys": ["ctrl", "shift"]})
        keyboard(random_text(200, 3))
        post({"action": "up", "keys": ["ctrl", "shift"]})
        p.has(random_text(200, 3))
        assert copied() == was


def test_xterm():
    try_program(XTerm)
    with XTerm() as p:
        twice_at_once(p)


def test_gtk():
    try_program(Gtk)


def test_chromium():
    # It takes long over each text that it pastes, and a line is one.
    try_program(Chromium, 1600)


def test_marked():
    """What is marked is replaced, though it is a selection of X's, too."""
    with Gtk() as p:
        p.takes("some text")
        post({"key": "ctrl+a"})
        keyboard("other \u4e2d", method="paste")
        wait_until(lambda: p.read() == "other \u4e2d")


def marked():
    """None if nothing is: xclip returns before what it was given is there."""
    try:
        return desk.xclip("-o", selection="primary")
    except subprocess.CalledProcessError:
        return None


def test_put_back():
    """Typing leaves the clipboard, and what is marked, as they were."""
    with XTerm() as p:
        out = io.BytesIO()
        Image.effect_noise((500, 500), 90).save(out, "PNG")
        png = base64.b64encode(out.getvalue()).decode()
        post({"data": png}, 204, "clipboard", "PUT")
        desk.xclip(data=b"marked", selection="primary")
        wait_until(lambda: marked() == b"marked")
        for seed in (1, 2):
            p.takes(random_text(300, seed))
            got = desk.get_json("/v1/screen/clipboard?media_type=image/png")
            assert got["data"] == png
            assert marked() == b"marked"
        # It is there for programs as well, which keep what they once read.
        copy("to paste")
        p.takes(random_text(300, 3))
        p.clear()
        post({"key": "shift+Insert"})
        p.has("to paste")
        # Larger than a piece.
        p.takes("\u4e2d\U0001f600" * 40000)
        assert copied() == "to paste"


def events():
    return Events(desk.env, 100, 100, 400, 300)


def typed(e, last):
    names = [x.split()[1] for x in e.until(last) if x.startswith("press ")]
    return [x for x in names if x != "Shift_L"]


def test_deaf():
    """A program that does not paste gets keys, once it is known not to."""
    copy("was")
    text = "".join(map(chr, range(0x4E00, 0x4EC8)))
    with events() as e:
        keyboard(text + "x")
        want = ["U%04X" % ord(c) for c in text]
        assert typed(e, "release x 0") == ["Insert", *want, "x"]
        assert copied() == "was"
        got = post({"text": "\u4e2d", "method": "paste"}, 504)
        assert "keys" in got["remediation"], got
        assert copied() == "was"


def begin_paste(e):
    body = {"text": "\u4e2d\u4e2d", "method": "paste"}
    c = desk.begin("POST", "/v1/screen/keyboard", body)
    assert typed(e, "release Insert 1") == ["Insert"]
    return c


def test_leave():
    """Who leaves lets go of the clipboard, and nothing more is typed."""
    copy("was")
    with events() as e:
        c = begin_paste(e)
        c.close()
        wait_until(lambda: copied() == "was")
        post({"key": "y"})
        assert typed(e, "release y 0") == ["y"]


def test_program_dies():
    """Also while it is looked at, which may be at any time."""
    copy("was")
    for _ in range(3):
        with events() as e:
            c = begin_paste(e)
            e.p.kill()
            r = c.getresponse()
            assert r.status == 504, (r.status, r.read())
    assert copied() == "was"


def server_pid():
    with open(folder + "/run/desktop.json") as f:
        return json.load(f)["server"]["pid"]


def test_server_dies():
    pid = server_pid()
    with events() as e:
        c = begin_paste(e)
        os.kill(pid, signal.SIGKILL)
        r = c.getresponse()
        # On a busy machine it had its time to paste before.
        why = {503: "X server|no display", 504: "does not paste"}
        got = json.loads(r.read())
        assert re.search(why[r.status], got["detail"]), (r.status, got)

    def is_up():
        status, _, data = desk.ask("GET", "/v1/screen/info")
        return status == 200 and json.loads(data)["state"] == "up"

    wait_until(lambda: is_up() and server_pid() != pid)
    with XTerm() as p:
        p.takes(random_text(300, 1))


if __name__ == "__main__":
    for name in os.environ.get("ONLY", "").split() or [
        "test_xterm",
        "test_gtk",
        "test_chromium",
        "test_marked",
        "test_put_back",
        "test_deaf",
        "test_leave",
        "test_program_dies",
        "test_server_dies",
    ]:
        globals()[name]()
        print("ok", name, flush=True)
