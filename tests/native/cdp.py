# SPDX-License-Identifier: Apache-2.0
"""A real browser for tests: headless Chromium, driven over its debugging
protocol.  Use:

    with Browser() as b:
        b.open("http://127.0.0.1:8765/docs")
        b.wait("document.querySelectorAll('.op').length > 5")
        b.js("document.title")
        b.screenshot("page.png")
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import websocket

DEADLINE = 90


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        self.size = (width, height)
        self.dark = dark
        self.profile = tempfile.mkdtemp(prefix="sandbox-chromium.")
        self.log = []  # what pages said on their console, and failures
        self.last_id = 0

    def __enter__(self):
        args = ["chromium", "--headless", "--remote-debugging-port=0",
                "--remote-allow-origins=*", "--disable-gpu",
                "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--no-proxy-server",
                "--user-data-dir=" + self.profile,
                "--window-size=%d,%d" % self.size, "about:blank"]
        if os.geteuid() == 0:
            args.insert(1, "--no-sandbox")
        self.process = subprocess.Popen(args, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        try:
            self.attach(self.debug_url())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # Its own session, so that no helper of it outlives the test.
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def debug_url(self):
        path = os.path.join(self.profile, "DevToolsActivePort")
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError("chromium ended: %d" % self.process.returncode)
            try:
                with open(path) as f:
                    lines = f.read().split("\n")
                if len(lines) >= 2:
                    return "ws://127.0.0.1:%s%s" % (lines[0], lines[1])
            except FileNotFoundError:
                pass
            time.sleep(0.05)
        raise RuntimeError("chromium does not answer")

    def attach(self, url):
        self.session = None
        self.ws = websocket.create_connection(url, timeout=DEADLINE)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if self.dark else "light"}])

    def call(self, method, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.ws.send(json.dumps(message))
        while True:
            answer = json.loads(self.ws.recv())
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.note(answer)

    def note(self, event):
        if event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown",
                                   "Runtime.consoleAPICalled"):
            self.log.append(event["params"])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState == 'complete' && "
                  "location.href.startsWith(%s)" % json.dumps(url.split("#")[0]))

    def js(self, code):
        """The value of an expression in the page."""
        r = self.call("Runtime.evaluate", expression=code, returnByValue=True,
                      awaitPromise=True, userGesture=True)
        if "exceptionDetails" in r:
            raise RuntimeError("%s: %s" % (code, json.dumps(r["exceptionDetails"])))
        return r["result"].get("value")

    def wait(self, code, seconds=DEADLINE):
        """Until the expression is true."""
        end = time.monotonic() + seconds
        while True:
            try:
                if self.js("Boolean(%s)" % code):
                    return
            except RuntimeError:  # the page is being left
                pass
            if time.monotonic() > end:
                for entry in self.log:
                    print(json.dumps(entry)[:500], file=sys.stderr)
                raise AssertionError("never true: " + code)
            time.sleep(0.05)

    def type(self, text):
        """Into what has the focus."""
        self.call("Input.insertText", text=text)

    def key(self, key, code, number):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code,
                      windowsVirtualKeyCode=number,
                      text="\r" if key == "Enter" else "")

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
