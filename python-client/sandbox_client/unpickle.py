# SPDX-License-Identifier: Apache-2.0
"""The process that reads a trusted pickle: MEMORY and SECONDS, pickle on stdin.

It writes typed JSON as sandbox-kernel(1) describes it, or a line that says why
not.  It imports nothing of ours: it runs isolated.
"""

import sys

REFUSED = ("EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID")
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_NO_NEW_PRIVS = 38
DEPTH = 64
NODES = 200000


def confine(memory, seconds):
    """Give up what reading a value does not need."""
    import resource

    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        # No network; where users may not have namespaces it stays as it is.
        if libc.unshare(CLONE_NEWNET):
            libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)
    except (ImportError, OSError, AttributeError):
        pass
    for name, value in (
        ("AS", memory),
        ("CPU", seconds),
        ("NOFILE", 32),
        ("NPROC", 0),
        ("FSIZE", 0),
        ("CORE", 0),
    ):
        kind = getattr(resource, "RLIMIT_" + name)
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def scan(data):
    """Refuse what goes around find_class before anything is built."""
    import pickletools

    for opcode, _, _ in pickletools.genops(data):
        if opcode.name in REFUSED:
            raise ValueError("opcode " + opcode.name)


class Encoder:
    """The exact types only; all else is an object with its repr."""

    def __init__(self):
        self.buffers = []
        self.nodes = NODES

    def node(self, value, depth=0):
        self.nodes -= 1
        kind = type(value)
        if depth > DEPTH or self.nodes < 0:
            raise ValueError("too large")
        if value is None or kind in (bool, str, float, int):
            return self._simple(value, kind)
        if kind in (bytes, bytearray):
            return {"t": kind.__name__, "b": self._buffer(value)}
        if kind is list:
            return self._items(value, depth)
        if kind in (tuple, set, frozenset):
            return {"t": kind.__name__, "v": self._items(value, depth)}
        if kind is dict:
            return {"t": "dict", "v": [self._items(p, depth) for p in value.items()]}
        if kind is complex:
            return {"t": "complex", "v": self._items((value.real, value.imag), depth)}
        if kind is range:
            parts = (value.start, value.stop, value.step)
            return {"t": "range", "v": self._items(parts, depth)}
        return self._other(value, kind, depth)

    def _items(self, values, depth):
        return [self.node(value, depth + 1) for value in values]

    def _buffer(self, data):
        import binascii

        self.buffers.append(binascii.b2a_base64(data, newline=False).decode())
        return len(self.buffers) - 1

    def _simple(self, value, kind):
        if kind is str:
            try:
                value.encode()
            except UnicodeEncodeError:
                data = value.encode("utf-8", "surrogatepass")
                return {"t": "str", "b": self._buffer(data)}
        elif kind is int and abs(value) > 1 << 53:
            return {"t": "int", "v": hex(value)}
        elif kind is float and value - value != 0:
            return {"t": "float", "v": str(value)}
        return value

    def _other(self, value, kind, depth):
        name = "%s.%s" % (kind.__module__, kind.__qualname__)
        if name in ("datetime.datetime", "datetime.date", "datetime.time"):
            return {"t": kind.__name__, "v": value.isoformat()}
        if name == "datetime.timedelta":
            parts = [value.days, value.seconds, value.microseconds]
            return {"t": "timedelta", "v": parts}
        if name in ("decimal.Decimal", "uuid.UUID"):
            return {"t": kind.__name__.lower(), "v": str(value)}
        if name == "fractions.Fraction":
            parts = (value.numerator, value.denominator)
            return {"t": "fraction", "v": self._items(parts, depth)}
        if name in ("pathlib.PosixPath", "pathlib.PurePosixPath"):
            return {"t": "path", "v": self.node(str(value), depth + 1)}
        text = repr(value)[:4096].encode("utf-8", "backslashreplace").decode()
        return {"t": "object", "type": name, "repr": text}


def main():
    import json
    import os
    import pickle

    confine(int(sys.argv[1]), int(sys.argv[2]))
    # What the pickle prints must not be taken for the answer.
    answer = os.dup(1)
    os.dup2(2, 1)
    try:
        data = sys.stdin.buffer.read()
        scan(data)
        encoder = Encoder()
        value = encoder.node(pickle.loads(data))
        text = json.dumps({"version": 1, "value": value, "buffers": encoder.buffers})
    except BaseException as error:
        text = ascii("%s: %s" % (type(error).__name__, error))[1:200]
    view = memoryview(text.encode())
    while view:
        view = view[os.write(answer, view) :]
    os._exit(0)


if __name__ == "__main__":
    main()
