# SPDX-License-Identifier: Apache-2.0
"""execute_request: what a cell does to the namespace and what it shows."""

import builtins
import sys
import types

from sandbox_kernel import cell
from sandbox_kernel.cells import Cells
from sandbox_kernel.history import History
from sandbox_kernel.outputs import Inputs, Results

NOTHING = cell.NOTHING
_current = None


def current():
    """The one shell of this process."""
    return _current


class Leave(SystemExit):
    """exit() was called: the kernel ends after this cell."""


class Exit:
    """exit and quit, also without their parentheses."""

    def __init__(self, shell):
        self._shell = shell

    def __call__(self, code=None, keep_kernel=False):
        self._shell.leaving = True
        raise Leave(code)

    def __repr__(self):
        return "exit() ends the kernel"


class Shell(Cells):
    def __init__(self, core, folder):
        global _current
        _current = self
        super().__init__(core, History())
        self.folder = folder
        self.kernel = None
        self.flags = 0
        self.leaving = False
        self.ipython = None
        self.magics = None
        self.value = NOTHING
        self.sources = cell.Sources()
        self.loop = cell.Loop()
        self._make_main()

    def _make_main(self):
        # The kernel's own __main__ must stay alive: its globals are in use.
        self._own_main = sys.modules.get("__main__")
        self.main = main = types.ModuleType("__main__", None)
        sys.modules["__main__"] = main
        self.ns = ns = main.__dict__
        ns["__builtins__"] = builtins
        ns.pop("__loader__", None)
        ns.pop("__spec__", None)
        ns["__spec__"] = None
        self.results = Results(ns)
        self.inputs = Inputs(ns)
        ns["exit"] = ns["quit"] = Exit(self)
        builtins.display = self.display
        builtins.get_ipython = self.get_ipython
        self.hidden = set(ns)
        sys.displayhook = self.displayhook

    def display(self, *objects, **keys):
        """Show objects in the front end, in the richest way they know."""
        from sandbox_kernel import display

        return display.display(self, *objects, **keys)

    def get_ipython(self):
        """IPython's shell; it is loaded by the first call."""
        self.load_ipython()
        if self.ipython is None:
            raise NameError(
                "name 'get_ipython' is not defined: IPython is not installed"
            )
        return self.ipython

    def load_ipython(self):
        """True when IPython is there; the same namespace is then its own."""
        if self.ipython is None:
            from sandbox_kernel import ipy

            ipy.load(self)
        return self.ipython is not None

    def displayhook(self, value):
        """Show what an expression gave, and keep it."""
        if value is None:
            return
        if isinstance(value, Exit):
            value()
        from sandbox_kernel import display

        data, metadata = display.format(self, value)
        self.results.add(self.number, value)
        if not data:
            return
        self.shown = data.get("text/plain")
        self.core.publish(
            "execute_result",
            {"execution_count": self.number, "data": data, "metadata": metadata},
        )

    def execute(self, req):
        self.value = NOTHING
        reply = super().execute(req)
        if self.ipython is not None:
            manager = self.ipython.payload_manager
            reply["payload"] += manager.read_payload()
            manager.clear_payload()
        if self.leaving:
            self.kernel.stopping = True
        self.value = NOTHING
        return reply

    def remember(self, code):
        self.inputs.add(self.number, code)
        super().remember(code)

    def run_cell(self, code, stored, silent, options):
        error = self.core.guard(self._work, code, stored, silent, options)[1]
        cell.settled()
        return error

    def _work(self, code, stored, silent, options):
        """What an interrupt may interrupt."""
        self._run_text(code, stored, silent, (options or {}).get("file"))
        self._figures(silent)
        if options or _pickle_by_default():
            self._result(code, options or {})

    def _run_text(self, code, stored, silent, file=None):
        name = self.sources.add(code, self.number if stored else None, file)
        program = self._compile(code, name)
        if program is None:
            return
        self.flags |= program.flags
        if self.ipython is not None:
            from sandbox_kernel.ipy import Around

            with Around(self, code, stored, silent):
                self._run_program(program, silent)
        else:
            self._run_program(program, silent)

    def _run_program(self, program, silent):
        self.value = value = cell.run(program, self.ns, self.loop)
        if value is not NOTHING and not program.quiet and not silent:
            sys.displayhook(value)
        elif isinstance(value, Exit):
            value()

    def _compile(self, code, name):
        try:
            program = cell.Program(code, name, self.flags)
        except SyntaxError as error:
            from sandbox_kernel import magic

            failure = error.with_traceback(None)
            text = magic.translate(self, code)
        else:
            if code.isidentifier() or "\n" not in code and code.strip().isidentifier():
                return self._bare_word(code.strip(), name) or program
            return program
        # Outside of "except", so that the cell does not see our exception.
        if text is None:
            raise failure
        return cell.Program(text, name, self.flags)

    def _bare_word(self, word, name):
        """ls and pwd alone are commands, if nothing has that name."""
        if word in self.ns or hasattr(builtins, word):
            return None
        from sandbox_kernel import magic

        text = magic.automatic(self, word)
        return cell.Program(text, name, self.flags) if text else None

    def _figures(self, silent):
        mpl = sys.modules.get("sandbox_kernel.mpl")
        if mpl is not None:
            mpl.flush(self, silent)

    def _result(self, code, options):
        from sandbox_kernel import result

        value = self.value
        if (value is NOTHING or value is None) and "_result" in code:
            value = self.ns.get("_result", value)
        result.send(self, None if value is NOTHING else value, options)

    def explain(self, error):
        if isinstance(error, Leave):
            self.payload.append({"source": "ask_exit", "keepkernel": False})
            return None
        from sandbox_kernel import tracebacks

        mpl = sys.modules.get("sandbox_kernel.mpl")
        if mpl is not None:
            mpl.drop(self)
        sys.last_type, sys.last_value = type(error), error
        sys.last_traceback = error.__traceback__
        return tracebacks.describe(self, error)

    def expressions(self, wanted):
        if not isinstance(wanted, dict):
            return {}
        from sandbox_kernel import display, tracebacks

        values = {}
        for key, text in wanted.items():
            try:
                data, metadata = display.format(self, eval(text, self.ns))
                values[key] = {"status": "ok", "data": data, "metadata": metadata}
            except BaseException as error:
                values[key] = dict(tracebacks.describe(self, error), status="error")
        return values


def _pickle_by_default():
    import os

    return os.environ.get("SANDBOX_RESULT_PICKLE") == "1"
