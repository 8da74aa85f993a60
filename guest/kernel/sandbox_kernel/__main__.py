# SPDX-License-Identifier: Apache-2.0
"""Start the kernel: ``python3 -m sandbox_kernel -f FILE``, or this file by its
path, which works in any Python without an entry in its sys.path."""

import sys


def _boot():
    if not __package__:
        # Run by its path: our folder must not be where modules are looked
        # for, and the package must be found without being installed.
        import types

        sys.path.pop(0)
        folder = __file__.rpartition("/")[0]
        package = types.ModuleType("sandbox_kernel")
        package.__path__ = [folder]
        package.__file__ = folder + "/__init__.py"
        sys.modules["sandbox_kernel"] = package
        sys.path.insert(0, "")
    elif sys.path and sys.path[0] not in ("", "/"):
        sys.path[0] = ""
    from sandbox_kernel.app import main

    return main(sys.argv)


if __name__ == "__main__":
    sys.exit(_boot())
