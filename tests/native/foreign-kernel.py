# SPDX-License-Identifier: Apache-2.0
"""A kernel of others, with one thread: while its cell runs it hears nothing.

usage: foreign-kernel.py CONNECTION-FILE

A cell is the name of one of the functions below, and its arguments.
"""
import hashlib
import hmac
import json
import os
import sys
import time
import uuid

import zmq

with open(sys.argv[1], encoding="utf-8") as f:
    conn = json.load(f)
context = zmq.Context()


def bind(kind, name):
    s = context.socket(kind)
    s.sndhwm = 0
    s.bind(f"ipc://{conn['ip']}-{conn[name + '_port']}")
    return s


shell, control = bind(zmq.ROUTER, "shell"), bind(zmq.ROUTER, "control")
iopub = bind(zmq.PUB, "iopub")


def make(msg_type, parent, content):
    header = {"msg_id": uuid.uuid4().hex, "session": "foreign",
              "username": "", "date": "2024-01-01T00:00:00.000000Z",
              "msg_type": msg_type, "version": "5.3"}
    parts = [json.dumps(p).encode() for p in (header, parent, {}, content)]
    mac = hmac.new(conn["key"].encode(), b"".join(parts), hashlib.sha256)
    return [b"<IDS|MSG>", mac.hexdigest().encode(), *parts]


def publish(msg_type, parent, content):
    iopub.send_multipart([b"", *make(msg_type, parent, content)])


def say(parent, n, size):
    """So much at once, and the end when ZeroMQ has handed on all of it."""
    for m in [make("stream", parent, {"name": "stdout", "text":
                                      f"{i} " + " " * int(size)})
              for i in range(int(n))]:
        iopub.send_multipart([b"", *m])
    context.destroy(linger=-1)
    os._exit(3)


def wait(parent, path):
    while not os.path.exists(path):
        publish("stream", parent, {"name": "stdout", "text": "waiting"})
        time.sleep(0.05)


def nothing(parent):
    pass


def answer(socket, frames):
    at = frames.index(b"<IDS|MSG>")
    parent, content = json.loads(frames[at + 2]), json.loads(frames[at + 5])
    kind = parent["msg_type"].removesuffix("_request")
    publish("status", parent, {"execution_state": "busy"})
    reply = {"status": "ok", "execution_count": 1}
    if kind == "execute":
        name, *args = content["code"].split()
        try:
            globals()[name](parent, *args)
        except KeyboardInterrupt:
            reply = {"status": "error", "ename": "KeyboardInterrupt",
                     "evalue": "", "traceback": [], "execution_count": 1}
    socket.send_multipart([*frames[:at],
                           *make(kind + "_reply", parent, reply)])
    publish("status", parent, {"execution_state": "idle"})
    if kind == "shutdown":
        context.destroy(linger=1000)
        os._exit(0)


poller = zmq.Poller()
poller.register(shell, zmq.POLLIN)
poller.register(control, zmq.POLLIN)
while True:
    for ready, _ in poller.poll():
        answer(ready, ready.recv_multipart())
