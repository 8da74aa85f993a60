# SPDX-License-Identifier: Apache-2.0
"""The desktop live, for tests: RFB by hand, and what a page shows of it."""
import struct

from PIL import Image

from ws import WebSocket


class Rfb:
    """A client, as far as the first screen."""

    def __init__(self, port, path, headers=()):
        self.ws = WebSocket(port, path, headers)
        self.data = b""
        assert self.take(12) == b"RFB 003.008\n"
        self.ws.send(b"RFB 003.008\n")
        n = self.take(1)[0]
        assert 1 in self.take(n), "not without a password"
        self.ws.send(b"\x01")
        assert self.take(4) == b"\0\0\0\0"
        self.ws.send(b"\x00")
        self.width, self.height = struct.unpack(">HH", self.take(4))
        self.take(16)
        self.name = self.take(struct.unpack(">I", self.take(4))[0])

    def take(self, n):
        while len(self.data) < n:
            self.data += self.ws.recv()
        part, self.data = self.data[:n], self.data[n:]
        return part

    def point(self, x, y):
        self.ws.send(struct.pack(">BBHH", 5, 0, x, y))

    def picture(self):
        """All of the screen, once: the server has read what came before."""
        self.ws.send(struct.pack(">BxHi", 2, 1, 0))
        self.ws.send(struct.pack(">BBHHHH", 3, 0, 0, 0, self.width, self.height))
        while self.take(1) != b"\0":
            self.take(3)  # a bell or the like has no place in this test
            raise AssertionError("not an update")
        self.take(1)
        for _ in range(struct.unpack(">H", self.take(2))[0]):
            x, y, w, h, encoding = struct.unpack(">HHHHi", self.take(12))
            assert encoding == 0, encoding
            self.take(w * h * 4)


def shows(page, path, colour):
    """Whether much of the page has about that colour; its picture goes to path."""
    page.screenshot(path)
    im = Image.open(path).convert("RGB")
    near = sum(
        n
        for n, c in im.getcolors(im.width * im.height)
        if all(abs(a - b) < 16 for a, b in zip(c, colour))
    )
    return near > 10000
