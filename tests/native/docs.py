# SPDX-License-Identifier: Apache-2.0
"""docs.py URL TOKEN: reads /docs in a real browser and tries calls there."""
import json
import os
import sys

from cdp import Browser

url, token = sys.argv[1:3]


def card(op, what):
    return "document.querySelector('#%s %s')" % (op, what)


def send(b, op):
    """Press Send; gives the status line."""
    b.js("location.hash = '%s'" % op)
    b.wait(card(op, ".go"))
    b.js(card(op, ".go") + ".click()")
    b.wait(card(op, ".answer .status"))
    return b.js(card(op, ".answer .status") + ".textContent")


def answer(b, op):
    b.wait(card(op, ".answer > pre"))
    return json.loads(b.js(card(op, ".answer > pre") + ".textContent"))


def check(what, found, wanted):
    if found != wanted:
        sys.exit("FAIL: %s: %r, not %r" % (what, found, wanted))


with Browser(dark="DARK" in os.environ) as b:
    b.open(url + "/docs")
    b.wait("document.querySelectorAll('.op').length > 0")
    check("title", b.js("document.title"), "guestd")
    doc = b.js("fetch('v1/openapi.json').then((r) => r.json())")
    shown = set(b.js("[...document.querySelectorAll('.op')].map((e) => e.id)"))
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
    b.wait("document.querySelectorAll('.op').length > 0")
    check("address", b.js("location.href"), url + "/docs")
    check("exec", send(b, "post_v1_shell_exec"), "200 OK")
    check("its output", answer(b, "post_v1_shell_exec")["stdout"], "hello\n")
    if len(sys.argv) > 3 and sys.argv[3]:
        b.screenshot(sys.argv[3])
    command = b.js(card("post_v1_shell_exec", ".copy pre") + ".textContent")
    check("curl", "echo hello" in command and token not in command, True)

    # What the form says is what is sent.
    body = json.dumps({"command": "echo '<b>42'"})
    b.js(card("post_v1_shell_exec", "textarea") + ".value = " + json.dumps(body))
    b.js(card("post_v1_shell_exec", ".answer") + ".replaceChildren()")
    check("exec", send(b, "post_v1_shell_exec"), "200 OK")
    check("its output", answer(b, "post_v1_shell_exec")["stdout"], "<b>42\n")
    check("text stays text", b.js(card("post_v1_shell_exec", ".answer b")), None)

    # A query, events as they come, and an error.
    check("read", send(b, "get_v1_file_read"), "200 OK")
    check("its path", answer(b, "get_v1_file_read")["path"], "/etc/passwd")
    check("stream", send(b, "post_v1_shell_stream"), "200 OK")
    b.wait("[...document.querySelectorAll('#post_v1_shell_stream .event')]"
           ".some((e) => e.textContent.startsWith('exit'))")
    check("first event", b.js(card("post_v1_shell_stream", ".event strong") +
                              ".textContent"), "start")
    b.js("location.hash = 'get_v1_processes_id'")
    b.wait(card("get_v1_processes_id", ".go"))
    b.js("document.getElementById('get_v1_processes_id-id').value = 'a/b'")
    check("process", send(b, "get_v1_processes_id"), "404 Not Found")

    # Search.
    b.js("document.getElementById('search').focus()")
    b.type("exec")
    b.wait("document.getElementById('get_health').hidden")
    check("found", b.js("document.getElementById('post_v1_shell_exec').hidden"),
          False)

    # The policy of the page let nothing be blocked, and no script failed.
    bad = [e for e in b.log if "exceptionDetails" in e or
           "Content Security Policy" in json.dumps(e)]
    check("complaints", bad, [])
