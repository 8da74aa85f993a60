# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven through its DevTools protocol."""
import base64
import json
import os
import subprocess
import urllib.request

from ws import WebSocket, wait_until


class Browser:
    def __init__(self, folder, size=(1000, 640)):
        self.folder = folder
        args = [
            os.environ.get("CHROMIUM", "chromium"),
            "--headless=new",
            "--no-sandbox",  # root has none, and the page is our own
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--remote-debugging-port=0",
            "--remote-allow-origins=*",
            f"--window-size={size[0]},{size[1]}",
            f"--user-data-dir={folder}/profile",
            "about:blank",
        ]
        env = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=folder)
        self.log = open(f"{folder}/chromium.log", "wb")
        self.process = subprocess.Popen(
            args, stdout=self.log, stderr=self.log, env=env
        )
        try:
            self.port = wait_until("Chromium", self._port, 60)
            self.page = self._page()
        except BaseException:
            self.close()
            raise

    def _port(self):
        assert self.process.poll() is None, "Chromium has ended"
        try:
            with open(f"{self.folder}/profile/DevToolsActivePort") as f:
                return int(f.readline())
        except (OSError, ValueError):
            return None

    def _page(self):
        def find():
            url = f"http://127.0.0.1:{self.port}/json/list"
            with urllib.request.urlopen(url, timeout=20) as r:
                for t in json.load(r):
                    if t["type"] == "page":
                        return t["webSocketDebuggerUrl"]
            return None

        url = wait_until("a page", find, 60)
        return Page(WebSocket(self.port, "/" + url.split("/", 3)[3]))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Page:
    def __init__(self, ws):
        self.ws = ws
        self.last = 0
        self.problems = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.last += 1
        self.ws.send({"id": self.last, "method": method, "params": params})
        while True:
            m = self.ws.recv(60)
            if m.get("id") == self.last:
                assert "error" not in m, (method, m)
                return m["result"]
            self._note(m)

    def _note(self, m):
        """What the console shows: a broken script or policy."""
        if m.get("method") == "Runtime.exceptionThrown":
            self.problems.append(m["params"]["exceptionDetails"])
        elif m.get("method") == "Log.entryAdded":
            entry = m["params"]["entry"]
            if entry["level"] == "error":
                self.problems.append(entry)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def eval(self, expression):
        r = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in r, r
        return r["result"].get("value")

    def until(self, expression, deadline=30):
        """Wait for it; what the page does not have yet is false."""
        check = (
            "(() => { try { return Boolean(" + expression + "); }"
            " catch (e) { return false; } })()"
        )
        return wait_until(expression, lambda: self.eval(check), deadline)

    def type(self, text):
        """Key by key, as a person does."""
        for c in text:
            if c == "\n":
                for kind in ("rawKeyDown", "char", "keyUp"):
                    self.call(
                        "Input.dispatchKeyEvent",
                        type=kind,
                        key="Enter",
                        code="Enter",
                        text="\r",
                        windowsVirtualKeyCode=13,
                    )
            else:
                self.call("Input.dispatchKeyEvent", type="char", text=c)

    def screenshot(self, path):
        r = self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as f:
            f.write(base64.b64decode(r["data"]))
