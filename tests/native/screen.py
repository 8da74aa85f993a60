# SPDX-License-Identifier: Apache-2.0
"""Screenshots, compared pixel by pixel.  Usage: screen.py PORT PID RUN-DIR"""
import base64
import concurrent.futures
import io
import json
import os
import signal
import sys

from PIL import Image, ImageChops

from desktop import DEADLINE, Desktop, wait_until

port, guestd_pid, run_dir = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
desk = Desktop(port, run_dir)
ask, get_json, Draw = desk.ask, desk.get_json, desk.draw


def shot(query="", headers=None):
    status, r, data = ask("GET", "/v1/screen/screenshot?" + query, None, headers)
    assert status == 200, (query, status, data)
    return Image.open(io.BytesIO(data)).convert("RGB"), r


info = get_json("/v1/screen/info")
WIDTH, HEIGHT = info["width"], info["height"]


def noise(x, y):
    v = (x * 2654435761 ^ y * 2246822519) & 0xFFFFFFFF
    v ^= v >> 15
    v = v * 2246822519 & 0xFFFFFFFF
    v ^= v >> 13
    return (v >> 16 & 255, v >> 8 & 255, v & 255)


def slope(x, y):
    return (x // 4 & 255, y // 4 & 255, 128)


def picture(fn):
    im = Image.new("RGB", (WIDTH, HEIGHT))
    im.putdata([fn(x, y) for y in range(HEIGHT) for x in range(WIDTH)])
    return im


def distance(a, b):
    """The mean and the largest difference of two pictures."""
    assert a.size == b.size, (a.size, b.size)
    diff = ImageChops.difference(a, b).tobytes()
    return sum(diff) / len(diff), max(diff)


def box(im, width, height):
    return im.resize((width, height), Image.BOX)


NOISE, SLOPE = picture(noise), picture(slope)


def test_png():
    with Draw("noise", 0, 0, WIDTH, HEIGHT):
        im, r = shot()
        assert r.getheader("Content-Type") == "image/png"
        assert r.getheader("X-Screen-Width") == str(WIDTH)
        assert r.getheader("X-Screen-Height") == str(HEIGHT)
        assert r.getheader("X-Screen-Scale") == "1"
        assert distance(im, NOISE) == (0, 0)
        for x, y, w, h in (
            (0, 0, 1, 1),
            (17, 23, 101, 33),
            (WIDTH - 3, HEIGHT - 5, 3, 5),
        ):
            im, r = shot(f"region={x},{y},{w},{h}")
            assert distance(im, NOISE.crop((x, y, x + w, y + h))) == (0, 0)
            assert r.getheader("X-Screen-Region") == f"{x},{y},{w},{h}"
        for alias in ("/screenshot", "/screen/screenshot"):
            status, _, data = ask("GET", alias)
            im = Image.open(io.BytesIO(data)).convert("RGB")
            assert status == 200 and distance(im, NOISE) == (0, 0)


def test_scale():
    with Draw("noise", 0, 0, WIDTH, HEIGHT):
        half = box(NOISE, WIDTH // 2, HEIGHT // 2)
        im, r = shot("scale=0.5")
        assert distance(im, half)[1] <= 1, distance(im, half)
        assert r.getheader("X-Screen-Scale") == "0.5"
        im, _ = shot(f"max_width={WIDTH // 2}")
        assert distance(im, half)[1] <= 1
        im, _ = shot(f"max_height={HEIGHT // 2}&max_width=5000")
        assert distance(im, half)[1] <= 1
        im, _ = shot("region=10,20,30,40&scale=2")
        part = NOISE.crop((10, 20, 40, 60)).resize((60, 80), Image.NEAREST)
        assert distance(im, part) == (0, 0)
        im, _ = shot("scale=0.3")
        assert im.size == (round(WIDTH * 0.3), round(HEIGHT * 0.3))
        im, _ = shot("region=0,0,9,1&max_height=1&scale=0.01")
        assert im.size == (1, 1)


def test_lossy():
    with Draw("slope", 0, 0, WIDTH, HEIGHT):
        for query, kind in (
            ("format=jpeg", "image/jpeg"),
            ("format=jpg&quality=95", "image/jpeg"),
            ("format=webp", "image/webp"),
        ):
            im, r = shot(query)
            assert r.getheader("Content-Type") == kind
            mean, most = distance(im, SLOPE)
            assert mean < 3 and most < 24, (query, mean, most)
        im, r = shot("format=ppm&quality=1")
        assert r.getheader("Content-Type") == "image/x-portable-pixmap"
        assert distance(im, SLOPE) == (0, 0)
        assert ask("GET", "/screenshot?format=ppm")[2][:3] == b"P6\n"
        sizes = [
            len(ask("GET", f"/screenshot?format=jpeg&quality={q}")[2])
            for q in (10, 98)
        ]
        assert sizes[0] < sizes[1], sizes


def test_cursor():
    with Draw("noise", 0, 0, WIDTH, HEIGHT, 100, 50):
        want = NOISE.copy()
        want.paste((255, 0, 0), (100, 50, 108, 58))
        im, _ = shot("cursor=true")
        assert distance(im, want) == (0, 0)
        im, _ = shot("cursor=1&region=104,54,20,20")
        assert distance(im, want.crop((104, 54, 124, 74))) == (0, 0)
        im, _ = shot("cursor=false")
        assert distance(im, NOISE) == (0, 0)
        assert get_json("/v1/screen/info")["cursor"] == {"x": 100, "y": 50}


def test_etag():
    with Draw("noise", 0, 0, WIDTH, HEIGHT, 300, 300):
        tag = shot()[1].getheader("ETag")
        again = {"If-None-Match": tag}
        status, r, data = ask("GET", "/screenshot", None, again)
        assert (status, data) == (304, b""), status
        assert r.getheader("ETag") == tag
        # Another file of the same pixels is another file.
        status, _, _ = ask("GET", "/screenshot?format=jpeg", None, again)
        assert status == 200, status
        status, _, _ = ask("GET", "/screenshot?cursor=1", None, again)
        assert status == 200, status
        with Draw("blue", 5, 5, 1, 1):
            status, r, _ = ask("GET", "/screenshot", None, again)
            assert status == 200 and r.getheader("ETag") != tag


def test_json():
    with Draw("noise", 0, 0, WIDTH, HEIGHT):
        for path, headers in (
            ("/screenshot?encoding=base64", {}),
            ("/screenshot", {"Accept": "application/json"}),
        ):
            status, _, data = ask("GET", path, None, headers)
            j = json.loads(data)
            assert status == 200 and j["media_type"] == "image/png", j
            assert (j["width"], j["screen_height"]) == (WIDTH, HEIGHT)
            im = Image.open(io.BytesIO(base64.b64decode(j["data"])))
            assert distance(im.convert("RGB"), NOISE) == (0, 0)


def test_bad():
    for query, word in (
        ("format=gif", "png"),
        ("format=png%00", "NUL"),
        ("region=1,2,3", "region"),
        ("region=1,2,3,4,5", "four"),
        ("region=-1,0,10,10", "region"),
        ("region=0,0,0,10", "region"),
        (f"region=0,0,{WIDTH + 1},10", "not on the screen"),
        (f"region={WIDTH},0,1,1", "not on the screen"),
        ("region=16383,16383,16383,16383", "not on the screen"),
        ("scale=0", "scale"),
        ("scale=nan", "scale"),
        ("scale=-1", "scale"),
        ("scale=1e3", "scale"),
        ("scale=9", "scale"),
        ("quality=0&format=jpeg", "quality"),
        ("max_width=0", "max_width"),
        ("encoding=hex", "encoding"),
        ("colour=red", "colour"),
    ):
        status, r, data = ask("GET", "/screenshot?" + query)
        assert status == 400, (query, status, data)
        assert r.getheader("Content-Type") == "application/problem+json"
        assert word in json.loads(data)["detail"], (query, data)


def test_resolution():
    for width, height in ((800, 600), (777, 555), (WIDTH, HEIGHT)):
        status, _, data = ask(
            "PUT", "/v1/screen/resolution", {"width": width, "height": height}
        )
        j = json.loads(data)
        assert status == 200 and j["width"] == width, (status, j)
        im, r = shot()
        assert im.size == (width, height), im.size
        with Draw("noise", 0, 0, width, height):
            im, _ = shot(f"region={width - 1},{height - 1},1,1")
            assert im.getpixel((0, 0)) == noise(width - 1, height - 1)
    for body in ({"width": 10, "height": 10}, {"width": 640}, {"size": "1x1"}):
        status, _, data = ask("PUT", "/v1/screen/resolution", body)
        assert status == 400, (status, data)


def windows(title):
    return [w for w in get_json("/v1/screen/windows")["windows"]
            if w["title"] == title]


def act(window, what):
    return ask("POST", f"/v1/screen/windows/{window}/{what}", {})[0]


def test_windows():
    with Draw("window", "first ü") as first, Draw("window", "second"):
        wait_until(lambda: windows("first ü") and windows("second"))
        one, two = windows("first ü")[0], windows("second")[0]
        assert one["width"] == 200 and one["visible"], one
        for w in (one, two):
            assert act(w["id"], "focus") == 204
            wait_until(lambda: windows(w["title"])[0]["focused"])
        assert act(one["id"], "close") == 204
        assert first.p.wait(DEADLINE) == 0
        wait_until(lambda: not windows("first ü"))
        assert act(one["id"], "close") == 404
        assert act(two["id"], "close") == 204
    for bad in ("x", "0", "0x1g", "-1", "99999999999"):
        assert act(bad, "focus") == 400, bad


def test_many():
    queries = ["", "format=jpeg", "scale=0.5", "region=1,1,50,50", "cursor=1"]
    with Draw("noise", 0, 0, WIDTH, HEIGHT):
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            got = list(pool.map(shot, (queries * 10)[:50]))
        assert len(got) == 50
        for (im, _), query in zip(got, queries * 10):
            if not query:
                assert distance(im, NOISE) == (0, 0)


def count_fds():
    return len(os.listdir(f"/proc/{guestd_pid}/fd"))


def memory_kb():
    with open(f"/proc/{guestd_pid}/smaps_rollup") as f:
        for line in f:
            if line.startswith("Pss_Anon:"):
                return int(line.split()[1])
    return 0


def server_pid():
    with open(run_dir + "/desktop.json") as f:
        return json.load(f)["server"]["pid"]


def is_dead(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def ask_meanwhile(pid):
    """A picture of a server that is no more: guestd, stopped until it is asked,
    can have no other."""
    os.kill(guestd_pid, signal.SIGSTOP)
    try:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: is_dead(pid))
        c = desk.begin("GET", "/screenshot", None)
    finally:
        os.kill(guestd_pid, signal.SIGCONT)
    r = c.getresponse()
    data = r.read()
    c.close()
    return r, data


def is_refused(r, data):
    kind = r.getheader("Content-Type")
    assert (r.status, kind) == (503, "application/problem+json"), data
    assert json.loads(data)["detail"], data


def kill_server():
    """503 with a reason meanwhile, then a picture again, on the same display."""
    pid = server_pid()
    is_refused(*ask_meanwhile(pid))

    def back():
        status, r, data = ask("GET", "/screenshot")
        if status != 200:
            is_refused(r, data)
        return status == 200

    wait_until(back)
    assert server_pid() != pid
    assert get_json("/v1/screen/info")["display"] == info["display"]


def test_killed():
    """The next one has the size that was set last."""
    desk.resize(800, 600)
    kill_server()
    assert shot()[0].size == (800, 600), shot()[0].size
    desk.resize(WIDTH, HEIGHT)
    kill_server()
    with Draw("noise", 0, 0, WIDTH, HEIGHT):
        assert distance(shot()[0], NOISE) == (0, 0)


def test_leaks():
    for _ in range(20):
        shot()
    fds, kb = count_fds(), memory_kb()
    for _ in range(3):
        kill_server()
    for i in range(300):
        ask("GET", "/screenshot?" + ("format=jpeg", "scale=0.7", "x=1")[i % 3])
    wait_until(lambda: count_fds() <= fds)
    if "asan" not in sys.argv:  # which frees late
        assert memory_kb() < kb + 4096, (kb, memory_kb())


def test_environment():
    body = {"command": 'echo "$DISPLAY"; test -r "$XAUTHORITY"'}
    status, _, data = ask("POST", "/v1/shell/exec", body)
    j = json.loads(data)
    assert j["stdout"] == info["display"] + "\n" and j["exit_code"] == 0, j


for name, fn in list(globals().items()):
    if name.startswith("test_"):
        print(name, flush=True)
        fn()
