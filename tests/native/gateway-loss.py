# SPDX-License-Identifier: Apache-2.0
"""What could get lost between a kernel and its clients, and is not.

usage: gateway-loss.py URL TOKEN CASE [ARGUMENT...]
"""
import json
import os

from gateway_client import (Client, base, check, main, numbers, rest, start,
                            state, stop, token, wait_until)


def case_all():
    """50 clients on one kernel, and each gets everything."""
    kid = start()
    clients = [Client(kid, "v1" if i % 2 else "text") for i in range(50)]
    mid = clients[7].execute("for i in range(3000): print(i, flush=True)")
    for c in clients:
        seen = c.until(lambda m: m["parent_header"].get("msg_id") == mid and
                       m["content"].get("execution_state") == "idle")
        check(numbers(seen) == list(range(3000)), len(seen))
    for c in clients:
        c.ws.close()
    stop(kid)


def case_token():
    """A WebSocket whose token is in the path, and one without."""
    kid = start()
    for framing in ("v1", "text"):
        c = Client(kid, framing, url=base + "/k/" + token, auth=False)
        check(c.run("print(1)")[0] == "1\n", framing)
    try:
        Client(kid, url=base + "/k/wrong", auth=False)
    except Exception as e:
        check("401" in str(e), e)
    else:
        check(False, "a wrong token")
    stop(kid)


def case_pythons():
    """A virtual environment is a kernel of its own, with its packages."""
    specs = rest("GET", "/api/kernelspecs")[0]["kernelspecs"]
    check("env-sandbox-python" in specs, list(specs))
    kid = start(name="env-sandbox-python", env={"ONLY": "this"})
    out = Client(kid).run("import os, sys, only_here\n"
                          "print(sys.prefix, only_here.x, os.environ['ONLY'])")
    check(out[0] == os.environ["WORKSPACE"] + "/env 7 this\n", out)
    stop(kid)
    kid = start(name="sandbox-python")
    check(Client(kid).run("import only_here")[1]["ename"] ==
          "ModuleNotFoundError", "its own packages")
    stop(kid)


def case_skip():
    """Who is too far behind is told what it missed."""
    kid = start()
    slow = [Client(kid), Client(kid, "text")]
    fast = Client(kid)
    # An answer that is forgotten before who asked has read it.
    asked = slow[0].execute("1 + 1")
    fast.until(lambda m: m["parent_header"].get("msg_id") == asked and
               m["content"].get("execution_state") == "idle")
    mid = fast.execute("for i in range(600): print('x' * 100000, flush=True)")
    fast.finish(mid)
    for c in slow:
        seen = c.until(lambda m: m["parent_header"].get("msg_id") == mid and
                       m["content"].get("execution_state") == "idle")
        told = [m for m in seen if "sandbox" in m["metadata"]]
        answers = [m["parent_header"]["msg_id"] for m in seen
                   if m["header"]["msg_type"] == "execute_reply"]
        check(answers == ([asked] if c is slow[0] else []), answers)
        # Once, or again when it falls behind again.
        check(told, "nothing")
        for m in told:
            check(m["header"]["msg_type"] == "stream" and
                  m["content"]["name"] == "stderr" and
                  m["parent_header"]["msg_id"] == mid, m["header"])
            about = m["metadata"]["sandbox"]
            check(about["skipped"] > 0 and
                  str(about["skipped"]) in m["content"]["text"], about)
        page = rest("GET", told[-1]["metadata"]["sandbox"]["url"])[0]
        check(page["messages"] and page["first"] > 1, "kept")
    stop(kid)


def kept_in_files(pid):
    """Bytes of files without a name that a process has."""
    total = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{fd}"
        try:
            if os.readlink(path).startswith("/var/tmp/"):
                total += os.stat(path).st_size
        except FileNotFoundError:
            pass  # closed meanwhile
    return total


def case_total(pid, limit):
    """Each kernel says less than it may, but all together say more."""
    kids = [start() for _ in range(16)]
    for kid in kids:
        c = Client(kid)
        c.run("for i in range(70): print('x' * 100000)")
        c.ws.close()
    size = kept_in_files(pid)
    check(int(limit) / 2 < size <= int(limit), size)
    pages = [rest("GET", f"/v1/kernels/{kid}/messages")[0] for kid in kids]
    check(all(p["messages"] for p in pages), "nothing is left of one")
    # Who has not read what was forgotten for others' sake is told.
    behind = [kid for kid, p in zip(kids, pages) if p["first"] > 1]
    check(behind, "all is kept")
    c = Client(behind[0], query="&after=0")
    check(c.recv()["metadata"]["sandbox"]["skipped"] > 0, "not told")
    for kid in kids:
        stop(kid)
    check(kept_in_files(pid) == 0, "left behind")


def case_half_open():
    """Who comes back before the old connection is known to be dead."""
    kid = start()
    old = Client(kid, session="s")
    other = Client(kid)
    mid = old.execute("for i in range(300): print(i, flush=True)")
    other.until(lambda m: m["parent_header"].get("msg_id") == mid and
                m["content"].get("execution_state") == "idle")
    new = Client(kid, session="s")
    seen, reply = new.finish(mid)
    check(reply["status"] == "ok", reply)
    check(numbers(seen) == list(range(300)), numbers(seen)[:20])
    # The old one is told to go, after what was on its way to it.
    while old.ws.connected and old.ws.recv():
        pass
    check(new.run("print('on')")[0] == "on\n", "after it")
    check(rest("GET", "/api/kernels/" + kid)[0]["connections"] == 2, "left")
    stop(kid)


def case_heir():
    """Who comes back under another name, and before the cell has ended."""
    kid = start()
    go = os.environ["WORKSPACE"] + "/go"
    old = Client(kid)
    mid = old.execute("import os, time\nprint(-1, flush=True)\n"
                      f"while not os.path.exists('{go}'): time.sleep(0.05)\n"
                      "print(-2)")
    old.until(lambda m: numbers([m]) == [-1])
    old.cut()
    wait_until(lambda: not rest("GET", "/api/kernels/" + kid)[0]["connections"])
    new, other = Client(kid), Client(kid)
    open(go, "w").close()
    seen, reply = new.finish(mid)
    check(reply["status"] == "ok" and numbers(seen)[-1:] == [-2], reply)
    # An answer that is somebody's is for nobody else.
    asked = other.execute("1")
    other.finish(asked)
    mine = new.execute("2")
    answers = [m["parent_header"]["msg_id"]
               for m in new.until(lambda m: m["parent_header"].get("msg_id") ==
                                  mine and m["channel"] == "shell")
               if m["channel"] == "shell"]
    check(answers == [mine], answers)
    stop(kid)


def case_last_words():
    """What a kernel has said before it ended, however much it is."""
    kid = start(name="foreign")
    c = Client(kid)
    asked = c.execute("say 1500 100000")
    c.until(lambda m: m["content"].get("execution_state") == "dead")
    page = rest("GET", f"/v1/kernels/{kid}/messages?parent={asked}")[0]
    said = []
    while page["messages"] or page["last"] + 1 < page["next"]:
        said += numbers(page["messages"])
        page = rest("GET", f"/v1/kernels/{kid}/messages?parent={asked}"
                    f"&after={page['last']}")[0]
    check(said and said[-1] == 1499, said[-3:])
    check(rest("GET", "/api/kernels/" + kid)[0]["reason"] == "exit 3", "why")
    stop(kid)


def case_leave(folder):
    """A cell that prints when there is no guestd."""
    kid = start()
    c = Client(kid)
    mid = c.execute(
        "import os, time\nprint(-1, flush=True)\n"
        f"while not os.path.exists('{folder}/alone'): time.sleep(0.05)\n"
        "time.sleep(0.5)\n"
        "for i in range(3000): print(i, flush=True)\n"
        f"open('{folder}/over', 'w').close()")
    c.until(lambda m: numbers([m]) == [-1])
    print(json.dumps([kid, mid]))


def case_back(text):
    """It has waited for this guestd, and nothing is missing."""
    kid, mid = json.loads(text)
    seen, reply = Client(kid).finish(mid)
    check(reply["status"] == "ok", reply)
    check(numbers(seen) == list(range(3000)), numbers(seen)[:20])
    messages = []
    while True:
        after = messages[-1]["seq"] if messages else 0
        page = rest("GET", f"/v1/kernels/{kid}/messages?after={after}")[0]
        if not page["messages"]:
            break
        messages += page["messages"]
    check(numbers(messages) == list(range(3000)), "journal")
    stop(kid)


def case_leave_deaf(folder):
    """A kernel that hears nothing while its cell runs."""
    kid = start(name="foreign")
    c = Client(kid)
    mid = c.execute(f"wait {folder}/never")
    c.until(lambda m: m["content"].get("text") == "waiting")
    print(json.dumps([kid, mid]))


def case_back_deaf(text):
    """It runs, and so it can be interrupted, and goes on."""
    kid, mid = json.loads(text)
    c = Client(kid)
    c.until(lambda m: m["content"].get("text") == "waiting")
    rest("POST", f"/api/kernels/{kid}/interrupt", {}, 204)
    c.until(lambda m: m["parent_header"].get("msg_id") == mid and
            m["content"].get("execution_state") == "idle")
    check(c.run("nothing")[1]["status"] == "ok", "it does not hear")
    check(state(kid) == "idle", state(kid))
    stop(kid)


def case_oom(group, limit):
    """A kernel in a group without memory for what it wants."""
    kid = start()
    c = Client(kid)
    pid = int(c.run("import os; print(os.getpid())")[0])
    with open(group + "/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(pid))
    reply = c.run(f"x = bytearray({limit} * 8)")[1]
    check("memory" in reply["evalue"], reply)
    model = rest("GET", "/api/kernels/" + kid)[0]
    check(model["reason"] == "oom", model)
    stop(kid)


main(globals())
