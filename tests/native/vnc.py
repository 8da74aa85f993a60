# SPDX-License-Identifier: Apache-2.0
"""The desktop live: RFB by hand, and the page in a real browser.
Usage: vnc.py PORT TOKEN RUN-DIR FOLDER"""
import json
import os
import struct
import sys

import rfb
from cdp import Browser
from desktop import Desktop, wait_until
from ws import Closed, Refused

port, token, run_dir, folder = int(sys.argv[1]), sys.argv[2], *sys.argv[3:5]
desk = Desktop(port, run_dir, token)
shots = os.environ.get("SCREENSHOTS", folder)
AUTH = [f"Authorization: Bearer {token}"]
BLUE = (0x20, 0x40, 0xC0)


def Rfb(path, headers=AUTH):
    return rfb.Rfb(port, path, headers)


def cursor():
    return desk.get_json("/v1/screen/info")["cursor"]


def test_bytes():
    hands = Rfb("/v1/vnc/ws")
    assert (hands.width, hands.height) == (desk.width, desk.height)
    hands.point(123, 45)
    wait_until(lambda: cursor() == {"x": 123, "y": 45})
    # Two at a time, and the other one stays when one goes.
    other = Rfb("/websockify")
    other.point(50, 60)
    wait_until(lambda: cursor() == {"x": 50, "y": 60})
    other.ws.close()
    hands.picture()
    hands.ws.close()


def test_view_only():
    eyes = Rfb("/v1/vnc/view")
    before = cursor()
    for eyes in eyes, Rfb("/v1/vnc/ws?view_only=1"):
        eyes.point(200, 200)
        eyes.ws.send(struct.pack(">BBHI", 4, 1, 0, 0x61))  # a key
        eyes.ws.send(struct.pack(">BxxxI", 6, 5) + b"paste")
        # A message in pieces, and two in one.
        eyes.ws.send(b"\x05\x00\x01")
        eyes.ws.send(b"\x00\x01\x00" + struct.pack(">BBHH", 5, 0, 7, 7))
        eyes.picture()
        assert cursor() == before, (cursor(), before)
        eyes.ws.send(b"\x99")  # not RFB: out
        try:
            while True:
                eyes.ws.recv()
        except Closed as e:
            assert e.code == 1008, e.code


def ticket(path):
    status, _, data = desk.ask("POST", "/v1/tickets", {"path": path})
    assert status in (200, 201), (status, data)
    return json.loads(data)["ticket"]


def test_tickets():
    eyes = Rfb("/v1/vnc/view?ticket=" + ticket("/v1/vnc/view"), ())
    eyes.picture()
    for bad in ticket("/v1/vnc/view"), "nonsense":
        try:
            Rfb("/v1/vnc/ws?ticket=" + bad, ())
            raise AssertionError("hands by a ticket for eyes")
        except Refused as e:
            assert e.status == 401, e.status


STATE = "document.getElementById('bar').dataset.state"
SIZE = "(c => c ? c.width + 'x' + c.height : '')(document.querySelector('canvas'))"


def blue_seen(page):
    return rfb.shows(page, os.path.join(shots, "desktop-page.png"), BLUE)


def mouse(page, x, y):
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


def test_page():
    browser = Browser(folder, (1000, 700))
    page = browser.page
    try:
        page.open(f"http://127.0.0.1:{port}/vnc/#token={token}")
        page.until(f"{STATE} === 'open'")
        assert token not in page.eval("location.href"), "the token stays visible"
        page.until(f"{SIZE} === '{desk.width}x{desk.height}'")
        with desk.draw("blue", 100, 100, 300, 200):
            wait_until(lambda: blue_seen(page))
        before = cursor()
        mouse(page, 500, 300)
        wait_until(lambda: cursor() != before)
        # To look at only.
        one = ticket("/v1/vnc/view")
        page.open("about:blank")
        page.open(f"http://127.0.0.1:{port}/vnc/?ticket={one}&view=1")
        page.until(f"{STATE} === 'open'")
        page.eval("document.getElementById('screen').screen().viewOnly = false")
        before = cursor()
        mouse(page, 300, 200)
        with desk.draw("blue", 100, 100, 300, 200):
            wait_until(lambda: blue_seen(page))
        assert cursor() == before, "the server let it point"
        # As large as the window.
        page.open("about:blank")
        page.open(f"http://127.0.0.1:{port}/vnc/?resize=1#token={token}")
        page.until(f"{STATE} === 'open'")
        wait_until(lambda: desk.get_json("/v1/screen/info")["width"] == 1000)
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
