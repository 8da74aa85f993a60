# SPDX-License-Identifier: Apache-2.0
"""Times of a Jupyter gateway over REST and WebSocket, as one line of JSON.

usage: bench-gateway.py URL TOKEN KERNEL PID WHAT...

PID is the server's, "guest" for a guestd that is asked through its own API.
WHAT is any of idle, cold, warm, trip, lines, flood, reconnect.
"""
import json
import re
import socket
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
    with urllib.request.urlopen(r, timeout=120) as f:
        text = f.read()
    return json.loads(text) if text else None


class Client:
    def __init__(self, kid, session=None):
        self.session = session or uuid.uuid4().hex
        self.ws = websocket.create_connection(
            base.replace("http", "ws", 1)
            + f"/api/kernels/{kid}/channels?session_id={self.session}",
            timeout=120,
            header=["Authorization: token " + token],
            subprotocols=[V1],
        )

    def send(self, msg_type, content):
        h = {
            "msg_id": uuid.uuid4().hex,
            "session": self.session,
            "username": "",
            "date": "2024-01-01T00:00:00.000000Z",
            "msg_type": msg_type,
            "version": "5.3",
        }
        parts = [
            b"shell",
            json.dumps(h).encode(),
            b"{}",
            b"{}",
            json.dumps(content).encode(),
        ]
        n, offsets = len(parts) + 1, [8 * (len(parts) + 2)]
        for p in parts:
            offsets.append(offsets[-1] + len(p))
        self.ws.send_binary(
            struct.pack(f"<{n + 1}Q", n, *offsets) + b"".join(parts)
        )
        return h["msg_id"]

    def recv(self):
        d = self.ws.recv()
        n = struct.unpack_from("<Q", d)[0]
        o = struct.unpack_from(f"<{n}Q", d, 8)
        p = [d[o[i] : o[i + 1]] for i in range(n - 1)]
        return json.loads(p[1]), json.loads(p[2]), json.loads(p[4])

    def execute(self, code):
        return self.send(
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": False,
                "user_expressions": {},
                "allow_stdin": False,
                "stop_on_error": False,
            },
        )

    def texts(self, mid):
        """What the cell prints, until reply and idle have come."""
        idle = reply = False
        while not (idle and reply):
            header, parent, content = self.recv()
            if parent.get("msg_id") != mid:
                continue
            t = header["msg_type"]
            reply = reply or t == "execute_reply"
            idle = idle or content.get("execution_state") == "idle"
            if t == "stream" and content["name"] == "stdout":
                yield content["text"]

    def run(self, code):
        """The number of characters that were printed."""
        return sum(len(t) for t in self.texts(self.execute(code)))

    def cut(self):
        """Vanish without a word."""
        self.ws.sock.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.ws.sock.close()


def start():
    """A kernel, a client on it, and the time until it answers."""
    t = time.perf_counter()
    kid = rest("POST", "/api/kernels", {"name": kernel})["id"]
    c = Client(kid)
    mid = c.send("kernel_info_request", {})
    while c.recv()[1].get("msg_id") != mid:
        pass
    return kid, c, (time.perf_counter() - t) * 1e3


def stop(kid, c):
    c.ws.close()
    rest("DELETE", "/api/kernels/" + kid)


def shell(command):
    r = rest("POST", "/v1/shell/exec", {"command": command, "user": "root"})
    return r["stdout"]


def server_pids():
    """The server and its kernels."""
    if pid == "guest":
        kernels = [str(k["pid"]) for k in rest("GET", "/api/kernels")]
        return shell("pidof guestd").split() + kernels
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [pid] + f.read().split()


def proc(path):
    if pid == "guest":
        return shell("cat " + path)
    with open(path, encoding="ascii") as f:
        return f.read()


def field(path, name):
    """In MB."""
    return int(re.search(name + r":\s+(\d+)", proc(path))[1]) * 1024 / 1e6


def starts(times, pause):
    all_ms = []
    for _ in range(times):
        time.sleep(pause)
        kid, c, ms = start()
        all_ms.append(ms)
        stop(kid, c)
    return statistics.median(all_ms)


def bench_idle():
    """All memory of server and kernel, when both have nothing to do."""
    kid, c, _ = start()
    c.ws.close()
    time.sleep(2)
    each = [field(f"/proc/{p}/smaps_rollup", "Pss") for p in server_pids()]
    rest("DELETE", "/api/kernels/" + kid)
    return {"idle_mb": sum(each), "idle_server_mb": each[0]}


def bench_cold():
    return {"cold_ms": starts(5, 0)}


def bench_warm():
    return {"warm_ms": starts(5, 10 if pid == "guest" else 2)}


def bench_trip():
    kid, c, _ = start()
    for _ in range(20):
        c.run("1+1")
    times = []
    for _ in range(300):
        t = time.perf_counter()
        c.run("1+1")
        times.append((time.perf_counter() - t) * 1e3)
    times.sort()
    stop(kid, c)
    return {"trip_ms": statistics.median(times), "trip_p99_ms": times[-4]}


def bench_lines():
    kid, c, _ = start()
    want = sum(len(f"line {i}\n") for i in range(10000))
    t = time.perf_counter()
    got = c.run("for i in range(10000): print('line', i, flush=True)")
    spent = time.perf_counter() - t
    stop(kid, c)
    return {"lines_s": 1e4 / spent, "lines_lost": 100 * (want - got) / want}


def bench_flood():
    """100 MB, and what the server needs for them at most."""
    kid, c, _ = start()
    server = server_pids()[0]
    if pid == "guest":
        shell(f"echo 5 > /proc/{server}/clear_refs")
    else:
        with open(f"/proc/{server}/clear_refs", "w", encoding="ascii") as f:
            f.write("5")
    t = time.perf_counter()
    got = c.run(
        "import sys\n"
        "for i in range(1000): _ = sys.stdout.write(('x' * 99 + '\\n') * 1000)"
    )
    spent = time.perf_counter() - t
    peak = field(f"/proc/{server}/status", "VmHWM")
    stop(kid, c)
    return {
        "flood_lost": 100 * (1e8 - got) / 1e8,
        "flood_mb_s": got / 1e6 / spent,
        "flood_peak_mb": peak,
    }


def lost_by(kid, again):
    """A client vanishes from a cell and comes back one second later."""
    code = (
        "import time\n"
        "for i in range(200):\n"
        "    print(i, flush=True); time.sleep(0.01)"
    )
    session = uuid.uuid4().hex
    c = Client(kid, session)
    c.run("pass")
    mid, seen = c.execute(code), set()
    for text in c.texts(mid):
        seen |= set(text.split())
        if len(seen) >= 50:
            break
    c.cut()
    time.sleep(1)
    c = Client(kid, again or session)
    c.ws.settimeout(10)
    try:
        for text in c.texts(mid):
            seen |= set(text.split())
    except websocket.WebSocketTimeoutException:
        pass  # the end was lost
    c.ws.close()
    return (200 - len(seen)) / 2


def bench_reconnect():
    kid, c, _ = start()
    c.ws.close()
    same, other = lost_by(kid, None), lost_by(kid, uuid.uuid4().hex)
    rest("DELETE", "/api/kernels/" + kid)
    return {"back_lost": same, "other_lost": other}


result = {}
for what in sys.argv[5:]:
    result.update(globals()["bench_" + what]())
print(json.dumps(result))
