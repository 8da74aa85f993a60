# SPDX-License-Identifier: Apache-2.0
"""The kernel for bash."""

import os

from sandbox_kernel.bashchild import Child
from sandbox_kernel.cells import Cells
from sandbox_kernel.history import History
from sandbox_kernel.info import info as common_info
from sandbox_kernel.kernel import Kernel


def version():
    """SystemExit where there is no bash."""
    out, into = os.pipe()
    code = 'printf %s "${BASH_VERSION%%(*}"'
    try:
        pid = os.posix_spawnp(
            "bash",
            ["bash", "--norc", "-c", code],
            dict(os.environ, BASH_ENV=""),
            file_actions=[(os.POSIX_SPAWN_DUP2, into, 1)],
        )
    except OSError as error:
        raise SystemExit("sandbox-kernel: cannot run bash: %s" % error.strerror)
    os.close(into)
    text = os.read(out, 100).decode("ascii", "replace")
    os.close(out)
    os.waitpid(pid, 0)
    return text


def info():
    number = version()
    language = {
        "name": "bash",
        "version": number,
        "mimetype": "text/x-sh",
        "file_extension": ".sh",
        "codemirror_mode": "shell",
        "pygments_lexer": "bash",
        "nbconvert_exporter": "script",
    }
    link = {"text": "Bash", "url": "https://www.gnu.org/software/bash/manual/"}
    return common_info(language, "GNU bash %s" % number, help_links=[link])


class BashCells(Cells):
    def __init__(self, core):
        super().__init__(core, History("history-bash"))
        self.child = Child(core)

    def run_cell(self, code, stored, silent, options):
        child = self.child
        status = child.run(code)
        if child.ended is not None and not child.kept:
            self._tell_end(child.ended)
        return status or None

    def _tell_end(self, status):
        how = "was killed by signal %d" % -status if status < 0 else "has ended"
        text = "bash %s; the next cell starts a new one, without its variables\n"
        self.core.publish("stream", {"name": "stderr", "text": text % how})

    def explain(self, status):
        name, value = "ExitStatus", str(status)
        if self.child.cause == "deadline":
            name, value = "TimeoutError", "the cell ran until its deadline"
        elif self.child.cause is not None:
            name, value = "KeyboardInterrupt", "exit status %d" % status
        return {"ename": name, "evalue": value, "traceback": []}


class BashKernel(Kernel):
    def __init__(self, core):
        super().__init__(core, BashCells(core))

    def leave(self):
        self.cells.child.close()

    def do_complete_request(self, req):
        from sandbox_kernel import bashwords

        return bashwords.complete(self.cells.child, req.content)

    def do_inspect_request(self, req):
        from sandbox_kernel import bashwords

        return bashwords.inspect(self.cells.child, req.content)

    def do_is_complete_request(self, req):
        from sandbox_kernel import bashwords

        return self.guarded(bashwords.is_complete, req.content)
