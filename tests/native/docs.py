# SPDX-License-Identifier: Apache-2.0
"""docs.py URL TOKEN FOLDER: reads /docs in a real browser and tries calls
there."""
import json
import os
import sys

from cdp import Browser

url, token, folder = sys.argv[1:]
shots = os.environ.get("SCREENSHOTS")


def card(op, what):
    return "document.querySelector('#%s %s')" % (op, what)


def send(b, op):
    """Press Send; gives the status line."""
    b.eval("location.hash = '%s'" % op)
    b.until(card(op, ".go"))
    b.eval(card(op, ".go") + ".click()")
    b.until(card(op, ".answer .status"))
    return b.eval(card(op, ".answer .status") + ".textContent")


def answer(b, op):
    b.until(card(op, ".answer > pre"))
    return json.loads(b.eval(card(op, ".answer > pre") + ".textContent"))


def check(what, found, wanted):
    if found != wanted:
        sys.exit("FAIL: %s: %r, not %r" % (what, found, wanted))


def walk(b):
    b.open(url + "/docs")
    b.until("document.querySelectorAll('.op').length > 0")
    check("title", b.eval("document.title"), "guestd")
    doc = b.eval("fetch('v1/openapi.json').then((r) => r.json())")
    shown = set(b.eval("[...document.querySelectorAll('.op')].map((e) => e.id)"))
    known = {op["operationId"] for item in doc["paths"].values()
             for op in item.values() if "x-alias-of" not in op}
    check("operations", shown, known)

    # Without a token: what is public, and how the rest is refused.
    check("health", send(b, "get_health"), "200 OK")
    check("its body", answer(b, "get_health")["status"], "ok")
    check("no token", send(b, "post_v1_shell_exec"), "401 Unauthorized")

    # The token comes with the link, leaves the address and stays in the tab.
    b.open("about:blank")
    b.open(url + "/docs#token=" + token)
    b.until("document.querySelectorAll('.op').length > 0")
    check("address", b.eval("location.href"), url + "/docs")
    check("exec", send(b, "post_v1_shell_exec"), "200 OK")
    check("its output", answer(b, "post_v1_shell_exec")["stdout"], "hello\n")
    if shots:
        b.screenshot(shots + "/docs.png")
    command = b.eval(card("post_v1_shell_exec", ".copy pre") + ".textContent")
    check("curl", "echo hello" in command and token not in command, True)

    # What the form says is what is sent.
    body = json.dumps({"command": "echo '<b>42'"})
    b.eval(card("post_v1_shell_exec", "textarea") + ".value = " + json.dumps(body))
    b.eval(card("post_v1_shell_exec", ".answer") + ".replaceChildren()")
    check("exec", send(b, "post_v1_shell_exec"), "200 OK")
    check("its output", answer(b, "post_v1_shell_exec")["stdout"], "<b>42\n")
    check("text stays text", b.eval(card("post_v1_shell_exec", ".answer b")), None)

    # A query, events as they come, and an error.
    check("read", send(b, "get_v1_file_read"), "200 OK")
    check("its path", answer(b, "get_v1_file_read")["path"], "/etc/passwd")
    check("stream", send(b, "post_v1_shell_stream"), "200 OK")
    b.until("[...document.querySelectorAll('#post_v1_shell_stream .event')]"
           ".some((e) => e.textContent.startsWith('exit'))")
    check("first event", b.eval(card("post_v1_shell_stream", ".event strong") +
                              ".textContent"), "start")
    b.eval("location.hash = 'get_v1_processes_id'")
    b.until(card("get_v1_processes_id", ".go"))
    b.eval("document.getElementById('get_v1_processes_id-id').value = 'a/b'")
    check("process", send(b, "get_v1_processes_id"), "404 Not Found")

    # Search.
    b.eval("document.getElementById('search').focus()")
    b.type("exec")
    b.until("document.getElementById('get_health').hidden")
    check("found", b.eval("document.getElementById('post_v1_shell_exec').hidden"),
          False)

    # The policy of the page let nothing be blocked, and no script failed;
    # the browser also notes what was refused above.
    bad = [p for p in b.problems if p.get("source") != "network"]
    check("complaints", bad, [])


browser = Browser(folder, (1280, 900))
try:
    walk(browser.page)
finally:
    browser.close()
