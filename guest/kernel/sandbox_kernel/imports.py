# SPDX-License-Identifier: Apache-2.0
"""Acts when the user's code imports certain modules, so that the kernel need
not import them itself: a finder that lets the others find the module and runs
a function once it is loaded."""

import sys

_hooks = {}


class _Loader:
    """The module's own loader, and our function after it."""

    def __init__(self, loader, hook):
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        spec = module.__spec__
        spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._hook(module)


class _Finder:
    def __init__(self):
        self._busy = False

    def find_spec(self, name, path=None, target=None):
        hook = _hooks.get(name)
        if hook is None or self._busy:
            return None
        self._busy = True
        try:
            for finder in sys.meta_path:
                if finder is not self and hasattr(finder, "find_spec"):
                    spec = finder.find_spec(name, path, target)
                    if spec is not None:
                        break
            else:
                return None
        finally:
            self._busy = False
        if spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, hook)
        return spec


class _Stand:
    """Puts a module of ours in another's place."""

    def __init__(self, name, ours):
        self._name = name
        self._ours = ours

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from importlib import import_module

        ours = import_module(self._ours)
        for key, value in vars(ours).items():
            if not key.startswith("__"):
                setattr(module, key, value)


def on_import(name, hook):
    """Call hook(module) once the module is there; now, if it is already."""
    module = sys.modules.get(name)
    if module is not None:
        hook(module)
    else:
        _hooks[name] = hook


def install(kernel):
    shell = kernel.shell
    on_import("linecache", shell.sources.attach)
    on_import("IPython", lambda module: shell.load_ipython())
    on_import("matplotlib", _matplotlib)
    on_import("getpass", _getpass)
    on_import("bdb", _bdb)
    on_import("comm", lambda module: _comm(kernel, module))
    sys.meta_path.insert(0, _Finder())
    sys.meta_path.insert(0, _Stand("ipykernel.comm", "sandbox_kernel.comms"))


def _matplotlib(module):
    import os

    if not os.environ.get("MPLBACKEND"):
        module.rcParams["backend"] = "module://sandbox_kernel.mpl"


def _getpass(module):
    from sandbox_kernel import stdin

    module.getpass = stdin.getpass


def _comm(kernel, module):
    from sandbox_kernel import comms

    def create_comm(*args, **kwargs):
        return comms.Comm(*args, **kwargs)

    module.create_comm = create_comm
    module.get_comm_manager = lambda: kernel.comms


def _bdb(module):
    """A debugger that steps out of a cell must not step into the kernel."""
    ours = __name__.partition(".")[0]
    stop_here = module.Bdb.stop_here

    def stop_outside(self, frame):
        if frame.f_globals.get("__name__", "").partition(".")[0] == ours:
            return False
        return stop_here(self, frame)

    module.Bdb.stop_here = stop_outside
