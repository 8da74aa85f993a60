# SPDX-License-Identifier: Apache-2.0
"""Where bench-desktop measures: a guestd, here or in a guest, by its API alone."""
import http.client
import json
import os
import statistics
import time
from urllib.parse import quote, urlparse

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "desktop_agent.py")
PATIENCE = 600


class Place:
    """With peers: the programs that others use exist, and share our files."""

    def __init__(self, url, token, folder, peers):
        self.url, self.folder, self.peers = urlparse(url), folder, peers
        self.head = {"Authorization": "Bearer " + token} if token else {}
        self.kept = self.connect()
        with open(AGENT, "rb") as f:
            self.agent = self.path("agent.py")
            self.put(self.agent, f.read())

    def path(self, name):
        """A file that is beside the screen."""
        return os.path.join(self.folder if self.peers else "/tmp", name)

    def goal(self, value):
        """Goals are for what runs natively."""
        return value if self.peers else None

    def connect(self):
        return http.client.HTTPConnection(
            self.url.hostname, self.url.port, timeout=PATIENCE
        )

    def ask(self, method, path, body=None, head=None, connection=None):
        c = connection or self.kept
        c.request(method, path, body, {**self.head, **(head or {})})
        r = c.getresponse()
        data = r.read()
        if r.status >= 400:
            raise SystemExit("%s %s: %s" % (method, path, data.decode()))
        return r, data

    def json(self, method, path, body=None):
        """On a connection of its own, for threads."""
        text = None if body is None else json.dumps(body)
        c = self.connect()
        data = self.ask(method, path, text, None, c)[1]
        c.close()
        return json.loads(data) if data else None

    def put(self, path, data):
        self.ask("PUT", "/v1/file?path=" + quote(path), data)

    def do(self, task, **more):
        """What desktop_agent.py finds."""
        argv = ["/usr/bin/python3", self.agent, json.dumps({"do": task, **more})]
        got = self.json(
            "POST", "/v1/shell/exec", {"argv": argv, "timeout": PATIENCE}
        )
        if got["exit_code"] != 0:
            raise SystemExit("desktop_agent.py %s: %s" % (task, got["stderr"]))
        return json.loads(got["stdout"])

    def resize(self, width, height):
        self.json("PUT", "/v1/screen/resolution", {"width": width, "height": height})

    def wait_window(self, title):
        """Until the window of this title has the focus."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for w in self.json("GET", "/v1/screen/windows")["windows"]:
                if w["title"] == title and w["focused"]:
                    return
            time.sleep(0.05)
        raise SystemExit("no window '%s'" % title)


def verdict(value, goal, least=False):
    if goal is None:
        return ""
    met = value >= goal if least else value <= goal
    return "%s%g %s" % ("≥" if least else "≤", goal, "met" if met else "MISSED")


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def middle(rounds, key):
    return statistics.median(key(r) for r in rounds)


def table(title, columns, rows):
    print("\n" + title)
    rows = [[c if isinstance(c, str) else "%.2f" % c for c in r] for r in rows]
    wide = [max(len(r[i]) for r in [columns] + rows) for i in range(len(columns))]
    for k, row in enumerate([columns] + rows):
        cells = [row[0].ljust(wide[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], wide[1:])]
        print("| " + " | ".join(cells) + " |")
        if k == 0:
            print("|" + "|".join("-" * (w + 2) for w in wide) + "|")
