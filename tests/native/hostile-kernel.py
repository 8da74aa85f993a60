# SPDX-License-Identifier: Apache-2.0
"""hostile-kernel.py TOOL [no-limit]: sandboxctl py (TOOL is ctl-tool) with a
gateway that does its worst, and with little memory unless no-limit."""
import base64
import hashlib
import http.server
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

from ws import BINARY, GUID, PING

KERNEL = "01234567-89ab-cdef-0123-456789abcdef"
MEMORY = 256 << 20
PATIENCE = 120  # seconds, for what would take hours
FLOOD = 200 << 20


def frame(op, data):
    size = len(data)
    if size < 126:
        head = struct.pack("!BB", 0x80 | op, size)
    elif size < 65536:
        head = struct.pack("!BBH", 0x80 | op, 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | op, 127, size)
    return head + data


def message(channel, kind, parent, content):
    """In the framing of v1.kernel.websocket.jupyter.org; content is text."""
    header = {"msg_id": os.urandom(8).hex(), "msg_type": kind}
    texts = [channel, json.dumps(header), json.dumps(parent), "{}", content]
    at = 8 * 7
    offsets = [6, at]
    for text in texts:
        at += len(text)
        offsets.append(at)
    return struct.pack("<7Q", *offsets) + "".join(texts).encode()


class Guest(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, **reply):
        text = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def drip(self):
        """An answer that comes, and never has come."""
        self.close_connection = True
        self.server.dripping.set()
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not self.server.over.wait(0.2):
                self.wfile.write(b"x")
        except OSError:
            pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/interrupt"):
            self.drip()
        else:
            self.answer(id=KERNEL)

    def do_GET(self):
        if "/channels" not in self.path:
            self.answer()
            return
        self.server.lines += 1
        if self.server.lines > 1:
            self.drip()
            return
        self.upgrade()
        self.close_connection = True
        try:
            self.server.evil(self)
        except OSError:
            pass

    def upgrade(self):
        key = self.headers["Sec-WebSocket-Key"] + GUID
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest())
        self.send_header("Sec-WebSocket-Accept", accept.decode())
        protocol = self.headers["Sec-WebSocket-Protocol"]
        self.send_header("Sec-WebSocket-Protocol", protocol)
        self.end_headers()

    def take_cell(self):
        """The header of the cell that came."""
        head = self.rfile.read(2)
        size = head[1] & 127
        if size > 125:
            size = int.from_bytes(self.rfile.read(2 if size == 126 else 8), "big")
        mask = self.rfile.read(4)
        data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(size)))
        first, last = struct.unpack_from("<2Q", data, 16)
        return json.loads(data[first:last])

    def say(self, channel, kind, parent, content):
        self.wfile.write(frame(BINARY, message(channel, kind, parent, content)))

    def end(self, parent):
        self.say("shell", "execute_reply", parent, '{"status": "ok"}')
        self.say("iopub", "status", parent, '{"execution_state": "idle"}')


def html(guest):
    cell = guest.take_cell()
    data = {"text/html": "a<" * (4 << 20) + "b"}
    guest.say("iopub", "display_data", cell, json.dumps({"data": data}))
    guest.end(cell)


def values(guest):
    cell = guest.take_cell()
    data = '{"data": {"application/json": [%s[]]}}' % ("[]," * 10000000)
    guest.say("iopub", "display_data", cell, data)
    guest.say("iopub", "stream", cell, '{"name": "stdout", "text": "still here"}')
    guest.end(cell)


def pings(guest):
    cell = guest.take_cell()
    many = frame(PING, bytes(125)) * 1000
    for _ in range(FLOOD // len(many)):
        guest.wfile.write(many)
    guest.end(cell)
    guest.server.over.wait()


def outputs(guest):
    cell = guest.take_cell()
    text = json.dumps({"data": {"text/plain": "x" * (1 << 20)}})
    for _ in range(400):
        guest.say("iopub", "display_data", cell, text)
    guest.end(cell)


def files(guest):
    cell = guest.take_cell()
    data = json.dumps({"data": {"image/svg+xml": "<svg/>"}})
    for i in range(10010):
        guest.say("iopub", "execute_input", cell, '{"execution_count": %d}' % i)
        guest.say("iopub", "display_data", cell, data)
    guest.end(cell)


def deaf(guest):
    cell = guest.take_cell()
    guest.say("iopub", "stream", cell, '{"name": "stdout", "text": "go\\n"}')
    guest.server.over.wait()


def leave(guest):
    cell = guest.take_cell()
    guest.say("iopub", "stream", cell, '{"name": "stdout", "text": "go\\n"}')


class Hostile(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.guest = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Guest)
        self.guest.daemon_threads = True
        self.guest.lines = 0
        self.guest.over, self.guest.dripping = threading.Event(), threading.Event()
        threading.Thread(target=self.guest.serve_forever, daemon=True).start()
        self.addCleanup(self.guest.server_close)
        self.addCleanup(self.guest.shutdown)
        self.addCleanup(self.guest.over.set)

    def start(self, evil, *args, memory=MEMORY):
        self.guest.evil = evil
        token, box = (os.path.join(self.dir.name, n) for n in ("token", "box"))
        with open(token, "w") as file:
            file.write("token\n")
        with open(box, "w") as file:
            url = "http://127.0.0.1:%d" % self.guest.server_port
            json.dump({"url": url, "token_file": token}, file)
        child = subprocess.Popen(
            [tool, box, "py", "demo", *args, "1"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: limit_memory(memory) if limit else None,
        )
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def finish(self, child):
        out, err = child.communicate(timeout=PATIENCE)
        self.assertEqual(child.returncode, 0, err)
        return out.decode(), err.decode()

    def test_html(self):
        out, _ = self.finish(self.start(html))
        self.assertEqual(len(out), (8 << 20) + 2)

    def test_values(self):
        out, err = self.finish(self.start(values))
        self.assertEqual(out.strip(), "still here")
        self.assertIn("more than 1000000 values", err)

    def test_pings(self):
        self.finish(self.start(pings))

    def test_outputs(self):
        # 256 MiB are kept, and printed.
        out, _ = self.finish(self.start(outputs, "--json", memory=6 * MEMORY))
        answer = json.loads(out)
        self.assertTrue(answer["truncated"])
        self.assertLess(len(answer["outputs"]), 400)

    def test_files(self):
        pictures = os.path.join(self.dir.name, "pictures")
        out, _ = self.finish(self.start(files, "-o", pictures))
        self.assertEqual(len(os.listdir(pictures)), 10000)
        self.assertEqual(out.count("not saved"), 10)

    def interrupt(self, evil):
        """Nothing that a guest does not say keeps anybody from leaving."""
        child = self.start(evil)
        self.assertEqual(child.stdout.readline(), b"go\n")
        if evil is deaf:
            child.send_signal(signal.SIGINT)
        self.assertTrue(self.guest.dripping.wait(PATIENCE))
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=PATIENCE)
        return child.returncode

    def test_deaf(self):
        self.assertEqual(self.interrupt(deaf), 128 + signal.SIGINT)

    def test_leave(self):
        self.assertGreater(self.interrupt(leave), 0)


def limit_memory(memory):
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    tool = sys.argv[1]
    limit = sys.argv[2:] != ["no-limit"]
    unittest.main(argv=sys.argv[:1])
