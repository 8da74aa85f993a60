#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever is sent to its sockets, the kernel stays up and does nothing of
it; then it still runs cells."""
import random
import socket

from kernel_client import *


def refused(k, frames, on=None):
    """Send frames; they lead to no reply.  A good message afterwards does."""
    s = on or k.shell
    s.send_multipart(frames)
    msg_id = k.send("kernel_info_request", on=s)
    m = k.recv(s)
    assert m and m["parent"].get("msg_id") == msg_id, "it was answered"


def resign(k, parts):
    return [DELIMITER, k.sign(parts)] + parts


def test_signatures():
    with Kernel(stderr=subprocess.DEVNULL) as k:
        _, good = k.frames("execute_request", {"code": "raise SystemExit"})
        for sig in (b"", b"0" * 64, b"0" * 63, b"x" * 64, good[1][:-1],
                    good[1] + b"0", good[1].upper()[:32] + b"G" * 32,
                    b"\0" * 64):
            refused(k, [DELIMITER, sig] + good[2:])
        # What was signed is what counts.
        for i in range(2, 6):
            changed = list(good)
            changed[i] = changed[i].replace(b"{", b"{ ", 1)
            refused(k, changed)
        assert k.alive()


def test_replay():
    with Kernel(stderr=subprocess.DEVNULL) as k:
        msg_id, frames = k.frames("execute_request", {
            "code": "n = globals().get('n', 0) + 1", "silent": False})
        k.shell.send_multipart(frames)
        k.reply(msg_id)
        for sock in k.shell, k.control, k.shell:
            refused(k, frames, on=sock)
        r, out = k.run("print(n)")
        assert text(out) == "1\n"


def test_frames():
    with Kernel(stderr=subprocess.DEVNULL) as k:
        _, good = k.frames("kernel_info_request")
        for sock in k.shell, k.control:
            for n in range(len(good)):
                refused(k, good[:n] or [b""], on=sock)
            refused(k, [b""] * 3000, on=sock)
            refused(k, [DELIMITER] * 6, on=sock)
            refused(k, [b"id"] * 17 + good, on=sock)
            refused(k, good[1:], on=sock)
        assert k.alive()


def test_types():
    """Signed by somebody who has the key, and still nonsense."""
    with Kernel(stderr=subprocess.DEVNULL) as k:
        _, good = k.frames("execute_request", {"code": "1"})
        nonsense = [b"", b"null", b"[]", b"1", b'"x"', b"{", b"{}x", b"\xff",
                    b'{"msg_type": 1}', b'{"msg_type": ""}', b'{"a":1,"a":2}',
                    b'{"msg_type": "%s"}' % (b"x" * 1000), b"[" * 100000]
        for bad in nonsense:
            parts = good[2:]
            parts[0] = bad
            refused(k, resign(k, parts))
        for bad in (b"", b"null", b"[]", b"1", b'"x"'):
            for i in 2, 3:
                parts = k.frames("execute_request", {"code": "1"})[1][2:]
                parts[i] = bad
                refused(k, resign(k, parts))
        assert k.alive()


def test_contents():
    """Objects, but not what the request wants: it ends, one way or another."""
    with Kernel(stderr=subprocess.DEVNULL) as k:
        for kind in ("kernel_info", "comm_info", "interrupt", "connect"):
            for content in (b'{"target_name": 3}', b"{", b'{"x": \xff}',
                            b'{"restart": []}', b"{" * 1000):
                parts = k.frames(kind + "_request")[1][2:]
                parts[3] = content
                k.shell.send_multipart(resign(k, parts))
                msg_id = json.loads(parts[0])["msg_id"]
                assert k.reply(msg_id)["type"] == kind + "_reply"
        assert k.alive()


def test_huge():
    with Kernel(stderr=subprocess.DEVNULL) as k:
        for which, size in (("control", 20 << 20), ("hb", 1 << 20),
                            ("iopub", 10000), ("stdin", 70 << 20)):
            s = k.connect(zmq.DEALER if which != "iopub" else zmq.XSUB, which)
            s.send(b"\1" + b"x" * size)
            assert k.alive(), which
            s.close()
        code = "x = 1 #" + "y" * (20 << 20)
        r, out = k.run(code)
        assert r["content"]["status"] == "ok"


def test_garbage_on_every_socket():
    rng = random.Random(4)
    with Kernel(stderr=subprocess.DEVNULL) as k:
        for which in CHANNELS:
            for _ in range(20):
                s = k.connect(zmq.XSUB if which == "iopub" else zmq.DEALER,
                              which)
                for _ in range(5):
                    s.send_multipart([rng.randbytes(rng.choice((0, 1, 9, 999)))
                                      for _ in range(rng.randint(1, 9))])
                s.close(100)
            for head in b"", b"GET / HTTP/1.0\r\n\r\n", b"\xff" + b"\0" * 8 + \
                    b"\x7f\3\0NULL" + b"\0" * 48:
                with socket.create_connection(
                        ("127.0.0.1", k.info[which + "_port"])) as raw:
                    raw.sendall(head + rng.randbytes(1000))
        assert k.alive()


def test_stdin_unasked():
    with Kernel(stderr=subprocess.DEVNULL) as k:
        for kind in ("input_reply", "execute_request", "kernel_info_request",
                     "shutdown_request"):
            k.send(kind, {"value": "x", "code": "raise SystemExit"},
                   on=k.stdin)
        assert k.alive()


def test_many_that_wait():
    """Requests beyond what is kept wait in the socket; all are answered."""
    with Kernel() as k:
        fifo = os.path.join(k.dir.name, "fifo")
        os.mkfifo(fifo)
        k.execute("open(%r).read()" % fifo)
        ids = [k.execute("0", silent=True) for _ in range(6000)]
        assert k.reply(k.send("kernel_info_request", on=k.control),
                       on=k.control)
        with open(fifo, "w") as f:
            f.write("x")
        for msg_id in ids:
            assert k.reply(msg_id)["content"]["status"] == "ok"


main(globals())
