# SPDX-License-Identifier: Apache-2.0
"""The desktop of a guestd, for tests that look at it."""
import http.client
import json
import os
import select
import subprocess
import time

DEADLINE = 60


def wait_until(fn):
    end = time.monotonic() + DEADLINE
    while True:
        result = fn()
        if result:
            return result
        assert time.monotonic() < end, fn
        time.sleep(0.05)


class Draw:
    """x-draw, while it shows something."""

    def __init__(self, env, *args):
        self.p = subprocess.Popen(
            ["./x-draw", *map(str, args)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert select.select([self.p.stdout], [], [], DEADLINE)[0], "not drawn"
        line = self.p.stdout.readline()
        assert line == b"drawn\n", line

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait(DEADLINE)


class Events:
    """x-events, and what it has printed."""

    def __init__(self, env, *place):
        self.p = subprocess.Popen(
            ["./x-events", *map(str, place)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.until("ready")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait()

    def line(self, *what):
        data = b""
        while not data.endswith(b"\n"):
            ready = select.select([self.p.stdout], [], [], DEADLINE)[0]
            more = os.read(self.p.stdout.fileno(), 1) if ready else b""
            assert more, what
            data += more
        return data.decode().strip()

    def until(self, last):
        lines = []
        while not lines or lines[-1] != last:
            lines.append(self.line(lines, last))
        return lines


class Desktop:
    def __init__(self, port, run_dir, token=None):
        self.port = port
        self.auth = {"Authorization": f"Bearer {token}"} if token else {}
        info = self.get_json("/v1/screen/info")
        self.width, self.height = info["width"], info["height"]
        self.env = {
            **os.environ,
            "DISPLAY": info["display"],
            "XAUTHORITY": run_dir + "/desktop/Xauthority",
        }

    def ask(self, method, path, body=None, headers=None, deadline=DEADLINE):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=deadline)
        text = None if body is None else json.dumps(body)
        c.request(method, path, text, {**self.auth, **(headers or {})})
        r = c.getresponse()
        data = r.read()
        c.close()
        return r.status, r, data

    def begin(self, method, path, body):
        """A request whose answer is not waited for."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        text = None if body is None else json.dumps(body)
        c.request(method, path, text, self.auth)
        return c

    def get_json(self, path, status=200):
        got, _, data = self.ask("GET", path)
        assert got == status, (path, got, data)
        return json.loads(data)

    def resize(self, width, height):
        size = {"width": width, "height": height}
        status, _, data = self.ask("PUT", "/v1/screen/resolution", size)
        assert status == 200, (status, data)

    def draw(self, *args):
        return Draw(self.env, *args)

    def xclip(self, *args, data=None, selection="clipboard"):
        return subprocess.run(
            ["xclip", "-selection", selection, *args],
            env=self.env,
            input=data,
            stdout=None if data else subprocess.PIPE,
            check=True,
            timeout=DEADLINE,
        ).stdout
