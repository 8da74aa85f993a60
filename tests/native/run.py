# SPDX-License-Identifier: Apache-2.0
"""Drive POST /v1/run.

usage: run.py URL TOKEN WORKSPACE CASE...
"""
import base64
import json
import math
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading

import run_files
from run_client import (DEADLINE, MIME, check, open_run, rest, run, stop_all,
                        stream, wait_until, workspace)
from sandbox_client import Remote, decode


def case_state():
    r = run("import sys\nx = 20\nprint('a')\nprint('b', file=sys.stderr)")
    check((r["status"], r["stdout"], r["stderr"]) == ("ok", "a\n", "b\n"), r)
    check(r["result"] is None and r["outputs"] == [], r)
    n = r["execution_count"]
    r = run("x += 1\nx * 2")
    check(r["result"] == {"version": 1, "value": 42, "truncated": False,
                          "buffers": []}, r)
    check(r["execution_count"] == n + 1, r)
    check([o["output_type"] for o in r["outputs"]] == ["execute_result"], r)
    r = run("x", result="none")
    check(r["result"] is None and
          r["outputs"][0]["data"] == {"text/plain": "21"}, r)
    kid = rest("POST", "/api/kernels", {}, 201)["id"]
    check(run("z = 5", kernel_id=kid)["kernel_id"] == kid, "kernel_id")
    check(run("z", kernel_id=kid)["result"]["value"] == 5, "its own state")
    check(run("z")["error"]["ename"] == "NameError", "the other's state")


def case_errors():
    for bad in ({}, {"code": 1}, {"code": "1", "timeout": -1},
                {"code": "1", "x": 1}, {"code": "1", "result": "pickle!"},
                {"code": "1", "max_output": -1}, {"code": "a\0b"}):
        rest("POST", "/v1/run", bad, 400)
    run("1", 404, kernel_id="0" * 36)
    r = run("print(1)\n1 / 0")
    check(r["status"] == "error" and r["stdout"] == "1\n" and
          r["error"]["ename"] == "ZeroDivisionError" and
          r["outputs"][0]["output_type"] == "error", r)
    r = run("def f(:")
    check(r["error"]["ename"] == "SyntaxError" and r["result"] is None, r)
    # Nobody can be asked: it says so, and does not wait.
    for code in ("input('name? ')", "import sys; sys.stdin.readline()"):
        r = run(code)
        check(r["status"] == "error" and
              "no input requests" in r["error"]["evalue"], r)


def case_stream():
    events = stream("import sys\nprint(1)\nprint(2, file=sys.stderr)\n6*7")
    names = [e[0] for e in events]
    check(names[-3:] == ["output", "result", "end"] and
          set(names[:-3]) == {"stdout", "stderr"}, names)
    check(events[-2][1]["value"] == 42, events[-2])
    check(events[-1][1]["result"] == events[-2][1], events[-1])
    names = [e[0] for e in stream("x = 1")]
    check(names == ["end"], names)
    events = stream("1 / 0")
    check([e[0] for e in events] == ["output", "end"] and
          events[-1][1]["status"] == "error", events)
    # Output comes while the cell still runs.
    s = open_run("print('now', flush=True)\nimport os, time\n"
                 "while not os.path.exists('go'): time.sleep(0.02)\n"
                 "os.unlink('go')\n'then'")
    got = b""
    while b"now" not in got:
        got += s.recv(4096)
    check(b"event: end" not in got, got)
    open(workspace + "/go", "w").close()
    while b"event: end" not in got:
        got += s.recv(4096)
    check(b'"then"' in got, got)
    s.close()
    # A value that is larger than what may wait for a slow reader.
    events = stream("bytes(30 << 20)")
    check([e[0] for e in events] == ["output", "result", "end"], "large")
    check(decode(events[1][1]) == bytes(30 << 20), "large value")


def case_timeout():
    run("x = 21")
    r = run("import time\nprint('begun', flush=True)\ntime.sleep(600)\n7",
            timeout=1)
    check(r["status"] == "timeout" and r["timed_out"] and
          r["stdout"] == "begun\n" and r["result"] is None and
          not r["kernel_restarted"], r)
    check(run("x")["result"]["value"] == 21, "state")
    # What ignores the interrupt loses its kernel.
    r = run("import signal, time\nsignal.signal(signal.SIGINT, "
            "signal.SIG_IGN)\ntime.sleep(600)", timeout=1)
    check(r["status"] == "timeout" and r["kernel_restarted"], r)
    check(run("x")["error"]["ename"] == "NameError", "state")


def begin_loop(name, **more):
    """A cell that runs until there is a file, or it is interrupted."""
    s = open_run(f"import os, time\nopen('{name}', 'w').close()\n"
                 f"while not os.path.exists('{name}-go'): time.sleep(0.02)",
                 **more)
    wait_until(lambda: os.path.exists(f"{workspace}/{name}"))
    return s


def end_of(s):
    got = b""
    while not (last := re.search(rb"event: end\ndata: (.*)\n", got)):
        more = s.recv(65536)
        check(more, got)
        got += more
    s.close()
    return json.loads(last[1])


def case_busy():
    """A time limit is for one's own code, and not for that of others."""
    s = begin_loop("one")
    r = run("came_to_run = True", timeout=0.5)
    check(r["status"] == "timeout" and r["timed_out"] and
          r["error"]["ename"] == "KernelBusy" and
          not r["kernel_restarted"], r)
    # Its time begins when it does.
    late = {}
    t = threading.Thread(target=lambda: late.update(
        run("import time; time.sleep(0.5); 'late'", timeout=20)))
    t.start()
    open(workspace + "/one-go", "w").close()
    check(end_of(s)["status"] == "ok", "the other's")
    t.join(DEADLINE)
    check(late["result"]["value"] == "late", late)
    check(run("came_to_run")["error"]["ename"] == "NameError", "given up")
    # A kernel that dies leaves nobody waiting.
    s = begin_loop("two")
    kernel = rest("GET", "/api/kernels")[0]
    behind = []
    t = threading.Thread(target=lambda: behind.append(
        run("1 + 1", kernel_id=kernel["id"])))
    t.start()
    os.kill(kernel["pid"], signal.SIGKILL)
    t.join(DEADLINE)
    check(behind and behind[0]["error"]["ename"] == "KernelDied", behind)
    check(end_of(s)["error"]["ename"] == "KernelDied", "the other's")


def case_left():
    """A client that leaves does not take its time limit along."""
    begin_loop("left", timeout=1).close()
    check(run("1 + 1", timeout=DEADLINE / 2)["result"]["value"] == 2, "left")
    # Nor does one that is cut off, as it does not read.
    s = open_run("for i in range(3000): print('x' * 20000)\n"
                 "while True: pass", timeout=3)
    check(run("1 + 1", timeout=DEADLINE / 2)["result"]["value"] == 2, "cut")
    s.close()


def case_outputs():
    r = run("import matplotlib.pyplot as plt\n"
            "plt.plot([1, 2, 3])\nplt.show()")
    shown = [o for o in r["outputs"] if "image/png" in o.get("data", {})]
    png = base64.b64decode(shown[0]["data"]["image/png"])
    check(len(shown) == 1 and png.startswith(b"\x89PNG\r\n\x1a\n"), r)
    check(shown[0]["output_type"] == "display_data", shown)
    r = run("class H:\n    def _repr_html_(self): return '<b>h</b>'\n"
            "display(H())\ndisplay('second')\nH()")
    check([o["output_type"] for o in r["outputs"]] ==
          ["display_data", "display_data", "execute_result"], r)
    check(r["outputs"][0]["data"]["text/html"] == "<b>h</b>", r)
    check(r["result"]["data"]["text/html"] == "<b>h</b>" and
          r["result"]["value"]["t"] == "object", r)
    check(MIME not in json.dumps(r["outputs"]), r)


VALUES = (
    "True", "0", "-(1 << 53)", "-(1 << 5000)", "1.0", "-0.0", "1e300",
    "float('inf')", "2 - 3j", "'text ü \\U0001f600 \\0'", "'lone \\ud800'",
    "b''", "bytes(range(256))", "bytearray(b'abc')", "range(1, 10, 3)",
    "[1, [2, []], 'x', None]", "(1, (2,), ())", "{1, 2}", "frozenset({'a'})",
    "{'a': 1, 2: (3,), (4, 5): {'t': 'int'}, None: b'x'}",
    "datetime.datetime(2024, 2, 29, 1, 2, 3, 4, datetime.timezone.utc)",
    "datetime.date(2024, 2, 29)", "datetime.timedelta(-1, 5, 6)",
    "decimal.Decimal('1.10')", "fractions.Fraction(1, 3)",
    "uuid.UUID(int=5)", "pathlib.PurePosixPath('/a/b')",
)


IMPORTS = "import datetime, decimal, fractions, pathlib, uuid"


def case_results():
    here = {}
    exec(IMPORTS, here)
    run(IMPORTS + ", numpy")
    for code in VALUES:
        got, want = decode(run(code)["result"]), eval(code, here)
        check(got == want and type(got) is type(want), (code, got))
    check(math.isnan(decode(run("float('nan')")["result"])), "nan")
    r = run("numpy.arange(6.0).reshape(2, 3)")["result"]
    check(r["value"]["t"] == "ndarray" and r["value"]["shape"] == [2, 3] and
          len(base64.b64decode(r["buffers"][0])) == 48, r)
    for code in ("None", "y = 5", "print('x')"):
        check(run(code)["result"] is None, code)
    check(run("_result = 3")["result"]["value"] == 3, "_result")
    r = run("open")["result"]
    check(isinstance(decode(r), Remote) and "text/plain" in r["data"], r)
    # Too much: what does not fit is left out, and it says so.
    r = run("[1, bytes(33 << 20), 2]")["result"]
    check(r["truncated"] and r["value"][0] == 1 and
          r["value"][1]["reason"] == "bytes" and r["value"][2] == 2, r)
    r = run("list(range(300000))")["result"]
    check(r["truncated"] and r["value"][-1]["reason"] == "nodes", "nodes")
    r = run("{'a': [1]}", result="pickle")
    check(r["result"]["value"] == {"t": "pickle", "b": 0}, r)
    data = base64.b64decode(r["result"]["buffers"][0])
    check(pickle.loads(data) == {"a": [1]}, data)
    check(r["stdout"] == "RESULT_PICKLE:" +
          base64.b64encode(data).decode() + "\n", r)
    check(run("lambda: 1", result="pickle")["status"] == "error", "lambda")


def case_decoder():
    """What the host makes of them: result-tool reads as sandboxctl does."""
    run(IMPORTS + ", numpy")
    kid = rest("POST", "/api/kernels", {"name": "python3"}, 201)["id"]
    typed = [run(c)["result"] for c in VALUES + (
        "numpy.arange(6.0).reshape(2, 3)", "open", "list(range(300000))",
        "[b'x'] * 5000", "[1, bytes(33 << 20)]")]
    typed += [run("5", result="pickle")["result"],
              run("'é' * 9000", kernel_id=kid)["result"]]
    lines = "".join(json.dumps(t) + "\n" for t in typed)
    out = subprocess.run(["./result-tool"], input=lines.encode(),
                         stdout=subprocess.PIPE, check=True).stdout
    out = [json.loads(line) for line in out.splitlines()]
    check(len(out) == len(typed), len(out))
    for t, o in zip(typed, out):
        check("error" not in o and o["show"], (str(t)[:200], o))
    check(out[1]["show"] == "0" and out[1]["plain"] == 0, out[1])


def show(tree, buffers=""):
    """Code that displays what looks like a result."""
    return ("from sandbox_kernel.shell import current\n"
            "current().core.publish('display_data', {'data': {'%s': %s}, "
            "'metadata': {}}, None, [%s])\n" % (MIME, tree, buffers))


def case_hostile():
    fake = "{'version': 1, 'value': 'fake', 'truncated': False}"
    r = run(show(fake) + "'real'")
    check(r["result"]["value"] == "real" and
          MIME not in json.dumps(r["outputs"]), r)
    # One that comes after our own, from a cell that fails, of a wrong shape.
    late = ("import threading\ndef later():\n    import time\n"
            "    time.sleep(0.2)\n")
    check(run(late + show(fake) + "1 / 0")["result"] is None, "failed")
    r = run(show(fake), result="none")
    check(r["result"] is None and r["outputs"][0]["data"][MIME], r)
    kid = rest("POST", "/api/kernels", {"name": "python3"}, 201)["id"]

    def plain(tree, buffers="None"):
        return run("from IPython.core.getipython import get_ipython\n"
                   "k = get_ipython().kernel\n"
                   "k.session.send(k.iopub_socket, 'display_data', "
                   "{'data': {'%s': %s}, 'metadata': {}, 'transient': {}}, "
                   "parent=k.get_parent(), buffers=%s)\n0;"
                   % (MIME, tree, buffers), kernel_id=kid)
    for tree in ("1", "None", "[]", "{}", "{'version': 2, 'value': 1}",
                 "{'version': 1}", "{'version': 'x', 'value': 1}"):
        r = plain(tree)
        check(r["status"] == "ok" and r["result"] is None, (tree, r))
    good = "{'version': 1, 'value': 5, 'truncated': 7, 'data': 8, 'x': 9}"
    r = plain(good, "[b'a', b'']")["result"]
    check(r == {"version": 1, "value": 5, "truncated": False,
                "buffers": ["YQ==", ""]}, r)
    left_out = {"version": 1, "truncated": True, "buffers": [], "value":
                {"t": "truncated", "type": "", "reason": "bytes"}}
    for tree, buffers in (
            ("{'version': 1, 'value': 1}", "[bytes(33 << 20)]"),
            ("{'version': 1, 'value': [0] * (5 << 20)}", "None"),
            ("{'version': 1, 'value': [{}] * (1 << 20)}", "None"),
            ("{'version': 1, 'value': 'x' * (65 << 20)}", "None")):
        check(plain(tree, buffers)["result"] == left_out, (tree, buffers))
    # Displays: more of them, and larger ones, than an answer may have.
    r = run("for i in range(1100): display(i)\n")
    check(len(r["outputs"]) == 1000 and r["truncated"], len(r["outputs"]))
    r = run("display({'text/plain': 'x' * (65 << 20)}, raw=True)\n5")
    check(r["truncated"] and r["result"]["value"] == 5 and
          len(r["outputs"]) == 1, "large display")


def case_other():
    """A kernel that knows nothing of typed results."""
    kid = rest("POST", "/api/kernels", {"name": "python3"}, 201)["id"]
    r = run("[1, 2]", kernel_id=kid)
    check(r["result"] == {
        "version": 1, "truncated": False, "buffers": [],
        "data": {"text/plain": "[1, 2]"},
        "value": {"t": "object", "type": "", "repr": "[1, 2]"}}, r)
    check(run("x = 1", kernel_id=kid)["result"] is None, "none")
    check(run("5", kernel_id=kid, result="none")["result"] is None, "none")
    r = run("'é' * 9000", kernel_id=kid)["result"]
    check(r["value"]["repr"] == "'" + "é" * 2047 and
          len(r["data"]["text/plain"]) == 9002, "a long one")
    r = run("input()", kernel_id=kid)
    check(r["error"]["ename"] == "StdinNotImplementedError", r)


def case_kernels():
    """Shared kernels, one for each specification."""
    a = run("x = 1")["kernel_id"]
    b = run("x = 2", kernel="python3")["kernel_id"]
    check(a != b, "two kernels")
    r = run("x", kernel="python3")
    check(r["kernel_id"] == b and r["result"]["value"]["repr"] == "2", r)
    r = run("x", kernel="sandbox-python")
    check(r["kernel_id"] == a and r["result"]["value"] == 1, r)
    p = run("1", 404, kernel="nosuch")
    check("nosuch" in p["detail"] and "'python3'" in p["remediation"] and
          "'sandbox-python'" in p["remediation"], p)
    check(run("x", kernel="")["kernel_id"] == a, "the default, as in Jupyter")
    for bad in ("../x", "a" * 5000, "a\nb"):
        run("1", 404, kernel=bad)
    run("1", 400, kernel="python3", kernel_id=b)
    run("1", 400, kernel=1)
    # One that dies is replaced.
    run("import os; os._exit(1)", kernel="python3")
    r = run("x", kernel="python3")
    check(r["kernel_id"] != b and r["error"]["ename"] == "NameError", r)


def case_leave():
    """State for the next guestd."""
    run("kept = 1")
    run("kept = 2", kernel="python3")


def case_found():
    check(run("kept", kernel="python3")["result"]["value"]["repr"] == "2",
          "of that name")
    check(run("kept")["result"]["value"] == 1, "the default")
    check(len(rest("GET", "/api/kernels")) == 2, "no more of them")


def case_text():
    r = run("print('y' * 5000)", max_output=100)
    check(r["stdout"] == "y" * 100 and r["truncated"], r)
    r = run("print('é' * 50)\nprint('x')", max_output=9)
    check(r["stdout"] == "é" * 4 and r["truncated"], r)
    r = run("import sys\nprint('a')\nprint('bcd', file=sys.stderr)",
            max_output=2)
    check((r["stdout"], r["stderr"]) == ("a\n", "bc") and r["truncated"], r)
    r = run("print('abc')", max_output=0)
    check(r["stdout"] == "" and r["truncated"] and r["status"] == "ok", r)
    r = run("print('a\\0b')")
    check(r["stdout"] == "a\ufffdb\n" and not r["truncated"], r)
    r = run("display({'text/plain': 'a\\0b', 'text/html': '\\\\u0000'}, "
            "raw=True)")
    check(r["outputs"][0]["data"] ==
          {"text/plain": "a\ufffdb", "text/html": "\\u0000"}, r)
    r = run("import os, sys\nsys.stdout.flush()\n"
            "os.write(1, b'a\\xff\\xfe\\xc3\\xa9b\\n')\n")
    check(r["stdout"] == "a\ufffd\ufffdéb\n", r)
    r = run("import subprocess\n"
            "subprocess.run(['printf', 'x\\\\377y\\n']).returncode")
    check(r["stdout"] == "x\ufffdy\n" and r["result"]["value"] == 0, r)
    # Much of it: the answer has a part, the cell is not held up.
    r = run("for i in range(2000): print('z' * 10000)\n7")
    check(len(r["stdout"]) == 1 << 20 and r["truncated"] and
          r["result"]["value"] == 7, len(r["stdout"]))
    r = run("print('z' * (20 << 20))", max_output=16 << 20)
    check(len(r["stdout"]) == 16 << 20 and r["truncated"], "16 MiB")


def case_death():
    r = run("import os; os._exit(3)")
    check(r["status"] == "error" and "code 3" in r["error"]["evalue"] and
          r["result"] is None, r)
    # A new one takes its place.
    r = run("x = 1\nimport os; os.getpid()")
    got = []
    t = threading.Thread(target=lambda: got.append(run(
        "open('up', 'w').close()\nimport time; time.sleep(600)")))
    t.start()
    wait_until(lambda: os.path.exists(workspace + "/up"))
    os.unlink(workspace + "/up")
    os.kill(r["result"]["value"], signal.SIGKILL)
    t.join(DEADLINE)
    check(got and got[0]["status"] == "error" and
          "SIGKILL" in got[0]["error"]["evalue"], got)
    check(run("x")["error"]["ename"] == "NameError", "a new kernel")
    # One that is dead, by its id; and one that is shut down meanwhile.
    run("import os; os._exit(0)", kernel_id=(
        kid := rest("POST", "/api/kernels", {}, 201)["id"]))
    r = run("1", kernel_id=kid)
    check(r["status"] == "error" and r["error"]["ename"] == "KernelDied", r)
    kid = rest("POST", "/api/kernels", {}, 201)["id"]
    s = open_run("print('on', flush=True)\nimport time; time.sleep(600)",
                 kernel_id=kid)
    got = b""
    while b'"on' not in got:
        got += s.recv(4096)
    rest("DELETE", "/api/kernels/" + kid, want=204)
    while b"event: end" not in got:
        more = s.recv(4096)
        check(more, got)
        got += more
    check(b"shut down" in got, got)


def case_code():
    """POST /v1/code/execute with state."""
    def code(text, want=200, **more):
        return rest("POST", "/v1/code/execute", {
            "code": text, "language": "python", "stateful": True, **more},
            want)
    r = code("import sys\nx = 5\nfor i in range(2):\n    print(i, flush=True)"
             "\n    print('e', i, file=sys.stderr, flush=True)")
    check((r["exit_code"], r["signal"], r["stdout"], r["stderr"], r["output"],
           r["language"], r["truncated"]) ==
          (0, None, "0\n1\n", "e 0\ne 1\n", "0\ne 0\n1\ne 1\n", "python",
           False), r)
    check(code("print(x)", language="py")["stdout"] == "5\n", "state")
    check(run("x")["result"]["value"] == 5, "the kernel that all share")
    r = code("1 / 0")
    check(r["exit_code"] == 1 and "ZeroDivisionError" in r["stderr"] and
          "\033" not in r["stderr"] and r["stderr"] in r["output"], r)
    r = code("raise type('E\\033[3é', (Exception,), {})('\\033')")
    check(r["exit_code"] == 1 and "\033" not in r["output"], r)
    r = code("print('é' * 9)", max_output=3)
    check(r["stdout"] == "é" and r["truncated"], r)
    r = code("import time; time.sleep(600)", timeout=0.5)
    check((r["exit_code"], r["signal"], r["timed_out"]) ==
          (130, "SIGINT", True), r)
    r = code("import os; os._exit(4)")
    check(r["exit_code"] == 1 and "code 4" in r["stderr"], r)
    code("y=7; cd /", language="bash")
    check(code("echo $y $PWD", language="bash")["stdout"] == "7 /\n", "bash")
    check(run("echo $y", kernel="bash")["stdout"] == "7\n", "the same one")
    check("python" in code("1", 400, language="c")["remediation"], "c")
    for more in ({"stdin": "x"}, {"cwd": "/"}, {"env": {}}, {"user": "user"},
                 {"background": True}, {"open_stdin": True}):
        code("1", 400, **more)


def case_together():
    """Several at once on one kernel: one after the other, none mixed up."""
    run("n = 0")
    got = {}

    def one(i):
        got[i] = run(f"print({i})\nn += 1\n({i}, n)")
    threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(DEADLINE)
    check(sorted(got) == list(range(8)), got)
    for i, r in got.items():
        check(r["stdout"] == f"{i}\n" and
              decode(r["result"])[0] == i, (i, r))
    check(sorted(decode(r["result"])[1] for r in got.values()) ==
          list(range(1, 9)), got)
    check(len({r["execution_count"] for r in got.values()}) == 8, got)


def case_gone():
    """A client that leaves: the cell goes on, and guestd, too."""
    for events in (True, False):
        s = open_run("import os, time\nopen('up', 'w').close()\n"
                     "while not os.path.exists('go'): time.sleep(0.02)\n"
                     "for i in range(3000): print(i, flush=True)\n"
                     "left = True\nbytes(1 << 20)", events)
        wait_until(lambda: os.path.exists(workspace + "/up"))
        s.close()
        open(workspace + "/go", "w").close()
        check(run("left")["result"]["value"] is True, events)
        run("del left")
        for name in ("up", "go"):
            os.unlink(workspace + "/" + name)
    # And one that does not read is cut off, not waited for.
    s = open_run("for i in range(5000): print('x' * 20000)\nleft = 1")
    check(run("left")["result"]["value"] == 1, "slow")
    s.close()


for case in sys.argv[4:]:
    try:
        name = "case_" + case
        (globals().get(name) or getattr(run_files, name))()
    except Exception as e:
        raise SystemExit(f"case {case}: {type(e).__name__}: "
                         f"{str(e)[:2000]}") from e
    if case != "leave":
        stop_all()
    shutil.rmtree(workspace)
    os.mkdir(workspace)
