# SPDX-License-Identifier: Apache-2.0
"""Times of a Jupyter gateway over REST and WebSocket, as one line of JSON.

usage: bench-gateway.py URL TOKEN KERNEL PID
"""
import json
import statistics
import struct
import sys
import time
import urllib.request
import uuid

import websocket

V1 = "v1.kernel.websocket.jupyter.org"
base, token, kernel, pid = sys.argv[1:5]
head = {"Authorization": "token " + token, "Content-Type": "application/json"}


def rest(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    r = urllib.request.Request(base + path, data, head, method=method)
    with urllib.request.urlopen(r, timeout=60) as f:
        text = f.read()
    return json.loads(text) if text else None


class Client:
    def __init__(self, kid):
        self.session = uuid.uuid4().hex
        self.ws = websocket.create_connection(
            base.replace("http", "ws", 1) +
            f"/api/kernels/{kid}/channels?session_id={self.session}",
            timeout=120, header=["Authorization: token " + token],
            subprotocols=[V1])

    def send(self, msg_type, content):
        h = {"msg_id": uuid.uuid4().hex, "session": self.session,
             "username": "", "date": "2024-01-01T00:00:00.000000Z",
             "msg_type": msg_type, "version": "5.3"}
        parts = [b"shell", json.dumps(h).encode(), b"{}", b"{}",
                 json.dumps(content).encode()]
        n, offsets = len(parts) + 1, [8 * (len(parts) + 2)]
        for p in parts:
            offsets.append(offsets[-1] + len(p))
        self.ws.send_binary(struct.pack(f"<{n + 1}Q", n, *offsets) +
                            b"".join(parts))
        return h["msg_id"]

    def recv(self):
        d = self.ws.recv()
        n = struct.unpack_from("<Q", d)[0]
        o = struct.unpack_from(f"<{n}Q", d, 8)
        p = [d[o[i]:o[i + 1]] for i in range(n - 1)]
        return json.loads(p[1]), json.loads(p[2]), json.loads(p[4])

    def run(self, code):
        """The number of characters that were printed."""
        mid = self.send("execute_request", {
            "code": code, "silent": False, "store_history": False,
            "user_expressions": {}, "allow_stdin": False,
            "stop_on_error": False})
        idle = reply = False
        printed = 0
        while not (idle and reply):
            header, parent, content = self.recv()
            if parent.get("msg_id") != mid:
                continue
            t = header["msg_type"]
            reply = reply or t == "execute_reply"
            idle = idle or content.get("execution_state") == "idle"
            if t == "stream" and content["name"] == "stdout":
                printed += len(content["text"])
        return printed


def start():
    t = time.perf_counter()
    kid = rest("POST", "/api/kernels", {"name": kernel})["id"]
    c = Client(kid)
    mid = c.send("kernel_info_request", {})
    while c.recv()[1].get("msg_id") != mid:
        pass
    return kid, c, (time.perf_counter() - t) * 1e3


starts = []
for _ in range(3):
    kid, c, ms = start()
    starts.append(ms)
    c.ws.close()
    rest("DELETE", "/api/kernels/" + kid)
kid, c, _ = start()
for _ in range(20):
    c.run("1+1")
times = []
for _ in range(200):
    t = time.perf_counter()
    c.run("1+1")
    times.append((time.perf_counter() - t) * 1e3)
times.sort()
want = sum(len(f"line {i}\n") for i in range(10000))
t = time.perf_counter()
got = c.run("for i in range(10000): print('line', i, flush=True)")
lines = 10000 / (time.perf_counter() - t)
big = c.run("import sys; _ = sys.stdout.write(('x' * 99 + '\\n') * 100000)")
with open(f"/proc/{pid}/statm", encoding="ascii") as f:
    rss = int(f.read().split()[1]) * 4096 / 1e6
rest("DELETE", "/api/kernels/" + kid)
print(json.dumps({
    "start_ms": statistics.median(starts),
    "rtt_ms": statistics.median(times), "rtt_p99_ms": times[-3],
    "lines_s": lines, "lost_pct": 100 * (want - got) / want,
    "big_lost_pct": 100 * (10 ** 7 - big) / 10 ** 7, "rss_mb": rss}))
