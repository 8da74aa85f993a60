# SPDX-License-Identifier: Apache-2.0
"""Films of the screen in a real browser: in a tab and in a page, while they grow
and afterwards.
Usage: film-page.py PORT TOKEN RUN-DIR FOLDER"""
import http.server
import json
import os
import sys
import threading
import urllib.parse

from PIL import Image

from cdp import Browser
from desktop import Desktop, wait_until
from films import BLUE, Films, is_close

port, token, run_dir, folder = int(sys.argv[1]), sys.argv[2], *sys.argv[3:5]
desk = Desktop(port, run_dir, token)
films = Films(desk, folder)
shots = os.environ.get("SCREENSHOTS", folder)
VIDEO = "document.querySelector('video')"


def ticket(path, **more):
    status, _, data = desk.ask("POST", "/v1/tickets", {"path": path, **more})
    assert status == 201, (status, data)
    return json.loads(data)["ticket"]


def url_of(name):
    path = f"/v1/screen/recordings/{name}/download"
    return f"http://127.0.0.1:{port}{path}?ticket={ticket(path, reusable=True)}"


class Pages(http.server.BaseHTTPRequestHandler):
    """A page of somebody else, with the film that its query names."""

    def do_GET(self):
        film = urllib.parse.unquote(urllib.parse.urlsplit(self.path).query)
        page = (
            "<!doctype html><title>Film</title><body style='margin:0'>"
            f"<video id=film muted style='display:block' src='{film}'></video>"
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args):
        pass


def serve_pages():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/?"


def seen(page, name, size=None):
    """The pixels of the film as the page shows them."""
    path = os.path.join(shots, name + ".png")
    page.screenshot(path)
    left, top, width, height = page.eval(
        f"(r => [r.x, r.y, r.width, r.height])({VIDEO}.getBoundingClientRect())"
    )
    assert (width, height) == (size or (desk.width, desk.height)), (width, height)
    im = Image.open(path).convert("RGB")
    return im.crop((left, top, left + width, top + height))


def has_square(im, x, y, width, height):
    """It is there with sharp edges."""
    far_x, far_y = x + width, y + height
    inside = [(x + 4, y + 4), (far_x - 5, y + 4), (far_x - 5, far_y - 5)]
    outside = [(x - 5, y + 5), (far_x + 4, y + 5), (x + 5, far_y + 4)]
    if far_x + 5 > im.width or far_y + 5 > im.height:
        return False
    blue = lambda at: is_close(im.getpixel(at), BLUE, 16)
    return all(map(blue, inside)) and not any(map(blue, outside))


def until_seen(page, name, *square, size=None):
    """What was skipped to may be painted a moment later."""
    shot = lambda: seen(page, name, size)
    return wait_until(lambda: (im := shot()) and has_square(im, *square) and im)


def ready(page):
    page.until(f"{VIDEO}.readyState >= 2")
    assert page.eval(f"{VIDEO}.error") is None
    size = page.eval(f"[{VIDEO}.videoWidth, {VIDEO}.videoHeight]")
    assert size == [desk.width, desk.height], size


def play_to_end(page):
    page.eval(f"{VIDEO}.playbackRate = 4; {VIDEO}.play()")
    page.until(f"{VIDEO}.currentTime > 0")
    page.until(f"{VIDEO}.ended", 60)
    assert page.eval(f"{VIDEO}.error") is None
    return page.eval(f"{VIDEO}.currentTime")


def seek(page, seconds):
    page.eval(
        f"new Promise(done => {{ {VIDEO}.onseeked = () => done(1);"
        f"{VIDEO}.currentTime = {seconds}; setTimeout(done, 30000); }})"
    )
    page.until(f"!{VIDEO}.seeking && {VIDEO}.readyState >= 2")


class Shown:
    """Something on the screen, and when the film has it, in seconds."""

    def __init__(self, *square):
        self.draw = desk.draw("blue", *square)
        # The last one before all was still, so that no other is near.
        there = films.until(lambda p: p.lasts > 0.5 and has_square(p, *square))
        self.at = there.seconds + there.lasts / 2

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.draw.__exit__(*exc)


FIRST, SECOND = (100, 60, 200, 150), (350, 200, 200, 150)
times = {}


def test_growing(page, other):
    """As far as it was when it was opened; a tab is a page as well."""
    films.start(name="grows", cursor=False)
    with Shown(*FIRST) as first:
        times["first"] = first.at
        for kind, before in ("tab", ""), ("page", other):
            page.open(before + url_of("grows"))
            ready(page)
            play_to_end(page)
            until_seen(page, f"film-grows-{kind}", *FIRST)
    assert films.model("grows")["state"] == "recording"


def test_finished(page, other):
    with Shown(*SECOND) as second:
        times["second"] = second.at
    ended = films.stop(name="grows")
    for kind, before in ("tab", ""), ("page", other):
        page.open(before + url_of("grows"))
        ready(page)
        length = page.eval(f"{VIDEO}.duration")
        assert abs(length * 1000 - ended["duration_ms"]) < 500, (length, ended)
        page.eval(f"{VIDEO}.pause()")
        for name, there, not_there in (
            ("second", SECOND, FIRST),
            ("first", FIRST, SECOND),
        ):
            seek(page, times[name])
            im = until_seen(page, f"film-{kind}-{name}", *there)
            assert not has_square(im, *not_there), (kind, name)
    play_to_end(page)


# Larger, odd, smaller and back: a screen's size, and a square in its corner.
SIZES = [
    ((960, 640), (720, 448, 200, 150)),
    ((801, 599), (560, 400, 200, 150)),
    ((480, 320), (256, 144, 200, 150)),
    ((640, 480), (400, 304, 200, 150)),
]
NOTE_SIZES = (
    "window.sizes = [];"
    f"{VIDEO}.onresize = () => sizes.push([{VIDEO}.videoWidth, {VIDEO}.videoHeight])"
)


def check_shown(page, name, size, square):
    even = (size[0] & ~1, size[1] & ~1)
    page.until(f"{VIDEO}.videoWidth == {even[0]} && {VIDEO}.videoHeight == {even[1]}")
    until_seen(page, name, *square, size=even)


def test_resized_growing(page, other):
    """Each size of the screen is shown as it is, while the film grows."""
    films.start(name="sizes", cursor=False)
    with Shown(*FIRST) as first:
        times["sizes"] = [first.at]
    for size, square in SIZES:
        desk.resize(*size)
        with Shown(*square) as shown:
            times["sizes"].append(shown.at)
            page.open(other + url_of("sizes"))
            ready(page)
            play_to_end(page)
            check_shown(page, f"film-sizes-growing-{size[0]}", size, square)


def test_resized(page, other):
    """And of the whole film, played to its end and skipped in."""
    films.stop(name="sizes")
    for kind, before in ("tab", ""), ("page", other):
        page.open(before + url_of("sizes"))
        ready(page)
        page.eval(f"{VIDEO}.pause(); {NOTE_SIZES}")
        length = page.eval(f"{VIDEO}.duration")
        assert abs(play_to_end(page) - length) < 0.1
        if kind == "page":
            shown = [[w & ~1, h & ~1] for (w, h), _ in SIZES]
            assert page.eval("sizes") == shown, page.eval("sizes")
            skip_sizes(page)


def skip_sizes(page):
    """Back and forth, so that none can live on what was played before it."""
    all_sizes = [((desk.width, desk.height), FIRST), *SIZES]
    for i in 4, 0, 3, 1, 2, 0, 4:
        seek(page, times["sizes"][i])
        check_shown(page, f"film-sizes-{i}", *all_sizes[i])


def skip(page, at):
    """To what has not been fetched yet."""
    seek(page, at)
    assert page.eval(f"{VIDEO}.error") is None
    until_seen(page, "film-long", *SECOND)
    firsts = [int(r.split()[1].split("-")[0]) for r in page.ranges]
    assert 0 in firsts and max(firsts) > 8 << 20, page.ranges


def test_long(page, other):
    """Of a film that is too large to be fetched at once, what is asked for."""
    films.start(name="long", cursor=False)
    films.fill("long", 16 << 20)
    with Shown(*SECOND) as second:
        at = second.at
    page.ranges.clear()
    page.open(other + url_of("long"))
    ready(page)
    with Shown(*FIRST):
        pass  # so that it is longer than when it was opened
    skip(page, at)
    films.stop(name="long")
    page.ranges.clear()
    page.open(other + url_of("long"))
    ready(page)
    skip(page, at)


def test_ticket(page, other):
    """One that is good once shows a tab nothing: that is what reusable is for."""
    path = "/v1/screen/recordings/grows/download"
    once = path + "?ticket=" + ticket(path)
    assert [films.plain(once) for _ in range(2)] == [200, 401]
    again = path + "?ticket=" + ticket(path, reusable=True)
    assert [films.plain(again) for _ in range(3)] == [200, 200, 200]
    assert films.plain(again.replace("grows", "long")) == 401
    status, _, data = desk.ask("POST", "/v1/tickets", {"reusable": True})
    assert status == 400 and b"path" in data, (status, data)


if __name__ == "__main__":
    browser = Browser(folder, (1100, 900))
    try:
        other = serve_pages()
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test(browser.page, other)
                print("ok", name, flush=True)
    finally:
        browser.close()
