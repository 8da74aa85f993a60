# SPDX-License-Identifier: Apache-2.0
"""The loop around a language: one request after the other."""


class Kernel:
    """A language answers each type of request by a method do_TYPE()."""

    def __init__(self, core, cells):
        self.core = core
        self.cells = cells
        self.stopping = False

    def next(self):
        return self.core.next()

    def run(self):
        while not self.stopping:
            req = self.next()
            if req is None:
                break
            self.dispatch(req)
        self.leave()
        return 0

    def leave(self):
        """The last thing before the process ends."""

    def dispatch(self, req):
        handler = getattr(self, "do_" + req.type, None)
        if handler is None:
            # Unknown messages are tolerated; the spec lets us say nothing.
            self.core.reply(req, None)
            return
        try:
            self.core.reply(req, handler(req))
        except Exception as error:
            # A value that has no form in JSON, or a mistake of ours: neither
            # may cost the user the kernel.
            self.core.reply(req, dict(_error(error), execution_count=self.cells.count))

    def guarded(self, call, *args):
        """A request about code must never end the kernel."""
        value, error = self.core.guard(call, *args)
        return value if error is None else _error(error)

    def do_execute_request(self, req):
        return self.cells.execute(req)

    def do_history_request(self, req):
        return self.guarded(self.cells.history.reply, req.content)


def _error(error):
    return {
        "status": "error",
        "ename": type(error).__name__,
        "evalue": str(error),
        "traceback": [],
    }
