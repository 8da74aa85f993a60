#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever a cell does, an interrupt ends it; a second one ends its children;
a deadline ends the kernel, if it must."""
import signal

from kernel_client import *

CELLS = {
    "sleep": "import time; print('go', flush=True); time.sleep(1000)",
    "busy loop": "print('go', flush=True)\nwhile True: pass",
    "subprocess.run": "import subprocess\n"
                      "subprocess.run('echo go; exec sleep 1000', shell=True)",
    "child of a child": "import subprocess\n"
                        "subprocess.run('echo go; sleep 1000; :', shell=True)",
    "C without the GIL": "import ctypes; print('go', flush=True)\n"
                         "while True: ctypes.CDLL(None).sleep(1000)",
    "lock": "import threading; l = threading.Lock(); l.acquire()\n"
            "print('go', flush=True); l.acquire()",
    "thread": "import threading, time\n"
              "t = threading.Thread(target=time.sleep, args=(1000,), "
              "daemon=True); t.start()\n"
              "print('go', flush=True); t.join()",
    "select": "import select; print('go', flush=True)\n"
              "select.select([], [], [])",
    "communicate": "import subprocess\n"
                   "p = subprocess.Popen('echo go >&2; exec sleep 1000', "
                   "shell=True, stdout=subprocess.PIPE)\np.communicate()",
}


def interrupted(k, cell):
    r = k.reply(cell)["content"]
    return r["status"] == "error" and r["ename"] == "KeyboardInterrupt"


def wait_go(k):
    while True:
        m = k.recv(k.iopub)
        assert m, "the cell did not begin"
        if m["type"] == "stream" and "go" in m["content"]["text"]:
            return


def test_by_message():
    with Kernel() as k:
        for name, code in CELLS.items():
            cell = k.execute(code)
            wait_go(k)
            r = k.reply(k.send("interrupt_request", on=k.control),
                        on=k.control)
            assert r["content"] == {"status": "ok"}
            assert interrupted(k, cell), name
            assert k.alive(), name


def test_by_signal():
    """To the process alone; its children are told by the kernel."""
    with Kernel() as k:
        for name, code in CELLS.items():
            cell = k.execute(code)
            wait_go(k)
            k.process.send_signal(signal.SIGINT)
            assert interrupted(k, cell), name
            assert k.alive(), name


def test_by_signal_to_the_group():
    with Kernel(start_new_session=True) as k:
        for name, code in CELLS.items():
            cell = k.execute(code)
            wait_go(k)
            os.killpg(k.process.pid, signal.SIGINT)
            assert interrupted(k, cell), name
            assert k.alive(), name


def test_system():
    """system(3) ignores SIGINT itself, but not its child."""
    with Kernel() as k:
        cell = k.execute("import os\n"
                         "while True: os.system('echo go; exec sleep 1000')")
        wait_go(k)
        k.send("interrupt_request", on=k.control)
        assert interrupted(k, cell)


def test_input():
    with Kernel() as k:
        for _ in range(3):
            cell = k.execute("from sandbox_kernel import _core\n"
                             "_core.input('?')", allow_stdin=True)
            assert k.recv(k.stdin)["type"] == "input_request"
            k.send("interrupt_request", on=k.control)
            assert interrupted(k, cell)
            # The answer comes too late, and is not the next one's.
            k.send("input_reply", {"value": "late"}, on=k.stdin)
        assert k.alive()


def test_second_one_kills_children():
    with Kernel() as k:
        cell = k.execute(
            "import subprocess\n"
            "p = subprocess.Popen(\"trap '' INT; echo go; "
            "while :; do sleep 1000; done\", shell=True)\n"
            "while p.poll() is None:\n"
            "  try: p.wait()\n"
            "  except KeyboardInterrupt: print('once', flush=True)\n"
            "print('over')")
        wait_go(k)
        k.send("interrupt_request", on=k.control)
        k.wait_text("once")
        k.send("interrupt_request", on=k.control)
        k.wait_text("over")
        k.reply(cell)
        assert k.alive()


def test_background_children_live():
    """A process of a session of its own is none of a cell's interrupts."""
    with Kernel() as k:
        r, out = k.run("import subprocess\n"
                       "d = subprocess.Popen(['sleep', '1000'], "
                       "start_new_session=True); print(d.pid)")
        pid = int(text(out))
        try:
            for _ in range(2):
                cell = k.execute(CELLS["sleep"])
                wait_go(k)
                k.send("interrupt_request", on=k.control)
                assert interrupted(k, cell)
            r, out = k.run("print(d.poll())")
            assert text(out) == "None\n"
        finally:
            os.kill(pid, signal.SIGKILL)


def signal_is_taken(pid, number):
    """Before that, it would be for what runs next."""
    with open("/proc/%d/status" % pid) as f:
        pending = [line for line in f if line.startswith("ShdPnd")]
    return not int(pending[0].split()[1], 16) & 1 << number - 1


def test_nothing_runs():
    with Kernel() as k:
        for _ in range(20):
            k.reply(k.send("interrupt_request", on=k.control), on=k.control)
            k.process.send_signal(signal.SIGINT)
            while not signal_is_taken(k.process.pid, signal.SIGINT):
                pass
            assert k.alive()


def test_many():
    """At any moment: the kernel is always there afterwards."""
    with Kernel() as k:
        for i in range(100):
            cell = k.execute("for i in range(%d): pass" % (i * 1000))
            k.send("interrupt_request", on=k.control)
            if i % 2:
                k.process.send_signal(signal.SIGINT)
            k.reply(cell)
        assert k.alive()


def test_deadline():
    with Kernel() as k:
        r, out = k.run("from sandbox_kernel import _core\nimport time\n"
                       "_core.deadline(0.05)\n"
                       "try: time.sleep(1000)\n"
                       "except KeyboardInterrupt: "
                       "print(_core.interrupted_by())")
        assert text(out) == "deadline\n"
        r, out = k.run("_core.deadline(0.05); _core.deadline(None)\n"
                       "print(_core.interrupted_by())")
        assert text(out) == "None\n"


def test_deadline_of_code_that_cannot_be_interrupted():
    with Kernel(stderr=subprocess.PIPE) as k:
        cell = k.execute("from sandbox_kernel import _core\nimport ctypes\n"
                         "_core.deadline(0.05)\n"
                         "while True:\n"
                         "  try:\n"
                         "    while True: ctypes.PyDLL(None).sleep(1000)\n"
                         "  except KeyboardInterrupt: pass\n")
        r = k.reply(cell)["content"]
        assert r["status"] == "error" and r["ename"] == "DeadlineExceeded"
        assert "deadline" in text(k.outputs(cell), "stderr")
        assert k.process.wait(LIMIT) == 1
        assert b"deadline" in k.process.stderr.read()


main(globals())
