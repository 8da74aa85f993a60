# SPDX-License-Identifier: Apache-2.0
"""A client of POST /v1/run: python3 SCRIPT URL TOKEN WORKSPACE CASE..."""
import json
import os
import socket
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../python-client"))
MIME = "application/vnd.sandbox.result+json"
DEADLINE = 120
base, token, workspace = sys.argv[1].rstrip("/"), sys.argv[2], sys.argv[3]


def check(good, what):
    if not good:
        raise AssertionError(what)


def rest(method, path, body=None, want=200, **headers):
    """The status must be want; returns the body, JSON taken apart."""
    h = {"Content-Type": "application/json",
         "Authorization": "Bearer " + token, **headers}
    data = None if body is None else json.dumps(body).encode()
    r = urllib.request.Request(base + path, data, h, method=method)
    try:
        with urllib.request.urlopen(r, timeout=DEADLINE) as f:
            status, text, kind = f.status, f.read(), f.headers["Content-Type"]
    except urllib.error.HTTPError as e:
        status, text, kind = e.code, e.read(), e.headers["Content-Type"]
    check(status == want, f"{method} {path}: {status} {text[:300]}")
    return json.loads(text) if text and "json" in kind else text


def run(code, want=200, **more):
    return rest("POST", "/v1/run", {"code": code, **more}, want)


def stream(code, **more):
    """All events, as pairs of name and data."""
    text = rest("POST", "/v1/run", {"code": code, **more},
                Accept="text/event-stream").decode()
    parts = [e.split("\n") for e in text.split("\n\n")
             if e.startswith("event")]
    return [(e[0][7:], json.loads(e[1][6:])) for e in parts]


def wait_until(fn):
    limit = time.monotonic() + DEADLINE
    while not fn():
        check(time.monotonic() < limit, "gave up waiting")
        time.sleep(0.05)


def stop_all():
    for k in rest("GET", "/api/kernels"):
        rest("DELETE", "/api/kernels/" + k["id"], want=204)
    wait_until(lambda: rest("GET", "/api/kernels") == [])


def open_run(code, events=True, **more):
    """A request whose answer is to be read by the caller."""
    host, port = base.split("//")[1].split(":")
    body = json.dumps({"code": code, **more}).encode()
    s = socket.create_connection((host, int(port)), DEADLINE)
    s.sendall(b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\n"
              b"Authorization: Bearer " + token.encode() + b"\r\n" +
              (b"Accept: text/event-stream\r\n" if events else b"") +
              b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
              % len(body) + body)
    return s
