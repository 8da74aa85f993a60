# SPDX-License-Identifier: Apache-2.0
"""A small WebSocket client for the tests, with nothing but the library."""
import base64
import hashlib
import json
import os
import socket
import struct
import time

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
DEADLINE = 20


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


class Closed(Exception):
    def __init__(self, code=None):
        super().__init__(f"closed with {code}")
        self.code = code


class WebSocket:
    def __init__(self, port, path, headers=(), rcvbuf=0, host="127.0.0.1"):
        self.sock = socket.socket()
        if rcvbuf:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.sock.settimeout(DEADLINE)
        self.sock.connect((host, port))
        self.inbuf = b""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {host}:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            *headers,
            "\r\n",
        ]
        self.sock.sendall("\r\n".join(lines).encode())
        while b"\r\n\r\n" not in self.inbuf:
            self._more()
        head, self.inbuf = self.inbuf.split(b"\r\n\r\n", 1)
        status = int(head.split()[1])
        if status != 101:
            raise Refused(status, self.inbuf.decode(errors="replace"))
        want = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest())
        assert want in head, head

    def _more(self):
        data = self.sock.recv(65536)
        if not data:
            raise Closed()
        self.inbuf += data

    def _take(self, n):
        while len(self.inbuf) < n:
            self._more()
        data, self.inbuf = self.inbuf[:n], self.inbuf[n:]
        return data

    def frame(self):
        """The next frame, whatever it is: (opcode, data)."""
        first, second = self._take(2)
        assert first & 0xF0 == 0x80 and not second & 0x80, (first, second)
        n = second
        if n == 126:
            (n,) = struct.unpack(">H", self._take(2))
        elif n == 127:
            (n,) = struct.unpack(">Q", self._take(8))
        return first & 0x0F, self._take(n)

    def recv(self, deadline=DEADLINE):
        """The next message: bytes, or the object of a JSON text."""
        self.sock.settimeout(deadline)
        while True:
            op, data = self.frame()
            if op == PING:
                self.send_frame(PONG, data)
            elif op == CLOSE:
                raise Closed(struct.unpack(">H", data[:2])[0] if data else 0)
            elif op == TEXT:
                return json.loads(data)
            elif op == BINARY:
                return data

    def send_frame(self, op, data, fin=0x80):
        mask = os.urandom(4)
        n = len(data)
        head = bytes([fin | op])
        if n < 126:
            head += bytes([0x80 | n])
        elif n < 65536:
            head += struct.pack(">BH", 0xFE, n)
        else:
            head += struct.pack(">BQ", 0xFF, n)
        key = (mask * (n // 4 + 1))[:n]
        masked = (
            int.from_bytes(data, "big") ^ int.from_bytes(key, "big")
        ).to_bytes(n, "big")
        self.sock.sendall(head + mask + masked)

    def send(self, message):
        """bytes as binary, all else as JSON text."""
        if isinstance(message, bytes):
            self.send_frame(BINARY, message)
        else:
            self.send_frame(TEXT, json.dumps(message).encode())

    def close(self):
        self.sock.close()


def wait_until(what, check, deadline=DEADLINE):
    end = time.monotonic() + deadline
    while True:
        result = check()
        if result:
            return result
        assert time.monotonic() < end, f"gave up on: {what}"
        time.sleep(0.02)
