# SPDX-License-Identifier: Apache-2.0
"""Drive the kernel gateway as Jupyter's clients do, with websocket-client.

usage: gateway.py URL TOKEN CASE [ARGUMENT...]
"""
import os
import signal
import struct
import time

import websocket

from gateway_client import (DEADLINE, Client, check, main, numbers, rest,
                            start, state, stop, token, wait_until)


def case_rest():
    check("version" in rest("GET", "/api")[0], "version")
    specs = rest("GET", "/api/kernelspecs")[0]
    spec = specs["kernelspecs"][specs["default"]]
    check(spec["spec"]["argv"] and "resources" in spec, "spec")
    rest("GET", "/api/kernelspecs/" + specs["default"])
    rest("GET", "/api/kernelspecs/nosuch", want=404)
    rest("GET", f"/kernelspecs/{specs['default']}/nosuch.png", want=404)
    rest("GET", f"/kernelspecs/{specs['default']}/..%2f..%2fpasswd", want=404)
    problem = rest("POST", "/api/kernels", {"name": "nosuch"}, 404)[0]
    check(problem["reason"] == "Not Found" and problem["message"], "problem")
    rest("POST", "/api/kernels", {"env": {"A": 1}}, 400)
    rest("POST", "/api/kernels", {"kernel_id": "../../x"}, 400)
    model, head = rest("POST", "/api/kernels", {"env": {"KERNEL_X": "7"}}, 201)
    kid = model["id"]
    # What Jupyter's clients send and we do not know; a notebook's path.
    other = start(path="no/such/folder/a.ipynb", type="notebook", x=1)
    check(Client(other).run("import os; print(os.getcwd())")[0].strip() ==
          os.environ["WORKSPACE"], "path")
    stop(other)
    other = start(path="sub/a.ipynb")
    check(Client(other).run("import os; print(os.getcwd())")[0].strip() ==
          os.environ["WORKSPACE"] + "/sub", "path")
    stop(other)
    check(head["Location"] == "/api/kernels/" + kid, "Location")
    time.strptime(model["last_activity"], "%Y-%m-%dT%H:%M:%S.%fZ")
    check(model["connections"] == 0, "connections")
    c = Client(kid, "text")
    check(c.run("import os; print(os.environ['KERNEL_X'])")[0] == "7\n", "env")
    model = rest("GET", "/api/kernels/" + kid)[0]
    check(model["connections"] == 1 and
          model["execution_state"] == "idle", model)
    check([k["id"] for k in rest("GET", "/api/kernels")[0]] == [kid], "list")
    rest("POST", "/api/kernels", {"kernel_id": kid}, 409)
    for k in ("nosuch", "0" * 36):
        rest("GET", "/api/kernels/" + k, want=404)
        rest("DELETE", "/api/kernels/" + k, want=404)
        rest("POST", f"/api/kernels/{k}/interrupt", {}, 404)
        rest("POST", f"/api/kernels/{k}/restart", {}, 404)
        rest("GET", f"/api/kernels/{k}/channels", want=404)
    rest("GET", f"/api/kernels/{kid}/channels", want=426)
    stop(kid)
    check(rest("GET", "/api/kernels")[0] == [], "list")


def case_auth():
    """Whoever cannot send a header has the token in the URL."""
    rest("GET", "/api/kernels", want=401, auth=False)
    rest("GET", "/api/kernels?token=wrong", want=401, auth=False)
    rest("GET", "/k/wrong/api/kernels", want=401, auth=False)
    rest("GET", "/api/kernels?token=" + token, auth=False)
    rest("GET", f"/k/{token}/api/kernels", auth=False)
    # Only for Jupyter's routes: others have header and tickets.
    rest("GET", "/v1/sandbox?token=" + token, want=401, auth=False)
    rest("GET", f"/k/{token}/v1/sandbox", want=401, auth=False)
    rest("GET", "/api", headers={"Origin": "http://evil.example"}, want=403)
    head = rest("OPTIONS", "/api/kernels", want=204, auth=False)[1]
    check("POST" in head["Allow"], "Allow")
    check("Access-Control-Allow-Origin" not in head, "CORS")


def case_cors():
    o = {"Origin": "https://lab.example"}
    head = rest("OPTIONS", "/api/kernels", want=204, auth=False, headers=o)[1]
    check(head["Access-Control-Allow-Origin"] == o["Origin"], "origin")
    check("Authorization" in head["Access-Control-Allow-Headers"], "headers")
    head = rest("GET", "/api/kernels", headers=o)[1]
    check(head["Access-Control-Allow-Origin"] == o["Origin"], "origin")
    rest("GET", "/api", headers={"Origin": "http://evil.example"}, want=403)


COMM = """
from ipykernel.comm import Comm
def answer(m): print(len(m['buffers']), bytes(m['buffers'][0]))
c = Comm(target_name='t', data={'a': 1}, buffers=[b'\\x00one', b'two\\xff'])
c.on_msg(answer)
print(c.comm_id)
"""


def case_framings():
    """The same cell, unicode and buffers in all framings at once."""
    kid = start()
    # Sent before the kernel is up: nothing may be lost.
    clients = [Client(kid, f) for f in ("v1", "text")]
    for c in clients:
        out, reply, seen = c.run("print('häß \\U0001f600'); 6 * 7")
        check(out == "häß \U0001f600\n", out)
        check(reply["status"] == "ok", reply)
        result = [m for m in seen
                  if m["header"]["msg_type"] == "execute_result"]
        check(result[0]["content"]["data"]["text/plain"] == "42", result)
        out, reply, seen = c.run(COMM)
        opened = [m for m in seen if m["header"]["msg_type"] == "comm_open"]
        check([bytes(b) for b in opened[0]["buffers"]] ==
              [b"\x00one", b"two\xff"], opened)
        comm = out.strip()
        mid = c.send("comm_msg", {"comm_id": comm, "data": {}},
                     buffers=[b"\xfe\x00z"])
        m = c.until(lambda m: m["header"]["msg_type"] == "stream" and
                    m["parent_header"].get("msg_id") == mid)[-1]
        check(m["content"]["text"].strip() == "1 b'\\xfe\\x00z'", m)
    # The kernel's answers keep its session.
    check(len({m["header"]["session"] for m in seen}) == 1, "session")
    for bad in (b"", b"\x00" * 8, struct.pack("<3Q", 2, 24, 24),
                struct.pack("<Q", 2 ** 64 - 1), b"\xff" * 100):
        c = Client(kid)
        c.ws.send_binary(bad)
        try:
            while c.ws.recv():
                pass
        except websocket.WebSocketConnectionClosedException:
            pass
    c = Client(kid, "text")
    c.ws.send("[1]")
    check(c.ws.recv_data()[0] == websocket.ABNF.OPCODE_CLOSE, "close")
    check(Client(kid).run("print(1)")[0] == "1\n", "still there")
    stop(kid)


def case_routing():
    """Answers go to who asked, what is published to all."""
    kid = start()
    a, b = Client(kid), Client(kid, "text")
    a.run("x = 1")
    b.run("x += 1")
    mid = a.execute("print('hello', x)")
    seen, reply = a.finish(mid)
    theirs = b.until(lambda m: m["parent_header"].get("msg_id") == mid and
                     m["header"]["msg_type"] == "status" and
                     m["content"]["execution_state"] == "idle")
    theirs = [m for m in theirs if m["parent_header"].get("msg_id") == mid]
    check({m["channel"] for m in theirs} == {"iopub"}, theirs)
    check("hello 2\n" == "".join(m["content"].get("text", "")
                                 for m in theirs), theirs)
    # input(): the question is for a alone.
    mid = a.execute("print(input('who? '))", allow_stdin=True)
    q = a.until(lambda m: m["channel"] == "stdin")[-1]
    check(q["header"]["msg_type"] == "input_request" and
          q["content"]["prompt"] == "who? ", q)
    a.send("input_reply", {"value": "me"}, "stdin")
    seen, _ = a.finish(mid)
    check("me" in "".join(m["content"].get("text", "") for m in seen), seen)
    theirs = b.until(lambda m: "me" in m["content"].get("text", ""))
    check("stdin" not in {m["channel"] for m in theirs}, theirs)
    # control while a cell runs; interrupt ends the cell.
    mid = a.execute("import time\nprint('go')\ntime.sleep(600)")
    a.until(lambda m: "go" in m["content"].get("text", ""))
    check(state(kid) == "busy", state(kid))
    info = b.send("kernel_info_request", {}, "control")
    b.until(lambda m: m["header"]["msg_type"] == "kernel_info_reply" and
            m["parent_header"]["msg_id"] == info)
    rest("POST", f"/api/kernels/{kid}/interrupt", {}, 204)
    _, reply = a.finish(mid)
    check(reply["ename"] == "KeyboardInterrupt", reply)
    stop(kid)


def case_many():
    """50 clients on one kernel."""
    kid = start()
    clients = [Client(kid, "v1" if i % 2 else "text") for i in range(50)]
    ids = [c.execute(f"print({i} * 1000)") for i, c in enumerate(clients)]
    for i, c in enumerate(clients):
        seen, _ = c.finish(ids[i])
        out = "".join(m["content"].get("text", "") for m in seen)
        check(out == f"{i * 1000}\n", (i, out))
    check(rest("GET", "/api/kernels/" + kid)[0]["connections"] == 50, "50")
    for c in clients:
        c.ws.close()
    wait_until(lambda: rest("GET", "/api/kernels/" + kid)[0]
               ["connections"] == 0)
    stop(kid)


def case_bash():
    """The other language of our own kernel."""
    kid = start(name="bash")
    c = Client(kid, "v1")
    c.run("kept='a b'; cd /")
    check(c.run('echo "$kept $PWD"')[0] == "a b /\n", "state")
    _, reply = c.finish(c.execute("exit 3"))
    check((reply["ename"], reply["evalue"]) == ("ExitStatus", "3"), reply)
    check(c.run('echo "$kept"')[0] == "a b\n", "state after exit")
    mid = c.execute("echo go; sleep 1000")
    c.until(lambda m: m["content"].get("text") == "go\n")
    rest("POST", f"/api/kernels/{kid}/interrupt", {}, 204)
    _, reply = c.finish(mid)
    check(reply["ename"] == "KeyboardInterrupt", reply)
    c.ws.close()
    stop(kid)


def case_output():
    """10,000 flushed lines and 20 MB at once: none lost.

    With our kernel: ipykernel itself drops what waits for a busy machine
    beyond 1000 messages."""
    kid = start(name="sandbox-python")
    for framing in ("v1", "text"):
        c = Client(kid, framing)
        out = c.run("for i in range(10000): print('line', i, flush=True)")[0]
        check(out == "".join(f"line {i}\n" for i in range(10000)), len(out))
        out = c.run("import sys; sys.stdout.write('x' * 20000000);0")[0]
        check(len(out) == 20000000, len(out))
        seen = c.run("display({'text/plain': 'x' * 20000000}, raw=True)")[2]
        if framing == "v1":
            texts = [m["content"]["data"]["text/plain"] for m in seen
                     if m["header"]["msg_type"] == "display_data"]
            check(len(texts) == 1 and len(texts[0]) == 20000000, len(texts))
            continue
        # Too large a frame for older clients: they are told where it is.
        big = [m["metadata"]["sandbox"] for m in seen
               if "sandbox" in m["metadata"]]
        check(big and big[0]["size"] > 10 * 1024 * 1024, big)
        m = rest("GET", big[0]["url"])[0]["messages"][0]
        check(len(m["content"]["data"]["text/plain"]) == 20000000, "fetched")
        large_in_place(c)
    stop(kid)


def large_in_place(c):
    """Whatever is too large, a client gets what it can read."""
    seen, reply = c.finish(c.execute("raise ValueError('x' * 12000000)"))
    error = [m for m in seen if m["header"]["msg_type"] == "error"][0]
    for content in (error["content"], reply):
        check(content["ename"] == "ValueError" and
              "too large" in content["evalue"] and
              "too large" in content["traceback"][0], content)
    check(reply["status"] == "error" and reply["execution_count"], reply)
    seen = c.run("display({'text/plain': 'x' * 12000000}, raw=True,"
                 " display_id='d')")[2]
    shown = [m for m in seen if m["header"]["msg_type"] == "display_data"][0]
    check(shown["content"]["transient"] == {"display_id": "d"},
          shown["content"])
    seen = c.run("from comm import create_comm\n"
                 "create_comm(target_name='t', data={'x': 'x' * 12000000})")[2]
    told = [m for m in seen if "sandbox" in m["metadata"]]
    check(len(told) == 1 and told[0]["header"]["msg_type"] == "stream" and
          "too large" in told[0]["content"]["text"], told)
    m = rest("GET", told[0]["metadata"]["sandbox"]["url"])[0]["messages"][0]
    check(m["header"]["msg_type"] == "comm_open", m["header"])


def case_reconnect():
    """Who vanishes while a cell runs gets what he missed."""
    kid = start()
    code = ("import time\nfor i in range({0}, {0} + 300):\n"
            "    print(i, flush=True); time.sleep(0.01)")
    for n, session in enumerate(("same", "same", None)):
        c = Client(kid, "text" if n else "v1", session)
        c.run("pass")
        mid = c.execute(code.format(1000 * n))
        got = c.until(lambda m: numbers([m]) and numbers([m])[-1] % 1000 > 50)
        c.cut()
        # Until the cell is over nobody listens.
        wait_until(lambda: state(kid) == "idle")
        c = Client(kid, "text" if n else "v1", session)
        more, reply = c.finish(mid)
        check(reply["status"] == "ok", reply)
        have = set(numbers(got)) | set(numbers(more))
        missing = set(range(1000 * n, 1000 * n + 300)) - have
        check(not missing, f"missing {sorted(missing)}")
        c.ws.close()
    # The same by number, without a WebSocket.
    seen, after = [], 0
    while True:
        page = rest("GET", f"/v1/kernels/{kid}/messages?after={after}"
                    "&limit=100")[0]
        if not page["messages"]:
            break
        seen += page["messages"]
        after = page["last"]
    check([m["seq"] for m in seen] ==
          list(range(1, page["next"])), "numbers")
    check(set(range(300)) <= set(numbers(seen)), "journal")
    rest("GET", f"/v1/kernels/{kid}/messages?after=x", want=400)
    # A number that is none yet, as after a restart of guestd.
    ahead = rest("GET", f"/v1/kernels/{kid}/messages?after=99999")[0]
    check(not ahead["messages"] and ahead["last"] == page["next"] - 1, ahead)
    c = Client(kid, query=f"&after={seen[-5]['seq']}")
    check(c.recv()["header"]["msg_id"] == seen[-4]["header"]["msg_id"],
          "after")
    stop(kid)


def case_slow():
    """A client that does not read stalls no other."""
    kid = start()
    slow, fast = Client(kid), Client(kid)
    code = "for i in range(500): print('x' * 100000, flush=True)"
    # 100 MB, of which no more than a few are on their way.
    for _ in range(2):
        out = fast.run(code)[0]
        check(len(out) == 500 * 100001, len(out))
    mid = fast.execute("print('last')")
    fast.finish(mid)
    seen = slow.until(lambda m: m["parent_header"].get("msg_id") == mid and
                      m["content"].get("execution_state") == "idle")
    n = sum(len(m["content"].get("text", "")) for m in seen)
    check(n == 1000 * 100001 + 5, n)
    stop(kid)


def case_death():
    """kill -9 in the middle of a cell is explained, and repaired."""
    kid = start()
    a, b = Client(kid), Client(kid, "text")
    pid = int(a.run("import os; print(os.getpid())")[0])
    mid = a.execute("import time\nprint('go', flush=True)\ntime.sleep(600)")
    second = a.execute("1 + 1")
    a.until(lambda m: "go" in m["content"].get("text", ""))
    os.kill(pid, signal.SIGKILL)
    seen, reply = a.finish(mid)
    check(reply["status"] == "error" and "SIGKILL" in reply["evalue"], reply)
    check("error" in [m["header"]["msg_type"] for m in seen], seen)
    check(a.finish(second)[1]["status"] == "error", "second")
    for c in (a, b):
        c.until(lambda m: m["content"].get("execution_state") == "dead")
    model = rest("GET", "/api/kernels/" + kid)[0]
    check(model["execution_state"] == "dead" and
          model["reason"] == "signal 9" and
          "SIGKILL" in model["message"], model)
    check(a.run("1")[1]["status"] == "error", "dead")
    rest("POST", f"/api/kernels/{kid}/interrupt", {}, 409)
    # In place: same id, same clients, nothing left of the old state.
    model = rest("POST", f"/api/kernels/{kid}/restart", {})[0]
    check(model["id"] == kid and "reason" not in model, model)
    check(a.run("print(2)")[0] == "2\n", "after restart")
    check(b.run("print(3)")[0] == "3\n", "after restart")
    a.run("x = 1")
    mid = a.execute("import time\nprint('go', flush=True)\ntime.sleep(600)")
    a.until(lambda m: "go" in m["content"].get("text", ""))
    rest("POST", f"/api/kernels/{kid}/restart", {})
    check(a.finish(mid)[1]["status"] == "error", "restarted")
    check(a.run("x")[1]["ename"] == "NameError", "state is gone")
    check(a.run("import os; os._exit(7)")[1]["evalue"].endswith("code 7"),
          "exit code")
    check(rest("GET", "/api/kernels/" + kid)[0]["reason"] == "exit 7",
          "exit code")
    stop(kid)


def case_run():
    """POST /v1/run, of which test-run.sh has the rest, and other clients."""
    kid = start()
    r = rest("POST", "/v1/run", {"code": "z = 5\nz", "kernel_id": kid})[0]
    check(r["result"]["value"] == 5, r)
    c = Client(kid)
    check(c.run("print(z)")[0] == "5\n", "shared")
    c.run("z = 6")
    r = rest("POST", "/v1/run", {"code": "z", "kernel_id": kid})[0]
    check(r["result"]["value"] == 6, r)
    stop(kid)


def case_sessions():
    rest("POST", "/api/sessions", {"path": "a.ipynb"}, 400)
    rest("POST", "/api/sessions", {"type": "notebook"}, 400)
    p = rest("POST", "/api/sessions", {"path": "a.ipynb", "type": "notebook",
                                       "kernel": {"name": "nosuch"}}, 501)[0]
    check(p["message"] and p["short_message"], p)
    body = {"path": "a.ipynb", "type": "notebook", "name": "", "kernel": {}}
    s, head = rest("POST", "/api/sessions", body, 201)
    check(head["Location"] == "/api/sessions/" + s["id"], "Location")
    again = rest("POST", "/api/sessions", body, 201)[0]
    check(again["id"] == s["id"], "one for each path")
    check(rest("GET", "/api/sessions")[0][0]["kernel"]["id"] ==
          s["kernel"]["id"], "list")
    url = "/api/sessions/" + s["id"]
    check(rest("PATCH", url, {"path": "b.ipynb"})[0]["path"] == "b.ipynb",
          "path")
    # Another kernel, by its id or by its name, takes the place of the old one,
    # but not of one that others have.
    old = s["kernel"]["id"]
    dflt = rest("POST", "/v1/kernels/default", {})[0]["id"]
    check(rest("PATCH", url, {"kernel": {"id": dflt}})[0]["kernel"]["id"] ==
          dflt, "kernel")
    rest("GET", "/api/kernels/" + old, want=404)
    rest("PATCH", url, {"path": "sub/b.ipynb"})
    spec = rest("GET", "/api/kernels/" + dflt)[0]["name"]
    new = rest("PATCH", url, {"kernel": {"name": spec}})[0]["kernel"]["id"]
    check(Client(new).run("import os; print(os.getcwd())")[0].strip() ==
          os.environ["WORKSPACE"] + "/sub", "folder")
    other = rest("POST", "/api/sessions", dict(body, kernel={"id": new}), 201)
    old = start()
    rest("PATCH", url, {"kernel": {"id": old}})
    check(rest("GET", "/api/kernels/" + new)[0]["id"] == new, "another's")
    rest("DELETE", "/api/sessions/" + other[0]["id"], want=204)
    rest("PATCH", url, {"kernel": {"id": dflt}})
    rest("DELETE", url, want=204)
    rest("GET", url, want=404)
    rest("DELETE", url, want=404)
    old = start()
    s = rest("POST", "/api/sessions", dict(body, kernel={"id": old}), 201)[0]
    stop(old)
    rest("DELETE", "/api/sessions/" + s["id"], want=410)
    rest("POST", "/api/sessions", dict(body, path="x" * 5000), 400)
    wait_until(lambda: rest("GET", "/api/kernels")[0] == [])


def case_front():
    """Through Jupyter's server, which has us behind --gateway-url."""
    check(rest("GET", "/api/kernelspecs")[0]["kernelspecs"], "specs")
    kid = start(name="python3")
    c = Client(kid, "text")
    # It loses what comes before its own connection to us is open.
    def answers():
        c.send("kernel_info_request", {})
        c.ws.settimeout(1)
        try:
            c.until(lambda m: m["header"]["msg_type"] == "kernel_info_reply")
        except websocket.WebSocketTimeoutException:
            return False
        c.ws.settimeout(DEADLINE)
        return True
    wait_until(answers)
    out, reply, _ = c.run("print('through'); 1")
    check(out == "through\n" and reply["status"] == "ok", (out, reply))
    # More than 10 MiB would end its connection to us, and hang the cell.
    out, reply, seen = c.run("import sys; sys.stdout.write('x' * 12000000);0")
    check(reply["status"] == "ok" and "GET /v1/kernels/" in out, out[:200])
    mid = c.execute("import time\nprint('go', flush=True)\ntime.sleep(600)")
    c.until(lambda m: "go" in m["content"].get("text", ""))
    rest("POST", f"/api/kernels/{kid}/interrupt", {}, 204)
    check(c.finish(mid)[1]["ename"] == "KeyboardInterrupt", "interrupt")
    rest("POST", f"/api/kernels/{kid}/restart", {})
    check(c.run("print(7)")[0] == "7\n", "restart")
    rest("DELETE", "/api/kernels/" + kid, want=204)


def case_limits():
    """max_kernels, a warm kernel, idle ones end."""
    kid = start()
    rest("POST", "/api/kernels", {}, 403)
    c = Client(kid)
    check(c.run("print(1)")[0] == "1\n", "warm")
    # With a client it stays.
    c.ws.close()
    wait_until(lambda: rest("GET", "/api/kernels")[0] == [])


def case_warm():
    """The warm kernel is nobody's until somebody wants one."""
    check(rest("GET", "/api/kernels")[0] == [], "nobody's kernel is listed")
    print(Client(start()).run("import os\nprint(os.getpid())")[0])


def case_leave():
    """A kernel with state, and sessions, for the next guestd."""
    kid, doomed = start(env={"LONG": "x" * 100000}), start()
    ids = []
    for k in (kid, doomed):
        s = rest("POST", "/api/sessions", {
            "path": k + ".ipynb", "type": "notebook", "name": "ä \"b\"",
            "kernel": {"id": k}}, 201)[0]
        ids.append(s["id"])
    rest("PATCH", "/api/sessions/" + ids[0], {"path": "kept.ipynb"})
    c = Client(kid)
    c.run("import os\nx = len(os.environ['LONG']) - 99959")
    c.execute("import time\nprint('go', flush=True)\ntime.sleep(2)\nx += 1")
    c.until(lambda m: "go" in m["content"].get("text", ""))
    print(kid, doomed, *ids)


def case_found(kid, doomed, session, lost):
    """It is found again, also while it was busy, and so is its session."""
    kept = rest("GET", "/api/sessions")[0]
    check([s["id"] for s in kept] == [session], kept)
    check(kept[0]["kernel"]["id"] == kid and kept[0]["type"] == "notebook" and
          kept[0]["path"] == "kept.ipynb" and kept[0]["name"] == "ä \"b\"", kept)
    rest("GET", "/api/sessions/" + lost, want=404)
    again = rest("POST", "/api/sessions", {
        "path": "kept.ipynb", "type": "notebook", "kernel": {}}, 201)[0]
    check(again["id"] == session and again["kernel"]["id"] == kid, again)
    check([k["id"] for k in rest("GET", "/api/kernels")[0]] == [kid], doomed)
    check(Client(kid).run("print(x)")[0] == "42\n", "state")
    rest("POST", f"/api/kernels/{kid}/restart", {})
    check(Client(kid, "text").run("x")[1]["ename"] == "NameError", "restart")
    stop(kid)


main(globals())
