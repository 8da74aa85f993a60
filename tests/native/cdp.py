# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven through its DevTools protocol."""
import base64
import json
import os
import subprocess
import urllib.request

from ws import WebSocket, wait_until


class Browser:
    def __init__(self, folder, size=(1000, 640), display=None):
        """display: the environment of an X display to be seen on."""
        self.folder = folder
        args = [
            os.environ.get("CHROMIUM", "chromium"),
            *([] if display else ["--headless=new"]),
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
        env = dict(display or os.environ, HOME=folder, XDG_CONFIG_HOME=folder)
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


class Navigated(Exception):
    """The page that was asked is no more."""


class Page:
    def __init__(self, ws):
        self.ws = ws
        self.last = 0
        self.problems = []
        self.ranges = []  # of the parts that were answered with 206
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.last += 1
        ident = self.last
        self.ws.send({"id": ident, "method": method, "params": params})
        while True:
            m = self.ws.recv(60)
            if m.get("id") == ident:
                if m.get("error", {}).get("code") == -32000:
                    raise Navigated(m["error"]["message"])
                assert "error" not in m, (method, m)
                return m["result"]
            self._note(m)

    def _note(self, m):
        """What the console shows: a broken script or policy."""
        if m.get("method") == "Page.javascriptDialogOpening":
            # "Leave this page?"
            self.last += 1
            self.ws.send(
                {
                    "id": self.last,
                    "method": "Page.handleJavaScriptDialog",
                    "params": {"accept": True},
                }
            )
        if m.get("method") == "Network.responseReceived":
            response = m["params"]["response"]
            if response["status"] == 206:
                headers = {k.lower(): v for k, v in response["headers"].items()}
                self.ranges.append(headers["content-range"])
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

        def look():
            try:
                return self.eval(check)
            except Navigated:
                return False

        return wait_until(expression, look, deadline)

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

    def click(self, selector):
        """With the mouse, in the middle of it."""
        found = f"document.querySelector({selector!r})"
        self.until(f"{found}.getBoundingClientRect().width > 0")
        x, y = self.eval(
            f"(() => {{ const r = {found}.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    def shift_enter(self):
        for kind in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key="Enter",
                code="Enter",
                modifiers=8,
                windowsVirtualKeyCode=13,
            )

    def screenshot(self, path):
        r = self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as f:
            f.write(base64.b64decode(r["data"]))
