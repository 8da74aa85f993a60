# SPDX-License-Identifier: Apache-2.0
"""Which request goes where.  What few people need is imported when needed."""

import sys

from sandbox_kernel import imports
from sandbox_kernel.shell import Shell


class Kernel:
    def __init__(self, core, folder):
        self.core = core
        self.stopping = False
        self.shell = Shell(core, folder)
        self.shell.kernel = self
        self._comms = None
        self._install()

    def _install(self):
        core = self.core
        sys.stdout = core.Stream("stdout")
        sys.stderr = core.Stream("stderr")
        from sandbox_kernel import stdin

        stdin.install()
        imports.install(self)

    @property
    def comms(self):
        """The comm manager, made by the first who asks for it."""
        if self._comms is None:
            from sandbox_kernel.comms import CommManager

            self._comms = CommManager(self.core)
        return self._comms

    def run(self):
        while not self.stopping:
            req = self.shell.loop.next(self.core)
            if req is None:
                break
            self.dispatch(req)
        return self.leave()

    def leave(self):
        """Let atexit handlers and threads of the user end as usual."""
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except Exception:
            pass
        return 0

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
            self.core.reply(req, dict(_error(error), execution_count=self.shell.count))

    def guarded(self, call, *args):
        """A request about code must never end the kernel."""
        value, error = self.core.guard(call, *args)
        return value if error is None else _error(error)

    def do_execute_request(self, req):
        return self.shell.execute(req)

    def do_complete_request(self, req):
        from sandbox_kernel import complete

        return self.guarded(complete.reply, self.shell, req.content)

    def do_inspect_request(self, req):
        from sandbox_kernel import inspection

        return self.guarded(inspection.reply, self.shell, req.content)

    def do_is_complete_request(self, req):
        from sandbox_kernel import iscomplete

        return self.guarded(iscomplete.reply, req.content)

    def do_history_request(self, req):
        return self.guarded(self.shell.history.reply, req.content)

    def do_comm_open(self, req):
        self.guarded(self.comms.comm_open, req)

    def do_comm_msg(self, req):
        self.guarded(self.comms.comm_msg, req)

    def do_comm_close(self, req):
        self.guarded(self.comms.comm_close, req)


def _error(error):
    return {
        "status": "error",
        "ename": type(error).__name__,
        "evalue": str(error),
        "traceback": [],
    }
