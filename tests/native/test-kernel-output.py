#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""All output of a cell arrives: in order, before idle, whoever wrote it, and
without the kernel growing."""
from kernel_client import *


def out_of(k, code, **kw):
    reply, outputs = k.run(code, **kw)
    assert reply["content"]["status"] == "ok", reply["content"]
    return outputs


def peak(k):
    """The most memory that the kernel ever had, in MB."""
    with open("/proc/%d/status" % k.process.pid) as f:
        return int(f.read().split("VmHWM:")[1].split()[0]) / 1024


def test_every_way_to_write():
    with Kernel() as k:
        out = out_of(k, r"""
import os, subprocess, sys, threading, ctypes
print("print")
sys.stdout.write("write\n")
sys.stdout.writelines(["li", "nes\n"])
sys.stdout.buffer.write(b"buffer\n")
os.write(1, b"os.write\n")
os.system("echo os.system")
subprocess.run(["echo", "subprocess"])
t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()
ctypes.CDLL(None).puts(b"puts")
print("end", end="")
print("error", file=sys.stderr)
os.write(2, b"os.write 2\n")
os.system("echo os.system 2 >&2")
""")
        assert text(out) == ("print\nwrite\nlines\nbuffer\nos.write\n"
                             "os.system\nsubprocess\nthread\nputs\nend")
        assert text(out, "stderr") == "error\nos.write 2\nos.system 2\n"
        assert {m["parent"]["msg_id"] for m in out} == \
            {out[0]["parent"]["msg_id"]}


def test_order():
    with Kernel() as k:
        out = out_of(k, r"""
import os, sys
for i in range(300):
    print("p", i)
    os.write(1, b"w %d\n" % i)
    if i % 50 == 0:
        os.system("echo s %d" % i)
""")
        want = ""
        for i in range(300):
            want += "p %d\nw %d\n" % (i, i)
            if i % 50 == 0:
                want += "s %d\n" % i
        assert text(out) == want


def test_streams_keep_their_order():
    with Kernel() as k:
        out = out_of(k, "import sys\nfor i in range(50):\n"
                     "  print(i, file=(sys.stdout, sys.stderr)[i % 2])")
        got = "".join(m["content"]["text"] for m in out
                      if m["type"] == "stream")
        assert got == "".join("%d\n" % i for i in range(50))


def test_many_flushed_prints():
    with Kernel() as k:
        out = out_of(k, "for i in range(10000): print(i, flush=True)")
        assert text(out) == "".join("%d\n" % i for i in range(10000))
        # Each of its own would be 20,000.
        assert len(out) < 5000


def test_bytes_that_are_no_text():
    with Kernel() as k:
        out = out_of(k, r"""
import os, sys
os.write(1, b"a\xffb\n")
for b in "\u20ac\U0001f600".encode():
    os.write(1, bytes([b]))
    print(end="", flush=True)
sys.stdout.buffer.write(b"\xe2\x82"); 
os.write(1, b"\n\xe2\x82\n\0\x1b[0m\xc0\x80\xed\xa0\x80\n")
print("\ud800")
os.write(1, b"\xf0\x9f")
""")
        assert text(out) == ("a\ufffdb\n\u20ac\U0001f600\n\ufffd\ufffd\n"
                             "\0\x1b[0m" + "\ufffd" * 5 + "\n\\ud800\n\ufffd"
                             ), repr(text(out))


def test_forked_children():
    with Kernel() as k:
        out = out_of(k, r"""
import os, sys
print("parent")
pid = os.fork()
if pid == 0:
    from sandbox_kernel import _core
    print("child"); print("bad", file=sys.stderr)
    try: _core.publish("display_data", {})
    except RuntimeError: print("no kernel")
    os._exit(0)
os.waitpid(pid, 0)
import multiprocessing as mp
p = mp.get_context("fork").Process(target=print, args=("worker",))
p.start(); p.join()
print("parent again")
""")
        assert text(out) == "parent\nchild\nno kernel\nworker\nparent again\n"
        assert text(out, "stderr") == "bad\n"
        assert k.alive()
        k.shutdown()
        assert k.process.returncode == 0


def test_after_idle():
    with Kernel() as k:
        fifo = os.path.join(k.dir.name, "fifo")
        os.mkfifo(fifo)
        cell = k.execute("import threading\n"
                         "def late(): print('late', open(%r).read())\n"
                         "threading.Thread(target=late).start()" % fifo)
        k.outputs(cell)
        with open(fifo, "w") as f:
            f.write("text")
        m = k.recv(k.iopub)
        assert m["parent"]["msg_id"] == cell
        assert m["content"]["text"].startswith("late")


def test_large():
    """100 MB, by Python and by a child; the kernel stays small."""
    with Kernel() as k:
        before = peak(k)
        mb = 1 << 20
        for code in ("s = 'x' * 999999 + '\\n'\nfor i in range(50): print(s, end='')",
                     "import subprocess\n"
                     "subprocess.run('yes | head -c %d', shell=True)"
                     % (50 * mb)):
            cell = k.execute(code)
            total = 0
            while True:
                m = k.recv(k.iopub)
                if m["parent"].get("msg_id") != cell:
                    continue
                if m["type"] == "stream":
                    total += len(m["content"]["text"])
                    assert len(m["content"]["text"]) <= mb
                if m["content"].get("execution_state") == "idle":
                    break
            assert total == (50 * mb if "yes" in code else 50000000), total
        if not sanitized():
            assert peak(k) - before < 50, "%d MB" % (peak(k) - before)


def test_reader_that_waits():
    """A subscriber that does not read makes the cell wait, and loses nothing;
    meanwhile the kernel answers, and can be interrupted."""
    with Kernel() as k:
        slow = k.subscribe(hwm=1)
        assert k.recv(slow)["type"] == "iopub_welcome"
        cell = k.execute("line = 'y' * 1023\n"
                         "for i in range(64 << 10): print(line)")
        # No more than a third of it fits into what lies between.
        k.wait_text("y")
        for sock in k.shell, k.control:
            assert k.reply(k.send("kernel_info_request", on=sock), on=sock)
        assert not k.shell.poll(0), "the cell did not wait"
        seen = 0
        while True:
            m = k.recv(slow)
            if m["parent"].get("msg_id") != cell:
                continue
            if m["type"] == "stream":
                seen += len(m["content"]["text"])
            if m["content"].get("execution_state") == "idle":
                break
        assert seen == 64 << 20, seen
        assert k.reply(cell)["content"]["status"] == "ok"
        if not sanitized():
            assert peak(k) < 100, "%d MB" % peak(k)


def test_interrupt_of_a_writer_that_waits():
    with Kernel() as k:
        slow = k.subscribe(hwm=1)
        assert k.recv(slow)["type"] == "iopub_welcome"
        cell = k.execute("line = 'y' * 1023\nwhile True: print(line)")
        k.wait_text("y")
        k.send("interrupt_request", on=k.control)
        # It is heard, however much there is to send.
        end = time.monotonic() + LIMIT
        m = k.recv(slow)
        while m["type"] != "error":
            assert time.monotonic() < end, "it still prints"
            m = k.recv(slow)
        assert m["content"]["ename"] == "KeyboardInterrupt"
        k.reply(cell)
        slow.close()
        k.outputs(cell)
        assert k.alive()


def test_reader_that_is_stuck():
    """It cannot stop the kernel for ever: others get all, and it gets what
    comes once it reads again."""
    with Kernel(env=kernel_env(SANDBOX_KERNEL_STALL="1"),
                stderr=subprocess.PIPE) as k:
        stuck = k.subscribe(hwm=1)
        assert k.recv(stuck)["type"] == "iopub_welcome"
        out = out_of(k, "for i in range(32): print('z' * 1000000)")
        assert len(text(out)) == 32000032
        assert b"loses messages" in k.process.stderr.readline()
        seen = 0
        while k.recv(stuck, 1):
            seen += 1
        assert 0 < seen < len(out)
        k.run("print('again')")
        m = k.recv(stuck)
        while m["type"] != "stream" or m["content"]["text"] != "again\n":
            m = k.recv(stuck)


def test_nobody_listens():
    with Kernel() as k:
        k.iopub.close()
        cell = k.execute("for i in range(64): print('z' * 1000000)")
        assert k.reply(cell)["content"]["status"] == "ok"


def test_closed_descriptors():
    with Kernel() as k:
        out_of(k, "import os; os.close(1); os.close(2)")
        out = out_of(k, "print('still')")
        assert text(out) == "still\n"


main(globals())
