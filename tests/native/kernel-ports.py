# SPDX-License-Identifier: Apache-2.0
"""kernel-ports.py URL TOKEN PID CASE...: jupyter_client on the TCP ports that
guestd (PID) has for its default kernel, or on those of a connection file,
$CONNECTION_FILE."""
import contextlib
import json
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request

import zmq
from jupyter_client import BlockingKernelClient

url, token, guestd = sys.argv[1], sys.argv[2], int(sys.argv[3])
LIMIT = 60
PORTS = ("shell_port", "control_port", "stdin_port", "iopub_port", "hb_port")
MOST = 64  # connections to one kernel


def rest(method, path, want=200):
    request = urllib.request.Request(
        url + path, method=method, data=b"" if method == "POST" else None,
        headers={"Authorization": "token " + token})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as r:
            status, body = r.status, r.read()
    except urllib.error.HTTPError as e:
        status, body = e.code, e.read()
    assert status == want, (method, path, status, body)
    return json.loads(body) if body else None


def until(fn, what):
    end = time.monotonic() + LIMIT
    while not fn():
        assert time.monotonic() < end, "gave up on: " + what
        time.sleep(0.05)


def ports(kernel="default"):
    if "CONNECTION_FILE" in os.environ:
        with open(os.environ["CONNECTION_FILE"]) as file:
            return json.load(file)
    return rest("POST", f"/v1/kernels/{kernel}/ports")


def client(info):
    c = BlockingKernelClient()
    c.load_connection_info({**info, "key": info["key"].encode()})
    c.start_channels()
    c.wait_for_ready(timeout=LIMIT)
    return c


def run(c, code, hook=None, **more):
    """Gives status of the reply, and all text."""
    out = []

    def keep(m):
        if m["header"]["msg_type"] == "stream":
            out.append(m["content"]["text"])
        if hook:
            hook(m)

    reply = c.execute_interactive(code, timeout=LIMIT, output_hook=keep, **more)
    return reply["content"], "".join(out)


def test_cells():
    info = ports()
    assert ports() == info, "not the same when asked again"
    assert info["transport"] == "tcp" and info["ip"] == "127.0.0.1", info
    assert ports(info["kernel_id"]) == info, "not the default kernel's"
    c = client(info)
    assert run(c, "x = 20; print('over tcp')")[1] == "over tcp\n"
    assert run(c, "print(x + 3)")[1] == "23\n"
    reply, text = run(c, "print(input('who? '))", allow_stdin=True,
                      stdin_hook=lambda m: c.input("me"))
    assert text == "me\n", (reply, text)
    until(c.hb_channel.is_beating, "heartbeat")
    second = client(info)
    assert run(second, "print(x)")[1] == "20\n", "not the same kernel"
    second.stop_channels()
    c.stop_channels()
    rest("POST", "/v1/kernels/none/ports", 404)
    rest("DELETE", "/v1/kernels/none/ports", 404)


def test_wrong_key():
    """Who does not know the key gets no answer."""
    info = ports()
    c = BlockingKernelClient()
    c.load_connection_info({**info, "key": b"0" * 64})
    c.start_channels()
    c.execute("evil = True")
    good = client(info)
    assert run(good, "print('evil' in globals())")[1] == "False\n"
    c.stop_channels()
    good.stop_channels()


def test_interrupt():
    c = client(ports())

    def hook(m):
        if m["content"].get("text") == "go\n":
            c.control_channel.send(c.session.msg("interrupt_request", {}))

    reply, _ = run(c, "print('go', flush=True)\nwhile True: pass", hook)
    assert reply["ename"] == "KeyboardInterrupt", reply
    c.stop_channels()


def test_output():
    """100 MB, more than any buffer on the way holds."""
    c = client(ports())
    size = []

    def hook(m):
        if m["header"]["msg_type"] == "stream":
            size.append(len(m["content"]["text"]))

    reply = c.execute_interactive(
        "for i in range(100): print('x' * 999_999)", timeout=LIMIT,
        output_hook=hook)
    assert reply["content"]["status"] == "ok", reply
    assert sum(size) == 100_000_000, sum(size)
    # And as much the other way.
    data = "y" * 20_000_000
    assert run(c, f"print(len('{data}'))")[1] == "20000000\n"
    c.stop_channels()


def subscribe(info):
    """A plain subscriber, with little room of its own."""
    s = zmq.Context.instance().socket(zmq.SUB)
    s.linger, s.rcvhwm, s.rcvbuf, s.rcvtimeo = 0, 1, 4096, LIMIT * 1000
    s.subscribe(b"")
    s.connect(f"tcp://{info['ip']}:{info['iopub_port']}")
    return s


def receive(s):
    """Type of the next message, id of what it is about, and its content."""
    frames = s.recv_multipart()
    header, about, _, content = map(
        json.loads, frames[frames.index(b"<IDS|MSG>") + 2:][:4])
    return header["msg_type"], about.get("msg_id"), content


def test_slow():
    """A subscriber that does not read stalls nobody, and misses nothing."""
    info = ports()
    slow = subscribe(info)
    while receive(slow)[0] != "iopub_welcome":
        pass
    c = client(info)
    text = "".join(f"{i:05}" * 2000 + "\n" for i in range(3000))
    cell = []
    reply, got = run(c, "for i in range(3000): print(f'{i:05}' * 2000)",
                     lambda m: cell.append(m["parent_header"]["msg_id"]))
    assert reply["status"] == "ok" and got == text, (reply, len(got))
    got, content = [], {}
    while content.get("execution_state") != "idle":
        kind, about, content = receive(slow)
        if about != cell[0]:
            content = {}
        elif kind == "stream":
            got.append(content["text"])
    assert "".join(got) == text, len("".join(got))
    slow.close()
    c.stop_channels()


def again(c, text):
    """The client goes on where the kernel does; what it asked of the old one
    may be lost."""
    def works():
        try:
            return run_soon(c, text)
        except TimeoutError:
            return False

    until(works, "the kernel after its restart")


def run_soon(c, text):
    out = []
    c.execute_interactive(f"print({text!r})", timeout=2, output_hook=lambda m:
                          out.append(m["content"].get("text")))
    return text + "\n" in out


def test_restart():
    info = ports()
    c = client(info)
    run(c, "old = 1")
    rest("POST", f"/api/kernels/{info['kernel_id']}/restart")
    assert ports() == info, "other ports or key"
    again(c, "restarted")
    assert run(c, "print('old' in globals())")[1] == "False\n"
    # The kernel is killed: the same id, with the same ports.
    pid = rest("GET", f"/api/kernels/{info['kernel_id']}")["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: rest("GET", f"/api/kernels/{info['kernel_id']}")
          ["execution_state"] == "dead", "death")
    rest("POST", f"/api/kernels/{info['kernel_id']}/restart")
    again(c, "revived")
    assert ports() == info
    c.stop_channels()


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=LIMIT)


def is_cut(s):
    """Whether guestd closed it, rather than the kernel's greeting came."""
    try:
        return s.recv(1) == b""
    except ConnectionResetError:
        return True


def descriptors():
    return len(os.listdir(f"/proc/{guestd}/fd"))


def test_limits():
    info = ports()
    before = descriptors()
    all_of = [connect(info["shell_port"]) for _ in range(MOST)]
    assert not any(map(is_cut, all_of)), "fewer than there may be"
    assert is_cut(connect(info["hb_port"])), "more than there may be"
    for s in all_of:
        s.close()
    until(lambda: descriptors() <= before, "descriptors of connections")
    c = client(info)
    assert run(c, "print(1)")[1] == "1\n"
    c.stop_channels()


def test_foreign_socket():
    """Something else in the place of the kernel's socket is left alone."""
    info = ports()
    run_dir = os.environ["RUN_DIR"]
    path = f"{run_dir}/kernels/{info['kernel_id']}/s-5"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path + ".other")
        other.listen()
        other.settimeout(0)
        os.rename(path, path + ".kept")
        os.symlink(path + ".other", path)
        assert is_cut(connect(info["hb_port"])), "a link was followed"
        try:
            other.accept()
            raise AssertionError("a link was followed")
        except BlockingIOError:
            pass
        os.rename(path + ".kept", path)
    s = connect(info["hb_port"])
    assert not is_cut(s), "the kernel's own is not found"
    s.close()


@contextlib.contextmanager
def pretend():
    """A client, and we in the place of the kernel's heartbeat."""
    info = ports()
    path = f"{os.environ['RUN_DIR']}/kernels/{info['kernel_id']}/s-5"
    os.rename(path, path + ".kept")
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            server.listen()
            server.settimeout(LIMIT)
            c = connect(info["hb_port"])
            kernel = server.accept()[0]
        kernel.settimeout(LIMIT)
        with c, kernel:
            c.sendall(b"hello")
            assert take(kernel, 5) == b"hello"
            yield c, kernel
    finally:
        os.unlink(path)
        os.rename(path + ".kept", path)


def take(s, most=1 << 30):
    """So many bytes, fewer only at the end."""
    got = bytearray()
    while len(got) < most and (more := s.recv(min(most - len(got), 1 << 20))):
        got += more
    return got


def send_most(s, data):
    """What the other side takes without reading; returns how much."""
    s.setblocking(False)
    sent = 0
    with contextlib.suppress(BlockingIOError):
        while sent < len(data):
            sent += s.send(data[sent:])
    return sent


def test_cut():
    """A connection ends while there is much on its way, either way."""
    data = bytes(32 << 20)
    for sender in 0, 1:
        with pretend() as pair:
            send_most(pair[sender], data)
            rest("DELETE", f"/v1/kernels/{ports()['kernel_id']}/ports", 204)
            with contextlib.suppress(ConnectionResetError):
                take(pair[1 - sender])
    rest("GET", "/api/kernels")


def test_bytes():
    """What the kernel says does not wait for the client, and is whole."""
    data = os.urandom(32 << 20)
    with pretend() as (c, kernel):
        kernel.sendall(data)
        kernel.close()
        # It is not there to take this.
        c.sendall(b"more")
        assert take(c) == data
    with pretend() as (c, kernel):
        c.shutdown(socket.SHUT_WR)
        assert kernel.recv(1) == b""
        kernel.sendall(data)
        kernel.close()
        assert take(c) == data
    # In turns: some of it in memory, some in a file, some in none.
    with pretend() as (c, kernel):
        at, took = 0, 0
        for n in (1, 9 << 20, 100, 12 << 20, 3 << 20):
            kernel.sendall(data[at:at + n])
            at += n
            half = (at - took) // 2
            assert take(c, half) == data[took:took + half], n
            took += half
        kernel.close()
        assert take(c) == data[took:at]
    # The other way it is the client who waits.
    with pretend() as (c, kernel):
        sent = send_most(c, data)
        assert sent < len(data), "nothing holds the client back"
        c.close()
        assert take(kernel) == data[:sent]


def test_bound():
    """Who is too far behind is cut off, and the kernel goes on: guestd keeps
    8 MiB."""
    data = os.urandom(1 << 20)
    with pretend() as (c, kernel):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(256):
                kernel.sendall(data)
            raise AssertionError("there is no bound")
        # Whole up to where it ends.
        got = take(c)
        assert got == (data * 256)[:len(got)]
    c = client(ports())
    assert run(c, "print('goes on')")[1] == "goes on\n"
    c.stop_channels()


def test_close():
    info = ports()
    c = client(info)
    s = connect(info["iopub_port"])
    assert not is_cut(s)
    rest("DELETE", f"/v1/kernels/{info['kernel_id']}/ports", 204)
    while s.recv(4096):
        pass
    c.stop_channels()
    for name in PORTS:
        try:
            connect(info[name])
            raise AssertionError("still open: " + name)
        except ConnectionRefusedError:
            pass
    rest("DELETE", f"/v1/kernels/{info['kernel_id']}/ports", 204)
    # The kernel goes on, and gets ports again; with it they end.
    c = client(ports())
    assert run(c, "print(5)")[1] == "5\n"
    before = descriptors()
    info = ports()
    rest("DELETE", f"/api/kernels/{info['kernel_id']}", 204)
    try:
        connect(info["hb_port"])
        raise AssertionError("open without a kernel")
    except ConnectionRefusedError:
        pass
    until(lambda: descriptors() < before - len(PORTS), "descriptors")
    c.stop_channels()


def test_leave():
    print(json.dumps(ports()))


def test_found():
    info = json.loads(os.environ["LEFT"])
    c = client(info)
    assert run(c, "print('found')")[1] == "found\n"
    assert ports(info["kernel_id"]) == info
    c.stop_channels()


for case in sys.argv[4:]:
    globals()["test_" + case]()
