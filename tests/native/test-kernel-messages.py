#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel's messages, on plain ZeroMQ: framing, order, every request that
it answers by itself, and how it begins and ends."""
import re
import signal
import stat

from kernel_client import *

HOLD = """
import ctypes, os
print("held", flush=True)
_ = ctypes.PyDLL(None).read(os.open(%r, os.O_RDONLY), ctypes.create_string_buffer(1), 1)
"""


def states(messages):
    return [(m["parent"].get("msg_id"), m["content"]["execution_state"])
            for m in messages if m["type"] == "status"]


def test_framing():
    with Kernel() as k:
        msg_id, frames = k.frames("kernel_info_request")
        k.shell.send_multipart(frames)
        reply = k.reply(msg_id)
        assert reply["type"] == "kernel_info_reply"
        assert reply["ids"] == []
        assert reply["parent"] == json.loads(frames[2])
        header = reply["header"]
        assert set(header) == {"msg_id", "msg_type", "username", "session",
                               "date", "version"}
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",
                            header["date"])
        assert tuple(map(int, header["version"].split("."))) >= (5, 3)
        outputs = k.outputs(msg_id)
        assert [m["type"] for m in outputs] == ["status", "status"]
        ids = [m["header"]["msg_id"] for m in outputs + [reply]]
        assert len(set(ids)) == 3
        assert {m["header"]["session"] for m in outputs} == \
            {header["session"]}
        assert outputs[0]["ids"][0].endswith(b"status")


def test_kernel_info():
    with Kernel() as k:
        for sock in k.shell, k.control:
            msg_id = k.send("kernel_info_request", on=sock)
            c = k.reply(msg_id, on=sock)["content"]
            assert c["status"] == "ok"
            assert c["language_info"]["name"] == "python"
            assert c["language_info"]["file_extension"] == ".py"
            assert c["protocol_version"] and c["implementation"]
            assert states(k.outputs(msg_id)) == [(msg_id, "busy"),
                                                 (msg_id, "idle")]


def test_answers_while_the_gil_is_held():
    with Kernel() as k:
        fifo = os.path.join(k.dir.name, "fifo")
        os.mkfifo(fifo)
        cell = k.execute(HOLD % fifo)
        k.wait_text("held")
        for sock in k.shell, k.control:
            for kind in "kernel_info", "comm_info", "connect":
                msg_id = k.send(kind + "_request", on=sock)
                r = k.reply(msg_id, on=sock)
                assert r["type"] == kind + "_reply"
                assert r["content"]["status"] == "ok"
        hb = k.connect(zmq.REQ, "hb")
        hb.send(b"ping")
        assert hb.poll(LIMIT * 1000) and hb.recv() == b"ping"
        # The cell still runs: only now it is let go.
        with open(fifo, "wb") as f:
            f.write(b"x")
        assert k.reply(cell)["content"]["status"] == "ok"


def test_welcome():
    with Kernel() as k:
        for topic in b"", b"kernel.", b"none such":
            s = k.subscribe(topic=topic)
            m = k.recv(s)
            assert m["type"] == "iopub_welcome"
            assert m["content"] == {"subscription": topic.decode()}
            assert m["parent"] == {}
            assert m["ids"] == [topic]


def test_order_of_pipelined_requests():
    with Kernel() as k:
        ids = [k.execute("print(%d)" % i) for i in range(20)]
        got = []
        while len(got) < 60:
            m = k.recv(k.iopub)
            if m["type"] in ("status", "stream"):
                got.append((m["parent"]["msg_id"], m["type"],
                            m["content"].get("execution_state") or
                            m["content"]["text"]))
        want = []
        for i, msg_id in enumerate(ids):
            want += [(msg_id, "status", "busy"),
                     (msg_id, "stream", "%d\n" % i),
                     (msg_id, "status", "idle")]
        assert got == want, got
        for msg_id in ids:
            assert k.recv(k.shell)["parent"]["msg_id"] == msg_id


def test_abort_after_error():
    with Kernel() as k:
        fifo = os.path.join(k.dir.name, "fifo")
        os.mkfifo(fifo)
        first = k.execute("open(%r).read(); 1/0" % fifo)
        others = [k.execute("print('never')") for _ in range(3)]
        k.reply(k.send("kernel_info_request"))  # all of them have arrived
        with open(fifo, "w") as f:
            f.write("x")
        r = k.reply(first)
        assert r["content"]["status"] == "error"
        assert r["content"]["ename"] == "ZeroDivisionError"
        for msg_id in others:
            assert k.reply(msg_id)["content"]["status"] == "aborted"
            assert [m["type"] for m in k.outputs(msg_id)] == \
                ["status", "status"]
        assert k.alive()


def test_publish_with_buffers_and_metadata():
    with Kernel() as k:
        r, out = k.run(
            "from sandbox_kernel import _core\n"
            "_core.publish('display_data', {'data': {'text/plain': 'x'},"
            " 'metadata': {}, 'transient': {}}, metadata={'a': 1},"
            " buffers=[b'one', memoryview(b'two'), bytearray(3)])")
        m = next(m for m in out if m["type"] == "display_data")
        assert m["metadata"] == {"a": 1}
        assert m["buffers"] == [b"one", b"two", b"\0\0\0"]
        r, out = k.run("_core.publish('no spaces', {})")
        assert r["content"]["ename"] == "ValueError"
        r, out = k.run("_core.publish('x', {'x': object()})")
        assert r["content"]["ename"] == "TypeError"


def test_unsigned():
    with Kernel(key="") as k:
        assert k.alive()
        k.shutdown()


def test_input():
    with Kernel() as k:
        cell = k.execute("from sandbox_kernel import _core\n"
                         "print('before', flush=True)\n"
                         "print(_core.input('who? ', password=True))",
                         allow_stdin=True)
        m = k.recv(k.stdin)
        assert m["type"] == "input_request"
        assert m["content"] == {"prompt": "who? ", "password": True}
        assert m["parent"]["msg_id"] == cell
        k.send("input_reply", {"value": "J\u00fcrgen \u20ac"}, on=k.stdin)
        assert text(k.outputs(cell)) == "before\nJ\u00fcrgen \u20ac\n"
        assert k.reply(cell)["content"]["status"] == "ok"
        # One that nobody asked for is not kept for the next question.
        k.send("input_reply", {"value": "stale"}, on=k.stdin)
        k.reply(k.send("kernel_info_request", on=k.control), on=k.control)
        cell = k.execute("print(_core.input(''))", allow_stdin=True)
        assert k.recv(k.stdin)["type"] == "input_request"
        k.send("input_reply", {"value": "fresh"}, on=k.stdin)
        assert text(k.outputs(cell)) == "fresh\n"
        r, out = k.run("_core.input('no')")
        assert r["content"]["status"] == "error"


def test_comm_info():
    with Kernel() as k:
        k.run("from sandbox_kernel import _core as c\n"
              "c.comm_add('one', 'a'); c.comm_add('two', 'b')\n"
              "c.comm_add('three', 'a'); c.comm_remove('three')")

        def ask(**content):
            r = k.reply(k.send("comm_info_request", content))
            return r["content"]["comms"]
        assert ask() == {"one": {"target_name": "a"},
                         "two": {"target_name": "b"}}
        assert ask(target_name="b") == {"two": {"target_name": "b"}}


def test_connection_file():
    with Kernel() as k:
        assert stat.S_IMODE(os.stat(k.file).st_mode) == 0o600
        assert k.info["key"] == "a-key" and k.info["kernel_name"] == ""
        ports = [k.info[c + "_port"] for c in CHANNELS]
        assert len(set(ports)) == 5
        c = k.reply(k.send("connect_request"))["content"]
        assert [c[n + "_port"] for n in CHANNELS] == ports


def test_bad_connection_files():
    for content in (None, b"", b"[]", b"{", b'{"ip": 3}',
                    b'{"transport": "udp"}', b'{"shell_port": -1}',
                    b'{"key": "x", "signature_scheme": "hmac-md5"}',
                    b'{"key": "%s"}' % (b"k" * 300)):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "c.json")
            if content is not None:
                with open(path, "wb") as f:
                    f.write(content)
            p = subprocess.run([sys.executable, "-m", "sandbox_kernel", "-f",
                                path], env=kernel_env(), timeout=LIMIT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            assert p.returncode == 1, (content, p)


def test_shutdown():
    for restart in False, True:
        with Kernel() as k:
            r = k.shutdown(restart)
            assert r["type"] == "shutdown_reply"
            assert r["content"] == {"status": "ok", "restart": restart}
            assert k.process.returncode == 0
            found = [m for m in iter(lambda: k.recv(k.iopub, 0), None)
                     if m["type"] == "shutdown_reply"]
            assert len(found) == 1


def test_shutdown_while_a_cell_runs():
    with Kernel() as k:
        k.execute("print('begun', flush=True)\nimport time\n"
                  "while True:\n"
                  "  try: time.sleep(100)\n"
                  "  except KeyboardInterrupt: pass")
        k.wait_text("begun")
        k.shutdown()


def test_output_of_exit_handlers():
    with Kernel() as k:
        k.run("import atexit; atexit.register(print, 'good', 'bye')")
        k.send("shutdown_request", on=k.control)
        k.wait_text("good bye")


def test_ends_with_its_launcher():
    code = ("import os, subprocess, sys\n"
            "env = {**os.environ, 'JPY_PARENT_PID': str(os.getpid())}\n"
            "p = subprocess.Popen(sys.argv[1:], env=env)\n"
            "print(p.pid, flush=True); p.wait()")
    with Kernel([sys.executable, "-c", code, sys.executable, "-m",
                 "sandbox_kernel", "-f"], stdout=subprocess.PIPE) as k:
        pid = int(k.process.stdout.readline())
        assert k.alive()
        k.process.send_signal(signal.SIGKILL)
        k.process.wait()

        def gone():
            try:
                with open("/proc/%d/stat" % pid) as f:
                    return f.read().rsplit(")", 1)[1].split()[0] == "Z"
            except OSError:
                return True
        wait_until(gone, "the end of the kernel")


def test_launcher_that_has_ended():
    gone = subprocess.Popen(["true"])
    gone.wait()
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "c.json")
        with open(path, "w") as f:
            f.write("{}")
        p = subprocess.run([sys.executable, "-m", "sandbox_kernel", "-f", path],
                           env=kernel_env(JPY_PARENT_PID=str(gone.pid)),
                           stderr=subprocess.PIPE, timeout=LIMIT)
        assert p.returncode == 1 and b"JPY_PARENT_PID" in p.stderr


def test_values():
    code = r"""
import json, math
from sandbox_kernel import _core as c
good = [None, True, False, 0, -1, 2**63, -2**200, 1.5, -0.0, 1e300, "", "a",
        "\"\\/\b\f\n\r\t\0\x1f", "\u20ac\U0001f600", [], [[]], {}, {"a": {}},
        [1, [2, {"b": [None]}]], {"x\n": "y"}]
for v in good:
    assert json.loads(c.encode(v)) == v, v
    assert c.decode(c.encode(v)) == v, v
    for ascii in True, False:
        assert c.decode(json.dumps(v, ensure_ascii=ascii)) == v, v
    assert c.decode(" \t\r\n" + json.dumps(v, indent=1) + "\n") == v
assert c.encode((1, 2)) == "[1,2]"
assert json.loads(c.encode({1: 2, None: 3, 2.5: 4})) == \
    {"1": 2, "null": 3, "2.5": 4}
assert c.encode(b"\0\xff") == '"AP8="'
assert c.encode(float("nan")) == '"nan"'
assert c.encode("\ud800") == r'"\\ud800"'
assert c.decode('"\\ud83d\\ude00"') == "\U0001f600"
assert c.decode('"\\ud83d"') == "\ud83d"
assert c.decode('"\\ud83d\\u0041"') == "\ud83dA"
assert math.isnan(c.decode("NaN")) and c.decode("-Infinity") == -math.inf
bad = ["", " ", "{", "[", "[1", "[1,", "[1,]", "{1:2}", '{"a"}', '{"a":}',
       '{"a":1,}', '"', '"\\x"', '"\\u12"', "tru", "nul", "+", "-", "1e", "--1",
       "1 2", "[1] x", "01x", "[" * 10000, "9" * 5000]
for text in bad:
    try:
        c.decode(text)
    except ValueError:
        continue
    raise AssertionError(text[:20])
deep = []
for _ in range(10000):
    deep = [deep]
loop = []
loop.append(loop)
for v, kind in (deep, ValueError), (loop, ValueError), (object(), TypeError), \
        ({1: {2: {3}}}, TypeError):
    try:
        c.encode(v)
    except kind:
        continue
    raise AssertionError(kind)
"""
    subprocess.run([sys.executable, "-c", code], env=kernel_env(), check=True)


main(globals())
