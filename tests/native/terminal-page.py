# SPDX-License-Identifier: Apache-2.0
"""The page of the terminal in a real browser.
Usage: terminal-page.py PORT TOKEN FOLDER"""
import json
import os
import sys
import urllib.request

from cdp import Browser

port, token, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
url = f"http://127.0.0.1:{port}/terminal/"
shots = os.environ.get("SCREENSHOTS")

STATE = "document.getElementById('bar').dataset.state"
STATUS = "document.getElementById('status').textContent"
FACTS = "document.getElementById('facts').textContent"
# All that is in the terminal's buffer, as a person would copy it.
TEXT = """(() => {
    const t = document.getElementById('screen').terminal;
    t.selectAll();
    const text = t.getSelection();
    t.clearSelection();
    return text;
})()"""

PASTE = """(() => {
    const data = new DataTransfer();
    data.setData('text/plain', %s);
    document.activeElement.dispatchEvent(new ClipboardEvent('paste',
        { clipboardData: data, bubbles: true, cancelable: true }));
})()"""


def shot(page, name):
    if shots:
        page.screenshot(f"{shots}/{name}.png")


def shows(text):
    return f"({TEXT}).includes({text!r})"


def rest(method, path, data=None):
    req = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        method=method,
        data=data,
        headers={"Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(req, timeout=20) as r:
        text = r.read()
    return json.loads(text) if text else None


def run(page):
    # Without a token it asks for one.
    page.open(url)
    page.until("!document.getElementById('login').hidden")
    shot(page, "login")
    page.problems.clear()  # the 401 is one

    page.open("about:blank")
    page.open(url + f"#token={token}")
    page.until(f"{STATE} === 'open'")
    assert token not in page.eval("location.href"), "the token stays visible"
    page.until("location.search.startsWith('?id=')")
    ident = page.eval("new URLSearchParams(location.search).get('id')")

    page.type("PS1='\\w \\$ '; clear; echo sum=$((40 + 2))\n")
    page.until(shows("sum=42"))
    cols, rows = page.eval(
        "(() => { const t = document.getElementById('screen').terminal;"
        "return [t.cols, t.rows]; })()"
    )
    assert cols > 80 and rows > 20, (cols, rows)
    page.type("stty size\n")
    page.until(shows(f"{rows} {cols}"))

    # A paste, with what is not ASCII.
    page.eval(PASTE % "'echo grüße-€-🙂'")
    page.type("\n")
    page.until(shows("\ngrüße-€-🙂"))
    page.type("printf '\\033]0;my title\\007'\n")
    page.until("document.title.startsWith('my title')")

    page.type("ls --color=always -la /; printf '\\033[1;32mgreen\\033[0m\\n'\n")
    page.until(shows("\ngreen"))
    shot(page, "terminal")

    # The window grows: the program is told.
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=700,
        height=400,
        deviceScaleFactor=1,
        mobile=False,
    )
    page.until(
        "document.getElementById('screen').terminal.cols !== " + str(cols)
    )
    small = page.eval("document.getElementById('screen').terminal.cols")
    page.type("clear; stty size\n")
    page.until(shows(f" {small}\n"))
    page.call("Emulation.clearDeviceMetricsOverride")

    # A reload finds the same terminal again, with what it showed.
    page.type("echo before-reload\n")
    page.until(shows("\nbefore-reload"))
    page.call("Page.reload")
    page.until(f"document.getElementById('bar') && {STATE} === 'open'")
    page.until(shows("\nbefore-reload"))
    assert ident in page.eval("location.search")

    # A flood does not drown it.
    page.type("yes | head -200000; echo flood-over\n")
    page.until(shows("\nflood-over"), 60)

    page.type("exit 3\n")
    page.until(f"{STATUS} === 'Ended with exit code 3'")
    shot(page, "ended")
    assert not page.problems, page.problems

    # And on to a new one.
    page.eval("document.getElementById('again').click()")
    page.until(f"{STATE} === 'open'")
    other = page.eval("new URLSearchParams(location.search).get('id')")
    assert other and other != ident
    rest("DELETE", f"/v1/terminals/{other}")
    page.until(f"{STATUS} === 'Ended by SIGHUP'")


def look(page):
    """With a ticket in place of the token, and only to look."""
    body = json.dumps({"argv": ["cat"], "cols": 60, "rows": 12}).encode()
    ident = rest("POST", "/v1/terminals", body)["id"]
    ticket = rest("POST", "/v1/tickets", b"{}")["ticket"]
    page.eval("sessionStorage.clear()")
    page.open("about:blank")
    page.open(url + f"?ticket={ticket}&id={ident}&view=1")
    page.until(f"{STATE} === 'open'")
    assert ticket not in page.eval("location.href"), "the ticket stays visible"
    page.until(f"{FACTS} === 'view only · 60×12 · {ident}'")
    page.type("not for viewers\n")
    rest("DELETE", f"/v1/terminals/{ident}")
    page.until(f"{STATUS} === 'Ended by SIGHUP'")
    assert not page.eval(shows("viewers"))


def reconnect(page):
    """The network fails for a while: nothing is lost."""
    page.open("about:blank")
    page.open(url + f"?command=cat#token={token}")
    page.until(f"{STATE} === 'open'")
    page.type("one\n")
    page.until(shows("one\none"))
    page.call(
        "Network.emulateNetworkConditions",
        offline=True,
        latency=0,
        downloadThroughput=0,
        uploadThroughput=0,
    )
    page.eval("document.getElementById('screen').dropConnection()")
    page.until(f"{STATUS}.startsWith('Connection lost')")
    shot(page, "lost")
    page.call(
        "Network.emulateNetworkConditions",
        offline=False,
        latency=0,
        downloadThroughput=-1,
        uploadThroughput=-1,
    )
    page.until(f"{STATE} === 'open'")
    page.type("two\n")
    page.until(shows("one\none\ntwo\ntwo"))


browser = Browser(folder)
try:
    run(browser.page)
    reconnect(browser.page)
    look(browser.page)
finally:
    browser.close()
