# SPDX-License-Identifier: Apache-2.0
"""Terminals through their WebSocket.  Usage: terminal.py PORT PID"""
import json
import os
import resource
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from ws import DEADLINE, Closed, Refused, WebSocket, wait_until

port, guestd_pid = int(sys.argv[1]), int(sys.argv[2])
WINDOW = 256 * 1024


def rest(method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    req = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=data, method=method
    )
    try:
        with urllib.request.urlopen(req, timeout=DEADLINE) as r:
            text = r.read()
            return r.status, json.loads(text) if text else None
    except urllib.error.HTTPError as e:
        return e.code, json.loads(e.read())


class Term:
    """A viewer that keeps what it was sent."""

    def __init__(self, query="", **kw):
        self.ws = WebSocket(port, f"/v1/terminal/ws{query}", **kw)
        self.output = b""
        self.texts = []
        self.hello = self.ws.recv()
        assert self.hello["type"] == "hello", self.hello
        self.id = self.hello["id"]

    def step(self):
        m = self.ws.recv()
        if isinstance(m, bytes):
            self.output += m
        else:
            self.texts.append(m)

    def until(self, what):
        """Read on until the output has it; what came after its beginning."""
        end = time.monotonic() + DEADLINE
        while what not in self.output:
            assert time.monotonic() < end, (what, self.output[-500:])
            self.step()
        return self.output

    def until_text(self, kind):
        end = time.monotonic() + DEADLINE
        while True:
            for t in self.texts:
                if t["type"] == kind:
                    self.texts.remove(t)
                    return t
            assert time.monotonic() < end, (kind, self.texts)
            self.step()

    def type(self, text):
        self.ws.send(text.encode())

    @property
    def offset(self):
        return self.hello["offset"] + len(self.output)


def rss():
    with open(f"/proc/{guestd_pid}/status") as f:
        for line in f:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024


def sanitized():
    with open(f"/proc/{guestd_pid}/maps") as f:
        return "libasan" in f.read()


def test_echo():
    t = Term("?cols=90&rows=30&command=bash+--norc+-i")
    assert t.hello["cols"] == 90 and t.hello["rows"] == 30, t.hello
    assert t.hello["writable"] is True and t.hello["offset"] == 0
    assert os.path.exists(f"/proc/{t.hello['pid']}")
    t.type("echo $((6 * 7)) $TERM; tty\n")
    t.until(b"42 xterm-256color")
    t.until(b"/dev/pts/")
    t.type("stty size\n")
    t.until(b"30 90")
    t.ws.send({"type": "resize", "cols": 101, "rows": 33})
    r = t.until_text("resize")
    assert (r["cols"], r["rows"]) == (101, 33), r
    t.type("stty size\n")
    t.until(b"33 101")
    assert b"job control" not in t.output, t.output
    t.type("exit 7\n")
    e = t.until_text("exit")
    assert e == {"type": "exit", "exit_code": 7, "signal": None}, e
    try:
        t.ws.recv()
        raise AssertionError("still open")
    except Closed as c:
        assert c.code == 1000, c.code
    status, j = rest("GET", f"/v1/terminals/{t.id}")
    assert status == 200 and j["state"] == "ended" and j["exit_code"] == 7, j
    again = Term(f"?id={t.id}")
    assert again.until_text("exit")["exit_code"] == 7
    assert again.output == t.output, "an ended terminal can be read again"


def test_user():
    """The terminal belongs to who uses it."""
    if os.geteuid() != 0:
        return
    script = 'id -un; stat -c %U "$(tty)"; echo ok > /dev/tty'
    t = Term(f"?user=nobody&command={urllib.parse.quote(script)}")
    assert t.until_text("exit")["exit_code"] == 0
    assert t.output == b"nobody\r\nnobody\r\nok\r\n", t.output


def test_reattach():
    status, j = rest("POST", "/v1/terminals", {"argv": ["cat"], "rows": 10})
    assert status == 201 and j["rows"] == 10 and j["cols"] == 80, j
    a = Term(f"?id={j['id']}")
    a.type("first\n")
    a.until(b"first\r\nfirst\r\n")
    seen = a.offset
    a.ws.close()
    b = Term(f"?id={j['id']}&offset={seen}")
    assert b.hello["offset"] == seen
    b.type("second\n")
    b.until(b"second\r\nsecond\r\n")
    assert b.output == b"second\r\nsecond\r\n", b.output
    c = Term(f"?id={j['id']}&offset={seen - 7}")
    c.until(b"second\r\nsecond\r\n")
    assert c.output == b"first\r\nsecond\r\nsecond\r\n", c.output
    d = Term(f"?id={j['id']}")
    d.until(b"second\r\nsecond\r\n")
    assert d.hello["offset"] == 0 and d.output.startswith(b"first\r\nfirst")
    for bad in (f"id={j['id']}&offset=99999", f"id={j['id']}&offset=x"):
        assert refused(f"/v1/terminal/ws?{bad}") == 400
    assert refused("/v1/terminal/ws?id=nothing") == 404
    assert refused("/v1/terminal/ws?view=1") == 400
    assert rest("DELETE", f"/v1/terminals/{j['id']}")[0] == 204
    e = b.until_text("exit")
    assert e["signal"] == "SIGHUP", e


def refused(path, **kw):
    try:
        WebSocket(port, path, **kw)
    except Refused as r:
        return r.status
    return 101


def test_viewers():
    a = Term("?command=cat")
    b = Term(f"?id={a.id}")
    v = Term(f"?id={a.id}&view=1")
    assert v.hello["writable"] is False
    wait_until(
        "three viewers",
        lambda: rest("GET", f"/v1/terminals/{a.id}")[1]["viewers"] == 3,
    )
    a.type("from a\n")
    for t in (a, b, v):
        t.until(b"from a\r\nfrom a\r\n")
    b.ws.send({"type": "resize", "cols": 55, "rows": 22})
    for t in (a, b, v):
        assert t.until_text("resize")["cols"] == 55
    v.type("not allowed\n")
    e = v.until_text("error")
    assert e["code"] == "denied" and e["remediation"], e
    v.ws.send({"type": "close"})
    assert v.until_text("error")["code"] == "denied"
    b.ws.send({"type": "nonsense"})
    assert b.until_text("error")["code"] == "invalid"
    b.ws.send({"type": "resize", "cols": 0, "rows": 22})
    assert b.until_text("error")["code"] == "invalid"
    b.ws.send({"type": "ack", "offset": 10**9})
    assert b.until_text("error")["code"] == "invalid"
    b.type("last\n")
    a.until(b"last\r\nlast\r\n")
    assert b"not allowed" not in a.output
    a.ws.send({"type": "signal", "signal": "SIGINT"})
    for t in (a, b, v):
        assert t.until_text("exit")["signal"] == "SIGINT"


def test_signal_and_close():
    t = Term("?command=sleep+1000+%26+exec+sleep+1001")
    pid = t.hello["pid"]
    wait_until("the background job", lambda: len(session(pid)) == 2)
    t.ws.send({"type": "close"})
    assert t.until_text("exit")["signal"] == "SIGHUP"
    assert session(pid) == []
    # One that does not heed the hangup, and its job in another group.
    script = "trap '' HUP TERM; set -m; (trap '' HUP; sleep 1000) & echo on; wait"
    status, j = rest("POST", "/v1/terminals", {"argv": ["bash", "-c", script]})
    assert status == 201, j
    t = Term(f"?id={j['id']}")
    t.until(b"on\r\n")
    pid = t.hello["pid"]
    assert rest("DELETE", f"/v1/terminals/{t.id}")[0] == 204
    assert t.until_text("exit")["signal"] == "SIGKILL"
    assert session(pid) == []
    assert rest("DELETE", f"/v1/terminals/{t.id}")[0] == 204


def session(sid):
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat") as f:
                rest_ = f.read().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(rest_[3]) == sid and rest_[0] not in "ZX":
            found.append(int(name))
    return found


def test_never_reads():
    """A flood into a client that does not read: it is the pty that waits."""
    t = Term("?command=yes", rcvbuf=4096)
    j = rest("GET", f"/v1/terminals/{t.id}")[1]
    last = [-1, 0]

    def stalled():
        n = rest("GET", f"/v1/terminals/{t.id}")[1]["output_bytes"]
        last[1] = last[1] + 1 if n == last[0] else 0
        last[0] = n
        return last[1] > 20

    wait_until("a stall", stalled)
    assert last[0] < 16 << 20, last
    assert rss() < 32 << 20 or sanitized(), rss()
    # Another one may still stop it.
    assert rest("DELETE", f"/v1/terminals/{t.id}")[0] == 204
    wait_until(
        "the end",
        lambda: rest("GET", f"/v1/terminals/{t.id}")[1]["state"] == "ended",
    )
    assert j["state"] == "running"


def test_acks():
    t = Term("?command=yes")
    t.until(b"y\r\ny\r\n")
    base = t.offset
    t.ws.send({"type": "ack", "offset": base})
    # All that was on its way before the ack, and then no more than the window.

    def quiet():
        try:
            t.ws.sock.settimeout(0.2)
            op, data = t.ws.frame()
            assert op == 2, (op, data)
            t.output += data
            return False
        except TimeoutError:
            return True

    wait_until("the window to close", quiet)
    stopped = t.offset
    assert stopped >= base + WINDOW, (stopped, base)
    n = rest("GET", f"/v1/terminals/{t.id}")[1]["output_bytes"]
    assert n <= stopped + 128 * 1024, (n, stopped)
    t.ws.send({"type": "ack", "offset": stopped})
    before = t.offset
    while t.offset < before + WINDOW:
        t.step()
    assert t.offset == before + WINDOW, t.offset - before
    # Input passes a closed window.
    t.type("\x03")
    t.ws.send({"type": "ack", "offset": t.offset})
    end = time.monotonic() + DEADLINE
    while not t.texts:
        assert time.monotonic() < end
        t.step()
        t.ws.send({"type": "ack", "offset": t.offset})
    assert t.texts[0]["signal"] == "SIGINT", t.texts


def test_laggard():
    """One that only looks is not waited for, and told what it missed."""
    t = Term("?command=stty+-echo;+cat")
    v = Term(f"?id={t.id}&view=1")
    v.ws.send({"type": "ack", "offset": v.offset})
    block = "é\x1b[31mred\x1b[0m" * 100 + "\n"
    size = 0
    while size < 2 << 20:
        t.type(block)
        size += len(block.encode())
        while t.offset < size - 200_000:
            t.step()
    t.type("\nend-of-it\n")
    t.until(b"end-of-it")
    skips = []
    while b"end-of-it" not in v.output:
        m = v.ws.recv()
        if isinstance(m, bytes):
            v.output += m
        else:
            assert m["type"] == "hello" and m["skipped"] > 0, m
            skips.append(m)
            v.hello, v.output = m, b""
        if skips:
            v.ws.send({"type": "ack", "offset": v.offset})
    assert skips
    assert v.output[:1] in (b"\x1b", b"r", b"e", b"d", b"\r", b"\n", b"\xc3")
    v.output.decode()
    late = Term(f"?id={t.id}&offset=1")
    assert late.hello["skipped"] > 0 and late.hello["offset"] > 1 << 20
    late.until(b"end-of-it")
    late.output.decode()
    t.ws.send({"type": "close"})
    t.until_text("exit")


def test_limits():
    ids = []
    while True:
        status, j = rest("POST", "/v1/terminals", {"argv": ["sleep", "1000"]})
        if status != 201:
            break
        ids.append(j["id"])
    assert status == 503 and len(ids) == 64, (status, len(ids))
    assert "DELETE" in j["remediation"], j
    for i in ids:
        assert rest("DELETE", f"/v1/terminals/{i}")[0] == 204

    def all_ended():
        ts = rest("GET", "/v1/terminals")[1]["terminals"]
        return len(ts) <= 16 and all(x["state"] == "ended" for x in ts)

    wait_until("all to end", all_ended)


def test_bad_requests():
    post = [
        ({"command": 1}, 400, "command"),
        ({"argv": []}, 400, "argv"),
        ({"argv": ["a", 1]}, 400, "argv"),
        ({"argv": ["no-such-program"]}, 404, "no-such-program"),
        ({"argv": ["ls"], "command": "ls"}, 400, "either"),
        ({"cols": 0}, 400, "cols"),
        ({"rows": 100000}, 400, "rows"),
        ({"cwd": "/does/not/exist"}, 400, "/does/not/exist"),
        ({"user": "nobody-here"}, 400, "nobody-here"),
        ({"wat": 1}, 400, "wat"),
        ({"env": {"A=": "1"}}, 400, "env"),
    ]
    for body, want, text in post:
        status, j = rest("POST", "/v1/terminals", body)
        assert status == want and text in j["detail"], (body, status, j)
    assert rest("GET", "/v1/terminals/x")[0] == 404
    assert rest("DELETE", "/v1/terminals/x")[0] == 404
    status, j = rest("GET", "/v1/terminal/ws")
    assert status == 426 and "WebSocket" in j["detail"], j
    assert (
        refused("/v1/terminal/ws", headers=["Origin: http://evil.example"])
        == 403
    )


def test_idle_clients():
    """A thousand that just look."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    t = Term("?command=cat")
    before = rss()
    idle = [
        Term(f"?id={t.id}&view=1") for _ in range(min(1000, hard - 100))
    ]
    t.type("hello all\n")
    for v in idle:
        v.until(b"hello all")
    after = rss()
    print(f"{len(idle)} idle viewers: {before >> 10}, then {after >> 10} KiB")
    # A sanitizer has its own idea of memory.
    assert after < 32 << 20 or sanitized(), after
    for v in idle:
        v.ws.close()
    t.ws.send({"type": "close"})
    t.until_text("exit")


for name, fn in list(globals().items()):
    if name.startswith("test_"):
        print(name, flush=True)
        fn()
