# SPDX-License-Identifier: Apache-2.0
"""JupyterLab, as guestd serves it, in a real browser.
Usage: lab.py PORT TOKEN FOLDER NOTEBOOKS"""
import json
import os
import sys
import urllib.request

from cdp import Browser
from ws import wait_until

port, token, folder, notebooks = sys.argv[1:5]
url = f"http://127.0.0.1:{port}"
shots = os.environ.get("SCREENSHOTS")
fifo = f"{folder}/fifo"
LINES = 30

CELLS = [
    "x = 40\nprint('sum', x + 2)",
    "import matplotlib.pyplot as plt\n"
    "plt.figure(figsize=(4, 3), facecolor='red')\nplt.plot([1, 3, 2])\n"
    "plt.show()",
    "import time\nprint('spinning', flush=True)\nwhile True:\n"
    "    time.sleep(0.05)",
    "print('x' in globals())",
    f"for line in open({fifo!r}):\n    print('line', line.strip(), flush=True)",
]
SUM, PLOT, SPIN, GLOBALS, LINES_CELL = range(len(CELLS))

def rest(method, path, data=None):
    req = urllib.request.Request(
        url + path,
        method=method,
        data=data and json.dumps(data).encode(),
        headers={"Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(req, timeout=20) as r:
        return json.load(r)


def write_notebook():
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{i}",
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for i, source in enumerate(CELLS)
    ]
    spec = {"name": "sandbox-python", "display_name": "Python (sandbox)"}
    with open(f"{notebooks}/test.ipynb", "w") as f:
        json.dump(
            {
                "cells": cells,
                "metadata": {"kernelspec": spec},
                "nbformat": 4,
                "nbformat_minor": 5,
            },
            f,
        )


def cell(i):
    return f"document.querySelectorAll('.jp-CodeCell')[{i}]"


def output(i):
    return f"({cell(i)}.querySelector('.jp-OutputArea').innerText)"


def run_cell(page, i):
    page.until(
        f"{cell(i)}.classList.contains('jp-mod-active') ||"
        " (document.activeElement.blur(),"
        f" {cell(i)}.querySelector('.cm-content').focus())"
    )
    page.eval(f"{cell(i)}.querySelector('.cm-content').focus()")
    page.shift_enter()


def run_until(page, i, text):
    """JupyterLab ignores who runs a cell before it has its kernel."""

    def check():
        run_cell(page, i)
        page.until(f"!{cell(i)}.innerText.includes('[*]')")
        return page.eval(f"{output(i)}.trim() === {text!r}")

    wait_until(f"cell {i} to print {text}", check, 60)


def is_open(page):
    page.until(
        f"document.querySelectorAll('.jp-CodeCell').length === {len(CELLS)}",
        90,
    )
    page.until(f"{cell(0)}.querySelector('.cm-content')")


def is_connected():
    """Only then does running a cell do anything."""
    for k in rest("GET", "/api/kernels"):
        if k["connections"] and k["execution_state"] == "idle":
            return True
    return False


def come_in(page):
    ticket = rest("POST", "/v1/tickets", {"path": "/lab"})["ticket"]
    page.open(f"{url}/lab?ticket={ticket}")
    page.until("document.querySelector('#jp-main-dock-panel')", 120)
    assert ticket not in page.eval("location.href"), "the ticket stays visible"
    assert "sandbox-" not in page.eval("document.cookie"), "for scripts"
    page.open(f"{url}/lab/lab/tree/test.ipynb")
    is_open(page)
    wait_until("a kernel", is_connected, 60)


def see_a_plot(page):
    run_cell(page, PLOT)
    image = f"{cell(PLOT)}.querySelector('.jp-OutputArea img')"
    page.until(f"{image} && {image}.complete", 60)
    width, height, pixel = page.eval(
        f"""(() => {{
            const i = {image}, c = document.createElement('canvas');
            c.width = i.naturalWidth;
            c.height = i.naturalHeight;
            c.getContext('2d').drawImage(i, 0, 0);
            return [c.width, c.height,
                    [...c.getContext('2d').getImageData(2, 2, 1, 1).data]];
        }})()"""
    )
    assert width > 100 and height > 100, (width, height)
    assert pixel == [255, 0, 0, 255], pixel


def interrupt_and_restart(page):
    run_cell(page, SPIN)
    page.until(f"{output(SPIN)}.includes('spinning')")
    page.click("jp-button[data-command='notebook:interrupt-kernel']")
    page.until(f"{output(SPIN)}.includes('KeyboardInterrupt')")
    run_cell(page, GLOBALS)
    page.until(f"{output(GLOBALS)}.trim() === 'True'")
    page.click("jp-button[data-command='notebook:restart-kernel']")
    accept = "document.querySelector('.jp-Dialog button.jp-mod-accept')"
    page.until(accept)
    page.eval(f"{accept}.click()")
    page.until("!document.querySelector('.jp-Dialog')")
    run_until(page, GLOBALS, "False")
    assert not page.eval("document.querySelector('.jp-Dialog')"), "it died?"


def reload_while_it_prints(page):
    """Nothing is lost that was printed before, meanwhile and after."""
    os.mkfifo(fifo)
    feed = os.fdopen(os.open(fifo, os.O_RDWR), "w")

    def say(numbers):
        feed.write("".join(f"{i}\n" for i in numbers))
        feed.flush()

    run_cell(page, LINES_CELL)
    say(range(10))
    page.until(f"{output(LINES_CELL)}.includes('line 9')")
    page.eval("window.isOld = true")
    page.call("Page.reload")
    say(range(10, 20))
    page.until("!window.isOld && document.readyState === 'complete'", 60)
    is_open(page)
    page.until(f"{output(LINES_CELL)}.includes('line 19')", 60)
    say(range(20, LINES))
    feed.close()
    page.until(f"{output(LINES_CELL)}.includes('line {LINES - 1}')")
    want = "".join(f"line {i}\n" for i in range(LINES))
    got = page.eval(output(LINES_CELL))
    assert got.strip() == want.strip(), got
    (kernel,) = rest("GET", "/api/kernels")
    messages = rest("GET", f"/v1/kernels/{kernel['id']}/messages")["messages"]
    text = "".join(
        m["content"]["text"]
        for m in messages
        if m["header"]["msg_type"] == "stream"
    )
    assert want in text, text


def run(page):
    write_notebook()
    come_in(page)
    run_until(page, SUM, "sum 42")
    see_a_plot(page)
    if shots:
        page.screenshot(f"{shots}/lab.png")
    interrupt_and_restart(page)
    reload_while_it_prints(page)
    if shots:
        page.screenshot(f"{shots}/lab-reloaded.png")


browser = Browser(folder, size=(1200, 1500))
try:
    run(browser.page)
except BaseException:
    if shots:
        browser.page.screenshot(f"{shots}/lab-failed.png")
    print(browser.page.problems[-5:], file=sys.stderr)
    raise
finally:
    browser.close()
