# SPDX-License-Identifier: Apache-2.0
"""IPython's machinery, loaded when a cell first needs it: an InteractiveShell
with our namespace, whose output goes our way."""

import sys


def load(shell):
    """Set shell.ipython, if IPython is installed."""
    try:
        # Importing it calls us again when it is done, see imports.py.
        from IPython.core.interactiveshell import InteractiveShell
    except ImportError:
        return
    if shell.ipython is None and not getattr(shell, "loading_ipython", False):
        shell.loading_ipython = True
        try:
            shell.ipython = _make(shell, InteractiveShell)
        finally:
            shell.loading_ipython = False
        _prepare(shell, shell.ipython)


def _shell_class(shell, base):
    from traitlets import Type

    hook, publisher = _parts(shell)

    class ZMQInteractiveShell(base):
        # Programs look for this name to know that they are in a notebook.
        displayhook_class = Type(hook)
        display_pub_class = Type(publisher)
        kernel = None

        def init_sys_modules(self):
            sys.modules["__main__"] = self.user_module

        def system(self, cmd):
            from sandbox_kernel import magics

            magics.system(shell, self.var_expand(cmd, depth=1))

        system_raw = system_piped = system

        def enable_matplotlib(self, gui=None):
            if gui in (None, "inline", "auto"):
                return "inline", "module://sandbox_kernel.mpl"
            return super().enable_matplotlib(gui)

        def enable_gui(self, gui=None):
            pass

        def ask_exit(self):
            shell.ns["exit"]()

        def showtraceback(self, *args, **keys):
            _show(shell)

        def showsyntaxerror(self, *args, **keys):
            _show(shell)

        def set_next_input(self, text, replace=False):
            self.payload_manager.write_payload(
                {"source": "set_next_input", "text": text, "replace": replace}
            )

    return ZMQInteractiveShell


def _make(shell, base):
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.IPKernelApp.connection_file = ""
    config.InteractiveShell.banner1 = ""
    kept = {
        name: shell.ns.get(name) for name in ("In", "Out", "_ih", "_oh", "exit", "quit")
    }
    ip = _shell_class(shell, base).instance(
        config=config, user_module=shell.main, user_ns=shell.ns
    )
    shell.ns.update(kept)
    return ip


def _parts(shell):
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from sandbox_kernel import display

    class Hook(DisplayHook):
        def __call__(self, result=None):
            shell.displayhook(result)

    class Publisher(DisplayPublisher):
        sends = True

        def publish(
            self,
            data,
            metadata=None,
            source=None,
            *,
            transient=None,
            update=False,
            **more
        ):
            data = {key: display.encode(item) for key, item in data.items()}
            display.send(shell, data, metadata, transient, update)

        def clear_output(self, wait=False):
            display.clear_output(shell, wait)

    return Hook, Publisher


class Around:
    """Around a cell: IPython's traps, and the events that extensions such as
    autoreload wait for."""

    def __init__(self, shell, code, stored, silent):
        from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult

        self._ip = shell.ipython
        self._ip.execution_count = shell.number
        self._silent = silent
        self._info = ExecutionInfo(code, stored, silent, True, None)
        self._result = ExecutionResult(self._info)
        self._result.execution_count = shell.number

    def __enter__(self):
        self._ip.builtin_trap.__enter__()
        self._ip.display_trap.__enter__()
        self._ip.events.trigger("pre_execute")
        if not self._silent:
            self._ip.events.trigger("pre_run_cell", self._info)

    def __exit__(self, kind, error, tb):
        self._result.error_in_exec = error
        try:
            self._ip.events.trigger("post_execute")
            if not self._silent:
                self._ip.events.trigger("post_run_cell", self._result)
        finally:
            self._ip.display_trap.__exit__(None, None, None)
            self._ip.builtin_trap.__exit__(None, None, None)


def _show(shell):
    """An exception that IPython caught, in a nested cell."""
    from sandbox_kernel import tracebacks

    error = sys.exc_info()[1]
    if error is not None:
        shell.core.publish("error", tracebacks.describe(shell, error))


def _prepare(shell, ip):
    from IPython.core import page, payloadpage
    import builtins

    ip.set_hook("show_in_pager", page.as_hook(payloadpage.page), 99)
    ip.kernel = Front(shell)
    ip.execution_count = shell.number
    builtins.display = shell.display
    builtins.get_ipython = shell.get_ipython
    sys.displayhook = shell.displayhook
    png = ip.display_formatter.formatters["image/png"]
    png.for_type_by_name("matplotlib.figure", "Figure", _figure)
    try:
        from matplotlib_inline.config import InlineBackend

        ip.configurables.append(InlineBackend.instance(parent=ip))
    except ImportError:
        pass


def _figure(figure):
    from sandbox_kernel import mpl

    return mpl.png(figure)


class Front:
    """As much of ipykernel's kernel object as widgets look for."""

    def __init__(self, shell):
        self.shell = shell.ipython
        self._ours = shell
        self.session = Session()

    @property
    def comm_manager(self):
        return self._ours.kernel.comms

    @property
    def _parent_header(self):
        return {"header": self._ours.request.header}

    def get_parent(self, channel=None):
        return self._parent_header


class Session:
    session = ""
