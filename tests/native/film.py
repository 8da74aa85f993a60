# SPDX-License-Identifier: Apache-2.0
"""Films for whom it is not easy: clients that do not read, X servers that hang.
Usage: film.py PORT TOKEN RUN-DIR HOME GUESTD-PID [asan]"""
import concurrent.futures
import http.client
import json
import os
import signal
import socket
import subprocess
import sys

from desktop import DEADLINE, Desktop, wait_until
from films import SIDE, Films, changes

port, token, run_dir, home = int(sys.argv[1]), *sys.argv[2:5]
guestd_pid = int(sys.argv[5])
desk = Desktop(port, run_dir, token)
films = Films(desk, home)
MIB = 1 << 20


def status_of(pid, key):
    with open(f"/proc/{pid}/status") as f:
        for line in f:
            if line.startswith(key + ":"):
                return int(line.split()[1])
    raise AssertionError(key)


def server_pid():
    with open(os.path.join(run_dir, "desktop.json")) as f:
        return json.load(f)["server"]["pid"]


def shot():
    return desk.ask("GET", "/screenshot?region=0,0,8,8")


class Slow:
    """A client that has asked for a film, and does not read it."""

    def __init__(self, name):
        path = f"/v1/screen/recordings/{name}/download"
        self.c = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        # Little is to wait in the kernel.
        self.c.sock = socket.socket()
        self.c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        self.c.sock.settimeout(DEADLINE)
        self.c.sock.connect(("127.0.0.1", port))
        self.c.request("GET", path, headers=desk.auth)
        self.r = self.c.getresponse()
        assert self.r.status == 200, self.r.status
        self.length = int(self.r.headers["Content-Length"])

    def rest(self):
        data = self.r.read()
        self.c.close()
        assert len(data) == self.length, (len(data), self.length)
        return data


def test_slow_readers():
    """They cost no memory, hold nobody up, and miss nothing."""
    films.start(name="slow", cursor=False)
    films.fill("slow", 12 * MIB)
    with open(f"/proc/{guestd_pid}/clear_refs", "w") as f:
        f.write("5")
    before = status_of(guestd_pid, "VmRSS")
    readers = [Slow("slow") for _ in range(8)]
    assert all(r.length >= 12 * MIB for r in readers)
    films.fill("slow", 14 * MIB)
    assert desk.get_json("/v1/screen/record/status")["recording"]
    live = films.download("slow")
    assert len(live) > readers[0].length
    grown = status_of(guestd_pid, "VmHWM") - before
    if "asan" not in sys.argv:  # which frees late
        assert grown < 12 * 1024, f"{grown} KiB for clients that do not read"
    print(f"{grown} KiB for {len(readers)} clients that do not read")
    assert films.stop(name="slow")["reason"] == "stopped"
    # The file is another one now; they have begun with the first.
    for r in readers:
        assert r.rest() == live[: r.length]
    films.delete("slow")


def test_reader_leaves():
    """Whoever leaves takes his descriptor with him."""
    films.start(name="left", cursor=False)
    films.fill("left", 6 * MIB)
    fds = lambda: len(os.listdir(f"/proc/{guestd_pid}/fd"))
    before = fds()
    readers = [Slow("left") for _ in range(6)]
    assert fds() > before
    for r in readers:
        r.c.close()
        r.r.close()
    wait_until(lambda: fds() <= before)
    films.stop(name="left")
    films.delete("left")


# Larger, smaller, with pixels that are odd and left out, and the first again.
SIZES = [(801, 599), (320, 200), (640, 480), (1921, 1081), (640, 480)]


def size_at(path, seconds):
    """The size of the picture that a player begins with there."""
    probe = subprocess.run(
        ["ffprobe", "-v", "error", "-read_intervals", f"{seconds}%+#1", "-of"]
        + ["csv=p=0:s=x", "-show_entries", "frame=width,height", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=DEADLINE,
    )
    assert not probe.stderr, probe.stderr
    return tuple(map(int, probe.stdout.decode().split("x")[:2]))


def far_corner(width, height):
    """A place where an encoder's blocks begin, so that the edges are sharp."""
    return (width - 100) & ~15, (height - 100) & ~15


def test_sizes():
    """Through many sizes, in both directions, and from any place on."""
    films.start(name="many", cursor=False)
    films.show_all([(20, 20)])
    for width, height in SIZES:
        desk.resize(width, height)
        films.show_all([far_corner(width, height)])
    ended = films.stop(name="many")
    assert (ended["width"], ended["height"]) == (films.width, films.height), ended
    film, _ = films.pictures(films.download("many"))
    even = [(w & ~1, h & ~1) for w, h in SIZES]
    assert changes(film) == [(films.width, films.height), *even]
    for width, height in SIZES:
        shown = [p for p in film if p.size == (width & ~1, height & ~1)]
        assert any(films.shows(p, *far_corner(width, height)) for p in shown)
    path = films.keep(films.download("many"))
    for p in film[::-1]:
        assert size_at(path, p.seconds) == p.size, p.seconds
    films.delete("many")


def test_resized_at_once():
    """Sizes that are gone before they can be filmed are no trouble."""
    films.start(name="hurry", cursor=False, fps=60)
    # More than there are numbers for their parameters.
    for i in range(40):
        desk.resize(400 + 20 * i, 300 + 10 * i)
    desk.resize(films.width, films.height)
    films.show_all([(100, 300)])
    films.stop(name="hurry")
    film, _ = films.pictures(films.download("hurry"))
    assert film[-1].size == (films.width, films.height), film[-1].size
    films.delete("hurry")


def test_same_name_at_once():
    """One begins, all others are told so."""
    ask = lambda _: desk.ask("POST", "/v1/screen/record/start", {"name": "twin"})
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = list(pool.map(ask, range(8)))
    assert sorted(status for status, _, _ in got) == [200] + 7 * [409], got
    assert films.stop(name="twin")["reason"] == "stopped"
    films.pictures(films.download("twin"))
    films.delete("twin")


def problem(answer, status, *words):
    got, r, data = answer
    assert got == status, (got, data)
    assert r.getheader("Content-Type") == "application/problem+json", data
    for word in words:
        assert word in json.loads(data)["detail"], data
    assert json.loads(data).get("remediation"), data


def ask_stopped():
    """Whatever is wanted of the screen: an answer, and what was filmed."""
    for _ in range(2):
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            for answer in pool.map(lambda _: shot(), range(10)):
                problem(answer, 503, "the X server", "does not answer")
    answer = desk.ask("POST", "/v1/screen/record/start", {"name": "never"})
    problem(answer, 503, "the X server", "does not answer")
    # If the clock of the panel changed just before, it has ended already.
    status, _, data = desk.ask("POST", "/v1/screen/record/stop", {"name": "hangs"})
    assert status in (200, 404), (status, data)
    assert films.model("hangs")["reason"] == ("stopped" if status == 200 else "display")


def test_stopped_server():
    """An X server that hangs holds nobody for long, and may come back."""
    threads = lambda: status_of(guestd_pid, "Threads")
    films.start(name="hangs", cursor=False)
    pid = server_pid()
    with desk.draw("blue", 20, 20, SIDE, SIDE):
        films.until(lambda p: films.shows(p, 20, 20))
        assert shot()[0] == 200
        before = threads()
        os.kill(pid, signal.SIGSTOP)
        try:
            ask_stopped()
            wait_until(lambda: threads() <= before)
        finally:
            os.kill(pid, signal.SIGCONT)
    wait_until(lambda: shot()[0] == 200)
    assert server_pid() == pid, "it was started again"
    desk.get_json("/v1/screen/recordings/never", 404)
    pictures, _ = films.pictures(films.download("hangs"))
    assert any(films.shows(p, 20, 20) for p in pictures)
    films.start(name="again", cursor=False)
    films.show_all([(60, 60)])
    assert films.stop(name="again")["reason"] == "stopped"


def test_hung_while_filming():
    """A recorder that waits for the server's answer ends its film, too."""
    films.start(name="cut", cursor=False)
    films.show_all([(20, 20)])
    recorder, server = films.recorder_pid(), server_pid()
    os.kill(recorder, signal.SIGSTOP)
    try:
        with desk.draw("blue", 200, 200, 100, 100):
            pass  # there is something to ask for
        os.kill(server, signal.SIGSTOP)
        os.kill(recorder, signal.SIGCONT)
        wait_until(lambda: not films.running())
    finally:
        os.kill(server, signal.SIGCONT)
    assert films.model("cut")["reason"] == "display", films.model("cut")
    pictures, _ = films.pictures(films.download("cut"))
    assert any(films.shows(p, 20, 20) for p in pictures)


def test_killed_server():
    """The film ends, as does the wallpaper, without a word; all come back."""
    wallpaper = subprocess.Popen(
        [os.environ["WALLPAPER"]], env=desk.env, stderr=subprocess.PIPE
    )
    films.start(name="killed", cursor=False)
    films.show_all([(20, 20)])
    pid = server_pid()
    os.kill(pid, signal.SIGKILL)
    _, words = wallpaper.communicate(timeout=DEADLINE)
    assert (wallpaper.returncode, words) == (0, b""), (wallpaper.returncode, words)
    wait_until(lambda: not films.running())
    assert films.model("killed")["reason"] == "display"
    wait_until(lambda: desk.get_json("/v1/screen/info")["state"] == "up")
    wait_until(lambda: shot()[0] == 200)
    assert server_pid() != pid
    pictures, _ = films.pictures(films.download("killed"))
    assert any(films.shows(p, 20, 20) for p in pictures)
    films.start(name="next", cursor=False)
    films.show_all([(60, 60)])
    assert films.stop(name="next")["reason"] == "stopped"
    pictures, _ = films.pictures(films.download("next"))
    assert any(films.shows(p, 60, 60) for p in pictures)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name, flush=True)
