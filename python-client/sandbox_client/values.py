# SPDX-License-Identifier: Apache-2.0
"""What a decoded result is made of, besides Python's own types."""

import dataclasses
import typing


class ResultError(ValueError):
    """The result is malformed, or larger than allowed."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a result may cost; all of it is checked before anything is built."""

    bytes: int = 256 << 20  # of all buffers, and again of all text
    depth: int = 72  # 64, and what a frame adds
    nodes: int = 201000  # 200,000, and the marks of what was left out
    digits: int = 1000000  # hexadecimal, of one int
    memory: int = 512 << 20  # of the process that reads a trusted pickle
    seconds: int = 10  # of the same


class Remote:
    """A value that stayed in the sandbox.

    type and repr are the sandbox's words for it: text, and nothing else.
    data has what came with it, such as its mime bundle; reason says why it was
    left out, if it was.
    """

    __slots__ = ("type", "repr", "data", "reason")

    def __init__(self, type, repr="", data=None, reason=None):
        self.type = type
        self.repr = repr
        self.data = data
        self.reason = reason

    def __repr__(self):
        return "<%s: %s>" % (clean(self.type), clean(self.reason or self.repr))


class Image(typing.NamedTuple):
    """A picture as a file; nothing here opens it."""

    mime: str
    size: tuple
    mode: str
    data: bytes


def clean(text):
    """The text with escapes for what a terminal must not see."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode()
        for c in text
    )
