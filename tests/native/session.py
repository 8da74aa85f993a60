# SPDX-License-Identifier: Apache-2.0
"""The programs of the desktop, as people use them.  Usage: session.py PORT RUN-DIR"""
import io
import json
import os
import signal
import sys

from PIL import Image, ImageChops

from desktop import Desktop, wait_until

port, run_dir = int(sys.argv[1]), sys.argv[2]
desk = Desktop(port, run_dir)


def session_pid():
    with open(run_dir + "/desktop.json") as f:
        return json.load(f)["session"]["pid"]


def members(sid):
    """Names of the living processes of a session, by their numbers."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:  # it has ended
            continue
        state, _, _, session = rest.split()[:4]
        if int(session) == sid and state not in "ZX":
            found[int(pid)] = name
    return found


def has_manager(sid):
    return "openbox" in members(sid).values()


def windows(key, value):
    return [w for w in desk.get_json("/v1/screen/windows")["windows"]
            if w[key] == value]


def act(title, what):
    for w in windows("title", title):
        status = desk.ask("POST", f"/v1/screen/windows/{w['id']}/{what}", {})[0]
        assert status in (204, 404), status


def focus(title):
    """Which only a window manager does, once it has come so far."""

    def focused():
        act(title, "focus")
        return any(w["focused"] for w in windows("title", title))

    wait_until(focused)


def kill_session():
    """With no chance to end what it has started."""
    old = session_pid()
    wait_until(lambda: has_manager(old))
    left = members(old)
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: session_pid() not in (0, old) and has_manager(session_pid()))
    assert not set(left) & set(members(old)), (left, members(old))


def click(button, x, y):
    body = {"button": button, "x": x, "y": y}
    status, _, data = desk.ask("POST", "/v1/screen/mouse", body)
    assert status == 200, (status, data)


def picture(region):
    status, _, data = desk.ask("GET", "/v1/screen/screenshot?region=" + region)
    assert status == 200, (status, data)
    return Image.open(io.BytesIO(data)).convert("RGB")


def open_terminal(start):
    """That start opens one, which is there without the session, too."""
    start()
    wait_until(lambda: windows("class", "XTerm"))
    window = windows("class", "XTerm")[0]
    kill_session()
    wait_until(lambda: windows("class", "XTerm"))
    assert windows("class", "XTerm")[0]["id"] == window["id"], window

    def gone():
        act(window["title"], "close")
        return not windows("class", "XTerm")

    wait_until(gone)


def bare(region):
    """The picture of a place where there is only the wallpaper, whose rows have
    one colour each: the frame of a window may outlive it for a moment."""
    im = picture(region)
    column = im.resize((1, im.height), Image.NEAREST)
    rows = column.resize(im.size, Image.NEAREST)
    return None if ImageChops.difference(im, rows).getbbox() else im


def choose_terminal():
    """The first row of the menu, which comes up where the pointer is."""
    around = "280,180,200,200"
    before = wait_until(lambda: bare(around))
    click("right", 300, 200)
    x, y, *_ = wait_until(
        lambda: ImageChops.difference(before, picture(around)).getbbox()
    )
    assert abs(x - 20) < 5 and abs(y - 20) < 5, (x, y)
    click("left", 320, 210)


def test_menu():
    open_terminal(choose_terminal)


def test_panel():
    """At the bottom, and its first icon starts a terminal."""
    wait_until(lambda: windows("class", "Tint2"))
    panel = windows("class", "Tint2")[0]
    bottom = panel["y"] + panel["height"]
    assert (panel["x"], panel["width"], bottom) == (0, desk.width, desk.height)
    open_terminal(lambda: click("left", 20, bottom - panel["height"] // 2))
    wait_until(lambda: windows("class", "Tint2"))


def test_killed():
    with desk.draw("window", "one"), desk.draw("window", "two"):
        wait_until(lambda: windows("title", "one") and windows("title", "two"))
        for _ in range(2):
            kill_session()
            new = session_pid()
            wait_until(lambda: windows("title", "one") and windows("title", "two"))
            focus("one")
            focus("two")
            assert session_pid() == new and has_manager(new)
        act("one", "close")
        act("two", "close")


def test_log():
    """Who was started, who was killed, and what the X server says."""
    kill_session()
    wait_for_manager()
    lines = desk.get_json("/v1/logs?source=desktop&lines=1000")["lines"]
    programs = [line["program"] for line in lines if "program" in line]
    assert programs[:2] == ["Xvnc", "session"] and len(programs) > 2, programs
    said = [line["msg"] for line in lines if "program" not in line]
    assert any("TigerVNC" in msg for msg in said), said
    assert any("SIGKILL" in msg for msg in said), said


def wait_for_manager():
    with desk.draw("window", "first"):
        focus("first")
        act("first", "close")


def test_server_killed():
    """A session that does not end with its server makes room for the next."""
    with open(run_dir + "/desktop.json") as f:
        state = json.load(f)
    server, old = state["server"]["pid"], state["session"]["pid"]
    os.kill(old, signal.SIGSTOP)
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: session_pid() not in (0, old) and has_manager(session_pid()))
    wait_until(lambda: not members(old))
    wait_until(lambda: desk.get_json("/v1/screen/info")["state"] == "up")
    wait_for_manager()


wait_for_manager()
names = [n for n in sorted(globals()) if n.startswith("test_")]
for name in os.environ.get("ONLY", "").split() or names:
    globals()[name]()
    print("ok", name, flush=True)
