# SPDX-License-Identifier: Apache-2.0
"""sandboxctl screenshot on terminals that show Sixel, and that do not.
Usage: sixel.py FOLDER SANDBOXCTL [PORT RUN-DIR TOKEN], without these of a guest
that lies."""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from PIL import Image, ImageChops

from desktop import DEADLINE, Desktop

folder, sandboxctl, *guest = sys.argv[1:]
desk = Desktop(int(guest[0]), *guest[1:]) if guest else None
QUESTION = b"\x1b[c"
CAN = b"\x1b[?62;4;22c"


class Terminal:
    """sandboxctl on a pty of its own, with input that waits there already: an
    answer that is late is not one, and a busy machine would be late."""

    def __init__(self, typed, width, *command, term="xterm-256color"):
        self.master, self.slave = os.openpty()
        size = struct.pack("HHHH", 24, 80, width, 0)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, size)
        self.modes = termios.tcgetattr(self.slave)
        self.modes[3] &= ~termios.ECHO  # or what is typed here is said there
        termios.tcsetattr(self.slave, termios.TCSANOW, self.modes)
        os.write(self.master, typed)
        env = {**os.environ, "TERM": term, "TERM_PROGRAM": ""}
        for name in ("TMUX", "STY", "LC_TERMINAL"):
            env.pop(name, None)
        self.said = b""
        self.p = subprocess.Popen(
            command or [sandboxctl, "screenshot", "demo"],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=env,
            cwd=folder,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        os.close(self.master)
        os.close(self.slave)

    def read(self, seconds):
        while select.select([self.master], [], [], seconds)[0]:
            self.said += os.read(self.master, 65536)
            seconds = 0

    def until(self, what):
        end = time.monotonic() + DEADLINE
        while not what():
            assert time.monotonic() < end, self.said[-500:]
            self.read(0.05)

    def end(self):
        """All that was said, when it ended and left the terminal as it was."""
        self.until(lambda: self.p.poll() is not None)
        self.read(0)
        assert termios.tcgetattr(self.slave) == self.modes, "other modes"
        return self.said

    def left(self):
        """What a shell would now read."""
        raw = list(self.modes)
        raw[3] &= ~termios.ICANON
        termios.tcsetattr(self.slave, termios.TCSANOW, raw)
        if not select.select([self.slave], [], [], 0)[0]:
            return b""
        return os.read(self.slave, 4096)


def decode(data):
    """The picture of a Sixel sequence, every pixel of which is set once."""
    whole = re.fullmatch(rb'\x1bP0;1;0q"1;1;(\d+);(\d+)([!-~]*)\x1b\\\r\n', data)
    assert whole, data[:200]
    width, height = int(whole[1]), int(whole[2])
    pixels, palette = {}, {}
    x, top, colour = 0, 0, None
    for number, defined, mark, count, bits in re.findall(
        rb"#(\d+)((?:;\d+){4})?|([$-])|(?:!(\d+))?([?-~])", whole[3]
    ):
        if number:
            colour = int(number)
            if defined:
                kind, *rgb = map(int, defined[1:].split(b";"))
                assert kind == 2 and colour not in palette
                palette[colour] = tuple(n * 255 // 100 for n in rgb)
        elif mark:
            x, top = 0, top + 6 * (mark == b"-")
        else:
            for _ in range(int(count or 1)):
                for row in range(6):
                    if bits[0] - 63 >> row & 1:
                        assert (x, top + row) not in pixels
                        pixels[x, top + row] = palette[colour]
                x += 1
    assert len(pixels) == width * height
    im = Image.new("RGB", (width, height))
    for at, rgb in pixels.items():
        im.putpixel(at, rgb)
    return im


def slope(x, y):
    return (x // 4 & 255, y // 4 & 255, 128)


def is_slope(im, width, height):
    """As seen from afar: the mean of each 4x4 pixels."""
    want = Image.new("RGB", (desk.width, desk.height))
    want.putdata([slope(x, y) for y in range(desk.height) for x in range(desk.width)])
    assert im.size == (width, height), im.size
    few = (width // 4, height // 4)
    diff = ImageChops.difference(
        im.resize(few, Image.BOX), want.resize(few, Image.BOX)
    )
    # A sixteenth of the way from a level to the next is 3.2.
    assert max(diff.tobytes()) <= 6, max(diff.tobytes())


def shown(typed, width, **how):
    with Terminal(typed, width, **how) as t:
        said = t.end()
        assert t.p.returncode == 0 and said.startswith(QUESTION), said[-500:]
        return decode(said[len(QUESTION) :]), t.left()


def a_file(said):
    """Only the name of a picture, after the question."""
    name = re.fullmatch(rb"\x1b\[c(demo-[0-9-]+\.png)\r\n", said)
    assert name, said[:500]
    with Image.open(os.path.join(folder, name[1].decode())) as im:
        assert im.size == (desk.width, desk.height)
    os.unlink(os.path.join(folder, name[1].decode()))


def test_shown():
    with desk.draw("slope", 0, 0, desk.width, desk.height):
        im, left = shown(CAN, desk.width // 2)
        is_slope(im, desk.width // 2, desk.height // 2)
        assert left == b"", left
        # A terminal that does not say how wide it is, and tmux with Sixel.
        im, _ = shown(b"\x1b[?1;2;4c", 0, term="tmux-256color")
        is_slope(im, 640, desk.height * 640 // desk.width)
    with desk.draw("blue", 0, 0, desk.width, desk.height):
        # Never made larger; what is typed after the answer is the shell's.
        im, left = shown(CAN + b"ls\n", 5000)
        assert im.size == (desk.width, desk.height)
        mean = im.resize((1, 1), Image.BOX).getpixel((0, 0))
        assert max(abs(a - b) for a, b in zip(mean, (32, 64, 192))) <= 4, mean
        assert left == b"ls\n", left


def test_not_shown():
    # No Sixel; half an answer; one after too much that is typed; none.
    no_sixel = (b"\x1b[?64;1;2;6;22c", b"\x1b[?4c")
    for typed in (*no_sixel, b"\x1b[?62;4", b"x" * 300 + CAN, b""):
        with Terminal(typed, 640) as t:
            a_file(t.end())
            assert t.p.returncode == 0 and t.left() == b""


def test_killed():
    with Terminal(b"", 640) as t:
        t.until(lambda: QUESTION in t.said)
        t.p.send_signal(signal.SIGTERM)
        t.end()


def test_not_asked():
    """In the background the terminal is another's; and what is not asked for."""
    job = f"{sandboxctl} screenshot demo & wait"
    for command in (
        ["sh", "-mc", job],
        [sandboxctl, "screenshot", "demo", "--json"],
        [sandboxctl, "screenshot", "demo", "-o", "x.png"],
        [sandboxctl, "screenshot", "demo", "--format", "ppm"],
    ):
        with Terminal(CAN, 640, *command) as t:
            said = t.end()
            assert t.p.returncode == 0 and b"\x1b" not in said, said
            assert t.left() == CAN
    with Terminal(CAN, 640, term="dumb") as t:
        assert b"\x1b" not in t.end()
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))


def test_lies():
    with Terminal(CAN, 640) as t:
        said = t.end()
        assert t.p.returncode == 11 and b"came with 9 bytes" in said, said
        assert b"evil" not in said and b"\x1bP" not in said, said
    assert not os.listdir(folder)


TESTS = (test_shown, test_not_shown, test_killed, test_not_asked)
for test in TESTS if desk else (test_lies,):
    test()
