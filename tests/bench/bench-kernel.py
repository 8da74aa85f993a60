#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel beside ipykernel, in one run, on plain ZeroMQ."""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "native"))
from kernel_client import *  # noqa: E402

STARTS = 10
ROUNDS = 500
HOLD = "import ctypes; print('go', flush=True); " \
       "ctypes.PyDLL(None).usleep(1500000)"


def ipykernel(k):
    """ipykernel picks no port from a file: it is given free ones."""
    import socket
    free = []
    for c in CHANNELS:
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        free.append(s)
        k[c + "_port"] = s.getsockname()[1]
    for s in free:
        s.close()


class Peer(Kernel):
    def __init__(self):
        self.began = time.perf_counter()
        super().__init__([sys.executable, "-m", "ipykernel_launcher", "-f"],
                         before=ipykernel, welcome=False,
                         env=dict(os.environ), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
        self.join()

    def join(self):
        """Until iopub is ours: it has no welcome."""
        while True:
            msg_id = self.send("kernel_info_request")
            self.reply(msg_id)
            if not hasattr(self, "first"):
                self.first = time.perf_counter() - self.began
            if self.recv(self.iopub, 0.3):
                while self.recv(self.iopub, 0.3):
                    pass
                return


class Ours(Kernel):
    def __init__(self):
        began = time.perf_counter()
        super().__init__(welcome=False)
        self.reply(self.send("kernel_info_request"))
        self.first = time.perf_counter() - began
        while self.recv(self.iopub, 0.3):
            pass


def memory(k, field):
    with open("/proc/%d/status" % k.process.pid) as f:
        return int(f.read().split(field + ":")[1].split()[0]) / 1024


def ms(seconds):
    return "%.2f ms" % (seconds * 1e3)


def start(make):
    times = []
    for _ in range(STARTS):
        with make() as k:
            times.append(k.first)
    return {"cold start to kernel_info_reply": ms(statistics.median(times))}


def round_trip(k):
    for _ in range(30):
        k.run("1+1")
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        k.run("1+1")
        times.append(time.perf_counter() - began)
    times.sort()
    return {"round trip of 1+1, median": ms(statistics.median(times)),
            "round trip of 1+1, p99": ms(times[int(ROUNDS * 0.99) - 1])}


def prints(k):
    began = time.perf_counter()
    out = k.run("for i in range(10000): print(i, flush=True)", 120)[1]
    took = time.perf_counter() - began
    lost = 10000 - len(text(out).splitlines())
    return {"10,000 flushed prints": "%d lines/s" % (10000 / took),
            "of them lost": str(lost)}


def first_print(k):
    cell = k.execute("import time; print('x'); time.sleep(0.5)")
    while True:
        m = k.recv(k.iopub)
        if m["parent"].get("msg_id") != cell:
            continue
        if m["content"].get("execution_state") == "busy":
            began = time.perf_counter()
        if m["type"] == "stream":
            took = time.perf_counter() - began
            break
    k.outputs(cell)
    k.reply(cell)
    return {"first print is seen after": ms(took)}


def held(k):
    cell = k.execute(HOLD)
    k.wait_text("go")
    began = time.perf_counter()
    k.reply(k.send("kernel_info_request", on=k.control), on=k.control)
    took = time.perf_counter() - began
    k.reply(cell)
    k.outputs(cell)
    return {"kernel_info while C holds the GIL": ms(took)}


def interrupt(k, what, code):
    times = []
    for _ in range(10):
        cell = k.execute(code, stop_on_error=False)
        k.wait_text("go")
        began = time.perf_counter()
        if isinstance(k, Ours):
            k.send("interrupt_request", on=k.control)
        else:
            k.process.send_signal(2)
        k.reply(cell)
        times.append(time.perf_counter() - began)
        k.outputs(cell)
    return {"interrupt of " + what: ms(statistics.median(times))}


def much(k):
    cell = k.execute("s = 'x' * 9999 + '\\n'\nfor i in range(10000): "
                     "print(s, end='')")
    began = time.perf_counter()
    total = 0
    while True:
        m = k.recv(k.iopub, 120)
        if m["parent"].get("msg_id") != cell:
            continue
        if m["type"] == "stream":
            total += len(m["content"]["text"])
        if m["content"].get("execution_state") == "idle":
            break
    took = time.perf_counter() - began
    return {"100 MB of output": "%d MB/s" % (total / took / 1e6),
            "bytes of it lost": str(100000000 - total),
            "memory at its peak": "%.1f MB" % memory(k, "VmHWM")}


def measure(make):
    found = start(make)
    with make() as k:
        k.run("1")
        found["idle memory (RSS)"] = "%.1f MB" % memory(k, "VmRSS")
        found.update(round_trip(k))
        found.update(first_print(k))
        found.update(prints(k))
        found.update(held(k))
        found.update(interrupt(k, "sleep", "import time; "
                               "print('go', flush=True); time.sleep(100)"))
        found.update(interrupt(k, "a busy loop", "print('go', flush=True)\n"
                               "while True: pass"))
        found.update(interrupt(k, "subprocess.run", "import subprocess\n"
                               "subprocess.run('echo go; exec sleep 100', "
                               "shell=True)"))
        found.update(much(k))
    return found


def table():
    ours = measure(Ours)
    try:
        import ipykernel  # noqa: F401
        peer = measure(Peer)
    except ImportError:
        peer = {}
    print("%-36s %14s %14s" % ("", "ours", "ipykernel"))
    for name, value in ours.items():
        print("%-36s %14s %14s" % (name, value, peer.get(name, "-")))


table()
