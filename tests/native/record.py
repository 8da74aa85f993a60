# SPDX-License-Identifier: Apache-2.0
"""Films of the screen, looked at picture by picture.

Usage: record.py PORT RUN-DIR HOME"""
import json
import os
import signal
import sys

from desktop import Desktop, wait_until
from films import SIDE, Films, changes, is_close

desk = Desktop(int(sys.argv[1]), sys.argv[2])
home = sys.argv[3]
films = Films(desk, home)
WIDTH, HEIGHT = desk.width, desk.height
post, running, download = films.post, films.running, films.download
show_all, shows, film_of = films.show_all, films.shows, films.pictures


def test_film():
    places = [(20, 20), (200, 40), (301, 203), (100, 250)]
    started = post("/v1/screen/record/start", {"name": "one", "cursor": False})
    assert started["state"] == "recording" and started["width"] == WIDTH
    show_all(places)
    live, _ = film_of(download())
    assert any(shows(p, *places[0]) for p in live), "not in the growing film"
    ended = post("/v1/screen/record/stop")
    assert ended["state"] == "complete" and ended["reason"] == "stopped", ended
    pictures, seconds = film_of(download("one"))
    at = [next(i for i, p in enumerate(pictures) if shows(p, *q)) for q in places]
    assert at == sorted(at), at
    # Players take the last picture for as long as one is at full speed.
    assert abs(seconds * 1000 - ended["duration_ms"]) < 40, (seconds, ended)
    assert len(pictures) < seconds * 30, "a still screen costs pictures"
    assert desk.get_json("/v1/screen/recordings/one")["bytes"] == ended["bytes"]


def mode(path):
    return os.stat(path).st_mode & 0o777


def test_private():
    """Other users of the sandbox do not see what was on the screen."""
    folder = os.path.join(home, "recordings")
    films.start(name="mine", cursor=False)
    assert (mode(folder), mode(folder + "/mine.mp4")) == (0o700, 0o600)
    films.stop(name="mine")
    for name in "mine.mp4", ".mine.json":
        assert mode(os.path.join(folder, name)) == 0o600, name
    films.delete("mine")


def test_led_astray():
    """guestd writes nothing through a link that the user has made."""
    folder, other = (os.path.join(home, x) for x in ("recordings", "other"))
    films.start(name="astray", cursor=False)
    os.rename(folder, other)
    os.symlink(other, folder)
    ended = films.stop(name="astray")
    assert ended["reason"] == "stopped", ended
    listed = set(os.listdir(other))
    assert films.model("astray")["reason"] == "stopped"
    os.unlink(folder)
    os.rename(other, folder)
    assert "astray.mp4" in listed and ".astray.json" not in listed, listed
    films.delete("astray")


def test_length():
    """A film is as long as it is, and not longer by the recorder's start."""
    films.start(name="brief")
    seen = films.model("brief")["duration_ms"]
    ended = films.stop(name="brief")
    assert 0 <= seen <= ended["duration_ms"], (seen, ended)
    assert films.model("brief")["started_at"] == ended["started_at"]


def test_last_picture():
    """The last one before all is still gets into the growing film, too."""
    films.start(name="still", cursor=False)
    recorder = films.recorder_pid()
    os.kill(recorder, signal.SIGSTOP)
    with desk.draw("blue", 20, 20, SIDE, SIDE):
        # It comes back to one change, when it is time to write.
        wait_until(lambda: films.model("still")["duration_ms"] > 2000)
        os.kill(recorder, signal.SIGCONT)
        films.until(lambda p: shows(p, 20, 20))
    films.stop(name="still")
    films.delete("still")


def test_ranges():
    data = download("one")
    path = "/v1/screen/recordings/one/download"
    size = len(data)
    status, r, part = desk.ask("GET", path)
    assert r.headers["Accept-Ranges"] == "bytes", r.headers
    assert r.headers["Content-Disposition"] == 'inline; filename="one.mp4"', r.headers
    tag = r.headers["ETag"]
    assert desk.ask("GET", path, None, {"If-None-Match": tag})[0] == 304
    for asked, first, end in (
        ("10-109", 10, 110),
        ("0-", 0, size),
        ("0-0", 0, 1),
        (f"{size - 1}-", size - 1, size),
        (f"{size - 7}-{size + 99}", size - 7, size),
        ("-5", size - 5, size),
        (f"-{size + 1}", 0, size),
    ):
        for more in {}, {"If-Range": tag}:
            status, r, part = desk.ask(
                "GET", path, None, {"Range": "bytes=" + asked, **more}
            )
            assert status == 206 and part == data[first:end], (asked, status)
            where = f"bytes {first}-{end - 1}/{size}"
            assert r.headers["Content-Range"] == where, (asked, r.headers)
            assert r.headers["ETag"] == tag, (asked, r.headers)
    for asked in f"{size}-", f"{size}-{size + 9}", "-0", "99999999999999999999-":
        status, r, part = desk.ask("GET", path, None, {"Range": "bytes=" + asked})
        assert (status, part) == (416, b""), (asked, status)
        assert r.headers["Content-Range"] == f"bytes */{size}", (asked, r.headers)
    # What is no range of bytes is none, and neither is one of another film.
    for headers in (
        {"Range": "bytes=9-3"},
        {"Range": "bytes=-"},
        {"Range": "bytes=x-9"},
        {"Range": "pictures=1-2"},
        {"Range": "bytes=10-109", "If-Range": '"another"'},
    ):
        status, r, part = desk.ask("GET", path, None, headers)
        assert (status, part) == (200, data), (headers, status)
    # In one piece, with its index before its pictures.
    assert 0 < data.index(b"moov") < data.index(b"mdat")
    assert b"moof" not in data


def test_pointer():
    """The pointer shows, also when nothing but it moves."""
    red = lambda p, x, y: is_close(p.getpixel((x, y)), (255, 0, 0), 90)
    at = lambda p: (red(p, 152, 152), red(p, 252, 232))
    with desk.draw("blue", 100, 100, 200, 200, 150, 150):
        films.start(name="pointer")
        films.until(lambda p: at(p) == (True, False))
        with desk.draw("blue", 100, 100, 200, 200, 250, 230):
            films.until(lambda p: at(p) == (False, True))
        films.stop(name="pointer")
    places = [at(p) for p in film_of(download("pointer"))[0]]
    assert (True, False) in places and (False, True) in places, places


def test_killed():
    """A recorder that is killed leaves what it had written."""
    post("/v1/screen/record/start", {"name": "killed"})
    show_all([(20, 20), (120, 120)])
    os.kill(films.recorder_pid(), signal.SIGKILL)
    wait_until(lambda: not running())
    model = desk.get_json("/v1/screen/recordings/killed")
    assert "signal 9" in model["error"], model
    pictures, _ = film_of(download("killed"))
    assert any(shows(p, 20, 20) for p in pictures)


def test_killed_joining():
    """One that is killed while it makes the film whole leaves no half of it."""
    films.start(name="halved", cursor=False)
    show_all([(20, 20)])
    folder = os.path.join(home, "recordings")
    # It waits for who would read this.
    os.mkfifo(os.path.join(folder, "halved.mp4.part"))
    # Who does not wait for it takes nothing away.
    desk.begin("POST", "/v1/screen/record/stop", {"name": "halved"}).close()
    waiting = desk.begin("POST", "/v1/screen/record/stop", {"name": "halved"})
    wait_until(lambda: "reason" in films.model("halved"))
    os.kill(films.recorder_pid(), signal.SIGKILL)
    assert waiting.getresponse().status == 500
    waiting.close()
    assert {f for f in os.listdir(folder) if "halved" in f} == {
        "halved.mp4",
        ".halved.json",
    }
    pictures, _ = film_of(download("halved"))
    assert any(shows(p, 20, 20) for p in pictures)
    # And of one that ran on while guestd was started again.
    with open(os.path.join(folder, "halved.mp4.part"), "w"):
        films.delete("halved")
    assert not [f for f in os.listdir(folder) if "halved" in f]


def test_limits():
    post("/v1/screen/record/start", {"name": "short", "max_seconds": 1})
    wait_until(lambda: not running())
    assert desk.get_json("/v1/screen/recordings/short")["reason"] == "time"
    post("/v1/screen/record/start", {"name": "small", "max_bytes": 1})
    wait_until(lambda: not running())
    assert desk.get_json("/v1/screen/recordings/small")["reason"] == "size"
    film_of(download("small"))


def test_resize():
    """With another resolution the film goes on in that one, pixel by pixel."""
    films.start(name="sizes", cursor=False)
    places = [(20, 20), (2 * WIDTH - 128, 2 * HEIGHT - 128), (100, 300)]
    show_all(places[:1])
    desk.resize(2 * WIDTH, 2 * HEIGHT)
    show_all(places[1:2])
    desk.resize(WIDTH, HEIGHT)
    show_all(places[2:])
    live, _ = film_of(download("sizes"))
    films.stop(name="sizes")
    pictures, _ = film_of(download("sizes"))
    small, large = (WIDTH, HEIGHT), (2 * WIDTH, 2 * HEIGHT)
    for film in live, pictures:
        assert changes(film) == [small, large, small], changes(film)
        at = [next(i for i, p in enumerate(film) if shows(p, *q)) for q in places]
        assert at == sorted(at), at


def test_errors():
    post("/v1/screen/record/stop", None, 409)
    post("/v1/screen/record/stop", {"name": "nobody"}, 404)
    post("/v1/screen/record/start", {"name": "one"}, 409)
    for name in "../x", ".x", "", "a/b", "x" * 65, "ä":
        post("/v1/screen/record/start", {"name": name}, 400)
    post("/v1/screen/record/start", {"fps": 0}, 400)
    post("/v1/screen/record/start", {"codec": "vp9"}, 400)
    post("/v1/screen/record/start", {"nonsense": 1}, 400)
    names = ["w", "x", "y", "z"]
    for name in names:
        post("/v1/screen/record/start", {"name": name})
    post("/v1/screen/record/start", {"name": "too-many"}, 503)
    assert desk.ask("DELETE", "/v1/screen/recordings/w")[0] == 409
    for name in names:
        post("/v1/screen/record/stop", {"name": name})
    listed = {r["name"] for r in desk.get_json("/v1/screen/recordings")["recordings"]}
    assert {"one", "killed", "w", "z"} <= listed, listed
    for name in listed:
        assert desk.ask("DELETE", f"/v1/screen/recordings/{name}")[0] == 204
    assert desk.ask("DELETE", "/v1/screen/recordings/one")[0] == 404
    assert desk.ask("GET", "/v1/screen/record/download")[0] == 404
    assert os.listdir(os.path.join(home, "recordings")) == []


def test_aliases():
    assert desk.get_json("/record?mode=start")["state"] == "recording"
    assert desk.get_json("/screen/record/status")["recording"]
    assert desk.get_json("/record?mode=stop")["state"] == "complete"
    desk.get_json("/record?mode=stop", 409)
    desk.get_json("/record?mode=other", 400)


def test_display_gone():
    """An X server that is killed ends the film properly."""
    post("/v1/screen/record/start", {"name": "last"})
    show_all([(20, 20)])
    with open(os.path.join(sys.argv[2], "desktop.json")) as f:
        os.kill(json.load(f)["server"]["pid"], signal.SIGKILL)
    wait_until(lambda: not running())
    model = desk.get_json("/v1/screen/recordings/last")
    assert model["reason"] == "display" and "error" not in model, model
    pictures, _ = film_of(download("last"))
    assert any(shows(p, 20, 20) for p in pictures)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name, flush=True)
