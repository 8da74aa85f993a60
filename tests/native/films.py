# SPDX-License-Identifier: Apache-2.0
"""Films of a guestd's desktop, made and taken apart by tests."""
import http.client
import json
import os
import subprocess

from desktop import DEADLINE, wait_until

BLUE = (0x20, 0x40, 0xC0)
SIDE = 64


def is_close(a, b, by=12):
    return all(abs(x - y) <= by for x, y in zip(a, b))


class Picture:
    """One of a film: its RGB, and when and for how long it is seen."""

    def __init__(self, frame, end, data):
        self.width, self.height = self.size = frame["width"], frame["height"]
        self.seconds = float(frame["pts_time"])
        self.lasts = end - self.seconds
        self.data = data

    def getpixel(self, at):
        x, y = at
        assert 0 <= x < self.width and 0 <= y < self.height, (x, y, self.size)
        at = (y * self.width + x) * 3
        return tuple(self.data[at : at + 3])


def frames_of(path):
    """What ffprobe says of a film."""
    wanted = "frame=width,height,pts_time:stream=codec_name,pix_fmt:format=duration"
    return subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-of", "json"]
        + ["-show_entries", wanted, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=DEADLINE,
    )


def decode(path):
    """Each picture in its own size, one after the other."""
    return subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-autoscale", "0"]
        + ["-fps_mode", "passthrough", "-enc_time_base", "1:1000"]
        + ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=DEADLINE,
    )


def split(found, raw):
    """The pictures that ffprobe has found, and how much is left of the bytes."""
    frames, at, pictures = found.get("frames", []), 0, []
    ends = [float(f["pts_time"]) for f in frames[1:]]
    for f, end in zip(frames, ends + [float(found["format"]["duration"])]):
        size = f["width"] * f["height"] * 3
        pictures.append(Picture(f, end, raw[at : at + size]))
        at += size
    return pictures, len(raw) - at


def changes(pictures):
    """Each size that a film had, one after the other."""
    sizes = [p.size for p in pictures]
    return [s for i, s in enumerate(sizes) if i == 0 or s != sizes[i - 1]]


class Films:
    def __init__(self, desk, home):
        self.desk, self.home = desk, home
        self.width, self.height = desk.width, desk.height

    def post(self, path, body=None, status=200):
        got, _, data = self.desk.ask("POST", path, body or {})
        assert got == status, (path, body, got, data)
        return json.loads(data)

    def start(self, **params):
        started = self.post("/v1/screen/record/start", params)
        assert started["state"] == "recording", started
        return started

    def stop(self, **params):
        return self.post("/v1/screen/record/stop", params)

    def running(self):
        return self.desk.get_json("/v1/screen/record/status")["running"]

    def model(self, name):
        return self.desk.get_json(f"/v1/screen/recordings/{name}")

    def download(self, name=None):
        path = "/v1/screen/record/download"
        if name:
            path = f"/v1/screen/recordings/{name}/download"
        status, r, data = self.desk.ask("GET", path)
        assert status == 200 and r.headers["Content-Type"] == "video/mp4", status
        return data

    def plain(self, path):
        """The status that somebody without a token gets."""
        c = http.client.HTTPConnection("127.0.0.1", self.desk.port, timeout=DEADLINE)
        c.request("GET", path)
        status = c.getresponse().status
        c.close()
        return status

    def delete(self, name):
        assert self.desk.ask("DELETE", f"/v1/screen/recordings/{name}")[0] == 204

    def until(self, test):
        """Until the film that is being made has such a picture: that one."""
        name, size = self.running()[0]["name"], 0

        def look():
            nonlocal size
            data = self.download(name)
            if len(data) == size:
                return None
            size = len(data)
            return next(filter(test, self.readable(data)), None)

        return wait_until(look)

    def show_all(self, places):
        """Show a square at each place until the film has it."""
        for x, y in places:
            with self.desk.draw("blue", x, y, SIDE, SIDE):
                self.until(lambda p: self.shows(p, x, y))

    def fill(self, name, size):
        """Pictures that cannot be compressed, until the film is that large."""
        with self.desk.draw("snow", 0, 0, self.width, self.height):
            wait_until(lambda: self.model(name)["bytes"] >= size)

    def keep(self, data):
        path = os.path.join(self.home, "film.mp4")
        with open(path, "wb") as f:
            f.write(data)
        return path

    def pictures(self, data):
        """Every picture of a film, and the film's length."""
        path = self.keep(data)
        probe, done = frames_of(path), decode(path)
        for p in probe, done:
            assert (p.returncode, p.stderr) == (0, b""), p.stderr
        found = json.loads(probe.stdout)
        stream = found["streams"][0]
        assert (stream["codec_name"], stream["pix_fmt"]) == ("h264", "yuv420p"), stream
        pictures, rest = split(found, done.stdout)
        assert pictures and rest == 0, (len(pictures), rest)
        assert pictures[0].size == (self.width, self.height), pictures[0].size
        return pictures, float(found["format"]["duration"])

    def readable(self, data):
        """The pictures of a film that is being written just now."""
        path = self.keep(data)
        found = json.loads(frames_of(path).stdout or "{}")
        if "duration" not in found.get("format", {}):
            return []
        pictures, rest = split(found, decode(path).stdout)
        return pictures if rest == 0 else []

    def shows(self, picture, x, y, side=SIDE):
        """Whether there is a blue square, with sharp edges, at this place."""
        if max(x + side - picture.width, y + side - picture.height) >= -5:
            return False
        far = side - 5
        inside = [(4, 4), (far, 4), (4, far), (far, far)]
        outside = [(-5, 5), (side + 4, 5), (5, -5), (5, side + 4)]
        is_blue = lambda at: is_close(picture.getpixel((x + at[0], y + at[1])), BLUE)
        return all(map(is_blue, inside)) and not any(map(is_blue, outside))

    def recorder_pid(self):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"sandbox-recorder") and (
                self.home.encode() in words[-2]
            ):
                return int(pid)
        raise AssertionError("no recorder runs")
