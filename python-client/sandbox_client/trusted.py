# SPDX-License-Identifier: Apache-2.0
"""Pickles that the caller said to trust, read in a process of their own.

Even so none of their code runs here: what comes back is typed JSON, and it is
decoded like that of any guest.
"""

import os
import pathlib
import selectors
import signal
import subprocess
import sys
import threading
import time

from sandbox_client.values import ResultError

CHILD = pathlib.Path(__file__).with_name("unpickle.py")


def unpickle(data, limits):
    """Typed JSON of the value; the process is gone afterwards."""
    numbers = [str(limits.memory), str(limits.seconds)]
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", str(CHILD)] + numbers,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,
    )
    feeder = threading.Thread(target=_feed, args=(child.stdin, data), daemon=True)
    feeder.start()
    try:
        return _read(child.stdout, limits)
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass
        child.wait()
        feeder.join()
        child.stdout.close()


def _feed(pipe, data):
    try:
        with pipe:
            pipe.write(data)
    except OSError:
        pass  # it ended early, and says why


def _read(pipe, limits):
    """All that it says, within the limits of time and size."""
    deadline = time.monotonic() + limits.seconds + 5
    parts, room = [], limits.bytes * 2
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(max(0, deadline - time.monotonic())):
            part = os.read(pipe.fileno(), 1 << 16)
            if not part:
                return _answer(b"".join(parts))
            parts.append(part)
            room -= len(part)
            if room < 0:
                raise ResultError("the pickle is too large")
    raise ResultError("the pickle takes too long")


def _answer(text):
    if not text.startswith(b"{"):
        raise ResultError(
            "the pickle cannot be read: %s" % text[:200].decode("ascii", "replace")
        )
    return text
