# SPDX-License-Identifier: Apache-2.0
"""execute_request, as far as it is the same in all languages."""


class Cells:
    def __init__(self, core, history):
        self.core = core
        self.history = history
        self.count = 0
        self.number = 0
        self.request = None
        self.allow_stdin = False
        self.payload = []
        self.shown = None

    def run_cell(self, code, stored, silent, options):
        """None, or what explain() makes an error of."""
        raise NotImplementedError

    def explain(self, failure):
        """ename, evalue and traceback; None: it was no error."""
        raise NotImplementedError

    def remember(self, code):
        """A cell with a number of its own begins."""
        self.history.add(self.number, code)

    def expressions(self, wanted):
        """The values of user_expressions."""
        return {}

    def execute(self, req):
        content = req.content
        code = content.get("code", "")
        if not isinstance(code, str):
            code = ""
        silent = bool(content.get("silent", False))
        stored = bool(content.get("store_history", True)) and not silent
        options = req.metadata.get("sandbox") if req.metadata else None
        self.request = req
        self.allow_stdin = bool(content.get("allow_stdin", False))
        self.payload = []
        self.number = self.count + 1
        self.shown = None
        self._announce(code, stored, silent)
        error = self._run(code, stored, silent, options)
        return self._finish(content, error, silent, stored)

    def _announce(self, code, stored, silent):
        if stored:
            self.count += 1
        if not silent:
            self.core.publish(
                "execute_input", {"code": code, "execution_count": self.number}
            )
        if stored:
            self.remember(code)

    def _run(self, code, stored, silent, options):
        options = options if isinstance(options, dict) else None
        if options:
            self._deadline(options.get("deadline"))
        failure = self.run_cell(code, stored, silent, options)
        if options:
            self.core.deadline(None)
        error = None if failure is None else self.explain(failure)
        if error is not None and not silent:
            self.core.publish("error", error)
        return error

    def _deadline(self, seconds):
        if isinstance(seconds, (int, float)) and 0 < seconds < 1e7:
            self.core.deadline(seconds)

    def _finish(self, content, error, silent, stored):
        number = self.number if not silent else self.count
        if stored and self.shown is not None:
            self.history.add_output(self.number, self.shown)
        reply = {
            "status": "ok",
            "execution_count": number,
            "payload": self.payload,
            "user_expressions": {},
        }
        if error is not None:
            reply.update(error, status="error")
            if content.get("stop_on_error", True) and not silent:
                self.core.abort_queued(self.count)
        elif content.get("user_expressions"):
            wanted = content["user_expressions"]
            values = self.core.guard(self.expressions, wanted)[0]
            reply["user_expressions"] = values or {}
        return reply
