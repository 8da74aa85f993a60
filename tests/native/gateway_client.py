# SPDX-License-Identifier: Apache-2.0
"""A client of the kernel gateway, on websocket-client.

The programs that use it have URL and TOKEN as their first arguments.
"""
import json
import signal
import socket
import struct
import sys
import time
import urllib.error
import urllib.request
import uuid

import websocket

V1 = "v1.kernel.websocket.jupyter.org"
DEADLINE = 60
base, token = sys.argv[1].rstrip("/"), sys.argv[2]


def check(good, what):
    if not good:
        raise AssertionError(what)


def rest(method, path, body=None, want=200, auth=True, headers=None):
    """The status must be want; returns the JSON and the headers."""
    h = {"Content-Type": "application/json"}
    if auth:
        h["Authorization"] = "token " + token
    h.update(headers or {})
    data = None if body is None else json.dumps(body).encode()
    r = urllib.request.Request(base + path, data, h, method=method)
    try:
        with urllib.request.urlopen(r, timeout=DEADLINE) as f:
            status, text, head = f.status, f.read(), f.headers
    except urllib.error.HTTPError as e:
        status, text, head = e.code, e.read(), e.headers
    check(status == want, f"{method} {path}: {status} {text[:300]}")
    return (json.loads(text) if text else None), head


def wait_until(fn):
    limit = time.monotonic() + DEADLINE
    while True:
        got = fn()
        if got:
            return got
        check(time.monotonic() < limit, "gave up waiting")
        time.sleep(0.05)


class Client:
    def __init__(self, kid, framing="v1", session=None, query="", url=None,
                 auth=True):
        self.session = session or uuid.uuid4().hex
        self.framing = framing
        url = (url or base).replace("http", "ws", 1)
        url += f"/api/kernels/{kid}/channels?session_id={self.session}{query}"
        self.ws = websocket.create_connection(
            url, timeout=DEADLINE,
            header=["Authorization: token " + token] if auth else [],
            subprotocols=[V1] if framing == "v1" else None)
        check(self.ws.getsubprotocol() == (V1 if framing == "v1" else None),
              "sub-protocol")

    def send(self, msg_type, content, channel="shell", buffers=()):
        h = {"msg_id": uuid.uuid4().hex, "session": self.session,
             "username": "", "date": "2024-01-01T00:00:00.000000Z",
             "msg_type": msg_type, "version": "5.3"}
        if self.framing == "v1":
            parts = [channel.encode(), json.dumps(h).encode(), b"{}", b"{}",
                     json.dumps(content).encode(), *buffers]
            n = len(parts) + 1
            offsets = [8 * (n + 1)]
            for p in parts:
                offsets.append(offsets[-1] + len(p))
            self.ws.send_binary(struct.pack(f"<{n + 1}Q", n, *offsets) +
                                b"".join(parts))
            return h["msg_id"]
        m = {"header": h, "parent_header": {}, "metadata": {},
             "content": content, "buffers": [], "channel": channel}
        text = json.dumps(m).encode()
        if not buffers:
            self.ws.send(text.decode())
            return h["msg_id"]
        parts = [text, *buffers]
        at, offsets = 4 * (len(parts) + 1), []
        for p in parts:
            offsets.append(at)
            at += len(p)
        self.ws.send_binary(struct.pack(f"!{len(parts) + 1}I", len(parts),
                                        *offsets) + b"".join(parts))
        return h["msg_id"]

    def recv(self):
        d = self.ws.recv()
        if self.framing == "v1":
            n = struct.unpack_from("<Q", d)[0]
            o = struct.unpack_from(f"<{n}Q", d, 8)
            check(o[-1] == len(d), "last offset")
            p = [d[o[i]:o[i + 1]] for i in range(n - 1)]
            return {"channel": p[0].decode(), "header": json.loads(p[1]),
                    "parent_header": json.loads(p[2]),
                    "metadata": json.loads(p[3]),
                    "content": json.loads(p[4]), "buffers": p[5:]}
        buffers = []
        if isinstance(d, bytes):
            n = struct.unpack_from("!I", d)[0]
            o = list(struct.unpack_from(f"!{n}I", d, 4)) + [len(d)]
            buffers = [d[o[i]:o[i + 1]] for i in range(1, n)]
            d = d[o[0]:o[1]]
        m = json.loads(d)
        check(m["msg_id"] == m["header"]["msg_id"] and
              m["msg_type"] == m["header"]["msg_type"], "msg_id, msg_type")
        m["buffers"] = buffers
        return m

    def until(self, fn):
        """All messages up to the first that fn likes."""
        seen = []
        while not seen or not fn(seen[-1]):
            seen.append(self.recv())
        return seen

    def execute(self, code, **kw):
        return self.send("execute_request", {
            "code": code, "silent": False, "store_history": True,
            "user_expressions": {}, "allow_stdin": False,
            "stop_on_error": True, **kw})

    def finish(self, msg_id):
        """What answers a request, until idle and reply have come."""
        seen, idle, reply = [], False, None
        while not (idle and reply):
            m = self.recv()
            if m["parent_header"].get("msg_id") != msg_id:
                continue
            seen.append(m)
            t = m["header"]["msg_type"]
            if t.endswith("_reply"):
                reply = m
            if t == "status" and m["content"]["execution_state"] == "idle":
                idle = True
        return seen, reply["content"]

    def run(self, code, **kw):
        seen, reply = self.finish(self.execute(code, **kw))
        out = "".join(m["content"]["text"] for m in seen
                      if m["header"]["msg_type"] == "stream" and
                      m["content"]["name"] == "stdout")
        return out, reply, seen

    def cut(self):
        """Vanish without a word, and without reading what is there."""
        self.ws.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                struct.pack("ii", 1, 0))
        self.ws.sock.close()


def start(**body):
    return rest("POST", "/api/kernels", body, 201)[0]["id"]


def stop(kid):
    rest("DELETE", "/api/kernels/" + kid, want=204)
    rest("GET", "/api/kernels/" + kid, want=404)


def state(kid):
    return rest("GET", "/api/kernels/" + kid)[0]["execution_state"]


def numbers(messages):
    return [int(n) for m in messages if m["header"]["msg_type"] == "stream"
            for n in m["content"]["text"].split()]


def main(cases):
    """Run the case that the third argument names."""
    signal.alarm(3 * DEADLINE)  # pings would keep it waiting for ever
    cases["case_" + sys.argv[3]](*sys.argv[4:])
