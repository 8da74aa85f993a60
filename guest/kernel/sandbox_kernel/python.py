# SPDX-License-Identifier: Apache-2.0
"""The kernel for Python.  What few people need is imported when needed."""

import sys

from sandbox_kernel import imports
from sandbox_kernel.kernel import Kernel
from sandbox_kernel.shell import Shell


class PythonKernel(Kernel):
    def __init__(self, core, folder):
        self.shell = shell = Shell(core, folder)
        super().__init__(core, shell)
        shell.kernel = self
        self._comms = None
        self._install()
        # What a program in a cell sees of its own command line.
        sys.argv = [""]

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

    def next(self):
        return self.shell.loop.next(self.core)

    def leave(self):
        """Let atexit handlers and threads of the user end as usual."""
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except Exception:
            pass

    def do_complete_request(self, req):
        from sandbox_kernel import complete

        return self.guarded(complete.reply, self.shell, req.content)

    def do_inspect_request(self, req):
        from sandbox_kernel import inspection

        return self.guarded(inspection.reply, self.shell, req.content)

    def do_is_complete_request(self, req):
        from sandbox_kernel import iscomplete

        return self.guarded(iscomplete.reply, req.content)

    def do_comm_open(self, req):
        self.guarded(self.comms.comm_open, req)

    def do_comm_msg(self, req):
        self.guarded(self.comms.comm_msg, req)

    def do_comm_close(self, req):
        self.guarded(self.comms.comm_close, req)
