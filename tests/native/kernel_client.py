# SPDX-License-Identifier: Apache-2.0
"""A Jupyter client of a few lines on plain ZeroMQ: what the tests and the
benchmark of the kernel talk to it with."""
import hashlib
import hmac
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

try:
    import zmq
except ImportError:
    print("SKIP: needs python3-zmq")
    sys.exit(77)

DELIMITER = b"<IDS|MSG>"
LIMIT = 30  # seconds that anything may take
CHANNELS = ("shell", "control", "stdin", "iopub", "hb")


def kernel_env(**more):
    """The environment in which python3 finds the kernel of the build tree.  A
    module with a sanitizer wants its runtime loaded before Python's memory."""
    env = {**os.environ, **more}
    path = env.get("KERNEL_PYTHONPATH")
    if not path:
        return env
    env["PYTHONPATH"] = path
    libs = subprocess.run(["ldd", path + "/sandbox_kernel/_core.abi3.so"],
                          stdout=subprocess.PIPE, text=True).stdout
    for line in libs.splitlines():
        if "libasan" in line:
            env["LD_PRELOAD"] = line.split()[2]
            env["ASAN_OPTIONS"] = "detect_leaks=0"
    return env


def sanitized():
    return "LD_PRELOAD" in kernel_env()


class Kernel:
    """A kernel process with a client on it."""

    def __init__(self, argv=None, key="a-key", env=None, before=None,
                 welcome=True, **popen):
        self.dir = tempfile.TemporaryDirectory(prefix="kernel-test.")
        self.file = os.path.join(self.dir.name, "connection.json")
        self.info = {"ip": "127.0.0.1", "transport": "tcp", "key": key,
                     "signature_scheme": "hmac-sha256", "kernel_name": "",
                     **{c + "_port": 0 for c in CHANNELS}}
        if before:
            before(self.info)
        with open(self.file, "w") as f:
            json.dump(self.info, f)
        self.key = key.encode()
        self.session = uuid.uuid4().hex
        argv = argv or [sys.executable, "-m", "sandbox_kernel", "-f"]
        self.process = subprocess.Popen(argv + [self.file],
                                        env=env or kernel_env(), **popen)
        self.wait_ports()
        self.context = zmq.Context()
        self.identity = uuid.uuid4().hex.encode()
        self.shell = self.connect(zmq.DEALER, "shell", self.identity)
        self.control = self.connect(zmq.DEALER, "control", self.identity)
        self.stdin = self.connect(zmq.DEALER, "stdin", self.identity)
        self.iopub = self.subscribe()
        while welcome:
            welcome = self.recv(self.iopub)["type"] != "iopub_welcome"

    def wait_ports(self):
        end = time.monotonic() + LIMIT
        while not all(self.info[c + "_port"] for c in CHANNELS):
            if self.process.poll() is not None:
                raise RuntimeError("the kernel ended: %s" % self.process.poll())
            if time.monotonic() > end:
                raise RuntimeError("the kernel does not listen")
            time.sleep(0.001)
            with open(self.file) as f:
                self.info = json.load(f)

    def url(self, channel):
        return "tcp://127.0.0.1:%d" % self.info[channel + "_port"]

    def connect(self, kind, channel, identity=None):
        s = self.context.socket(kind)
        s.linger = 0
        if identity:
            s.identity = identity
        s.connect(self.url(channel))
        return s

    def subscribe(self, hwm=0, topic=b""):
        s = self.context.socket(zmq.SUB)
        s.linger = 0
        s.rcvhwm = hwm
        s.subscribe(topic)
        s.connect(self.url("iopub"))
        return s

    def sign(self, parts):
        h = hmac.new(self.key, digestmod=hashlib.sha256)
        for p in parts:
            h.update(p)
        return h.hexdigest().encode() if self.key else b""

    def frames(self, kind, content=None, parent=None, metadata=None):
        header = {"msg_id": uuid.uuid4().hex, "session": self.session,
                  "username": "test", "date": "2026-01-01T00:00:00.000000Z",
                  "msg_type": kind, "version": "5.3"}
        parts = [json.dumps(p).encode() for p in
                 (header, parent or {}, metadata or {}, content or {})]
        return header["msg_id"], [DELIMITER, self.sign(parts)] + parts

    def send(self, kind, content=None, on=None, buffers=(), **kw):
        msg_id, frames = self.frames(kind, content, **kw)
        (on or self.shell).send_multipart(frames + list(buffers))
        return msg_id

    def parse(self, frames):
        i = frames.index(DELIMITER)
        sig, parts = frames[i + 1], frames[i + 2:i + 6]
        assert sig == self.sign(parts), "a bad signature"
        m = dict(zip(("header", "parent", "metadata", "content"),
                     map(json.loads, parts)))
        m["type"] = m["header"]["msg_type"]
        m["ids"] = frames[:i]
        m["buffers"] = frames[i + 6:]
        return m

    def recv(self, sock, limit=LIMIT):
        """The next message, or None when none comes in time."""
        if not sock.poll(limit * 1000):
            return None
        return self.parse(sock.recv_multipart())

    def reply(self, msg_id, on=None, limit=LIMIT):
        """The reply to a request; others are thrown away."""
        end = time.monotonic() + limit
        while True:
            m = self.recv(on or self.shell, max(0, end - time.monotonic()))
            if m is None:
                raise RuntimeError("no reply in %d s" % limit)
            if m["parent"].get("msg_id") == msg_id:
                return m

    def outputs(self, msg_id, limit=LIMIT):
        """What iopub says of a request, from busy to idle."""
        found = []
        end = time.monotonic() + limit
        while True:
            m = self.recv(self.iopub, max(0, end - time.monotonic()))
            if m is None:
                raise RuntimeError("no idle in %d s: %s" % (limit, [
                    (f["type"], f["content"]) for f in found[-5:]]))
            if m["parent"].get("msg_id") != msg_id:
                continue
            found.append(m)
            if m["content"].get("execution_state") == "idle":
                return found

    def execute(self, code, on=None, **content):
        return self.send("execute_request", {
            "code": code, "silent": False, "store_history": False,
            "user_expressions": {}, "allow_stdin": False,
            "stop_on_error": True, **content}, on=on)

    def run(self, code, limit=LIMIT, **content):
        """(reply, outputs) of a cell."""
        msg_id = self.execute(code, **content)
        outputs = self.outputs(msg_id, limit)
        return self.reply(msg_id, limit=limit), outputs

    def alive(self):
        """Whether a cell still runs as it should."""
        reply, outputs = self.run("print('ali' + 've')")
        return text(outputs) == "alive\n" and \
            reply["content"]["status"] == "ok"

    def wait_text(self, wanted, name="stdout"):
        """Until iopub has shown some text."""
        seen = ""
        while wanted not in seen:
            m = self.recv(self.iopub)
            assert m, "no %r in %r" % (wanted, seen)
            if m["type"] == "stream" and m["content"]["name"] == name:
                seen += m["content"]["text"]

    def shutdown(self, restart=False):
        r = self.reply(self.send("shutdown_request", {"restart": restart},
                                 on=self.control), on=self.control)
        self.process.wait(LIMIT)
        return r

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.context.destroy(0)
        self.dir.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def text(outputs, name="stdout"):
    return "".join(m["content"]["text"] for m in outputs
                   if m["type"] == "stream" and m["content"]["name"] == name)


def wait_until(check, what):
    end = time.monotonic() + LIMIT
    while not check():
        if time.monotonic() > end:
            raise RuntimeError("gave up on: " + what)
        time.sleep(0.01)


def main(tests):
    """Run all functions test_* of a module; those named only, if any."""
    failed = 0
    for name, test in list(tests.items()):
        if not name.startswith("test_") or sys.argv[1:] and \
                name not in sys.argv[1:]:
            continue
        try:
            test()
            print("ok - " + name, flush=True)
        except Exception:
            failed += 1
            print("not ok - " + name)
            traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
    sys.exit(1 if failed else 0)
