# SPDX-License-Identifier: Apache-2.0
"""Desktop and terminal by way of sandboxd, in a real browser.

view.py PORT GUEST-PORT GUEST-TOKEN TOKEN RUN-DIR FOLDER SANDBOXCTL: PORT and TOKEN
are sandboxd's.
"""
import http.client
import json
import os
import struct
import subprocess
import sys
from urllib.parse import urlsplit

import rfb
from cdp import Browser
from desktop import Desktop, wait_until
from ws import Refused, WebSocket

port, guest_port, guest_token, token, run_dir, folder, sandboxctl = sys.argv[1:]
port = int(port)
desk = Desktop(int(guest_port), run_dir, guest_token)
shots = os.environ.get("SCREENSHOTS", folder)
origin = f"http://127.0.0.1:{port}"
demo = "/v1/sandboxes/demo"
BLUE = (0x20, 0x40, 0xC0)
STATE = "document.getElementById('bar').dataset.state"


def cursor():
    return desk.get_json("/v1/screen/info")["cursor"]


def ticket(path):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    auth = {"Authorization": f"Bearer {token}"}
    c.request("POST", "/v1/tickets", json.dumps({"path": path}), auth)
    return json.load(c.getresponse())["ticket"]


def refused(path):
    try:
        WebSocket(port, path)
        raise AssertionError("let in: " + path)
    except Refused as e:
        assert e.status == 401, e.status


def test_bytes():
    one = ticket(demo + "/v1/vnc/ws")
    hands = rfb.Rfb(port, f"{demo}/v1/vnc/ws?ticket={one}")
    hands.point(123, 45)
    wait_until(lambda: cursor() == {"x": 123, "y": 45})
    hands.ws.close()
    refused(f"{demo}/v1/vnc/ws?ticket={one}")


def test_view_only():
    one = ticket(demo + "/v1/vnc/view")
    # A ticket for eyes gives no hands, by whatever name.
    for path in (
        "/v1/vnc/ws",
        "/websockify",
        "/v1/vnc/ws/",
        "/v1/vnc%2Fws",
        "/v1/vnc/view/../ws",
        "//v1/vnc/ws",
    ):
        try:
            WebSocket(port, f"{demo}{path}?ticket={one}")
            raise AssertionError("let in: " + path)
        except Refused as e:
            assert e.status in (400, 401), (path, e.status)
    only = rfb.Rfb(port, f"{demo}/v1/vnc/view?ticket={one}")
    before = cursor()
    only.point(200, 200)
    only.ws.send(struct.pack(">BBHI", 4, 1, 0, 0x61))  # a key
    only.picture()
    assert cursor() == before, (cursor(), before)
    only.ws.close()


def view(*options):
    """A link, which is good for a minute: Chromium is to run before."""
    args = [sandboxctl, "view", "demo", "--via", "sandboxd", *options]
    return subprocess.run(
        args, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def blue_seen(page, name):
    return rfb.shows(page, os.path.join(shots, name), BLUE)


def open_page(page, url):
    page.open("about:blank")
    page.open(url)
    page.until(f"{STATE} === 'open'")


def move(page, x, y):
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


def look_with_hands(page, link):
    open_page(page, link)
    assert "ticket" not in page.eval("location.href"), "it stays visible"
    with desk.draw("blue", 100, 100, 300, 200):
        wait_until(lambda: blue_seen(page, "view-sandboxd.png"))
    before = cursor()
    move(page, 500, 300)
    wait_until(lambda: cursor() != before)
    at = urlsplit(link)
    refused(at.path.replace("/vnc/", "/v1/vnc/ws?") + at.query)


def look_only(page):
    open_page(page, view("--view-only"))
    page.eval("document.getElementById('screen').screen().viewOnly = false")
    before = cursor()
    move(page, 300, 200)
    with desk.draw("blue", 100, 100, 300, 200):
        wait_until(lambda: blue_seen(page, "view-sandboxd-only.png"))
    assert cursor() == before, "it can point"


def use_twice(page, link):
    """A link that was used asks for the token, and that is good for all."""
    page.open("about:blank")
    page.open(link)
    page.until("!document.getElementById('login').hidden")
    assert "sandboxd" in page.eval("document.getElementById('login').innerText")
    page.eval(
        "(document.getElementById('token').value = %s,"
        " document.getElementById('login').requestSubmit())" % json.dumps(token)
    )
    page.until(f"{STATE} === 'open'")


def use_terminal(page):
    open_page(page, f"{origin}{demo}/terminal/?command=cat#token={token}")
    assert token not in page.eval("location.href"), "the token stays visible"
    page.type("through the daemon\n")
    page.until(
        "(t => (t.selectAll(), t.getSelection()))"
        "(document.getElementById('screen').terminal)"
        ".split('through the daemon').length === 3"
    )


def test_pages():
    browser = Browser(folder, (1000, 700))
    page = browser.page
    try:
        link = view()
        look_with_hands(page, link)
        look_only(page)
        assert not page.problems, page.problems
        use_twice(page, link)
        page.problems.clear()  # the ticket was refused, as it should be
        use_terminal(page)
        assert not page.problems, page.problems
    except AssertionError:
        print(page.problems, page.eval("document.body.innerText"))
        raise
    finally:
        browser.close()


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name, flush=True)
