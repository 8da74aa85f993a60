# SPDX-License-Identifier: Apache-2.0
"""The start: of one language, which says what it is before all else."""

import sys

from sandbox_kernel import _core as core
from sandbox_kernel import __path__ as _where

USAGE = "usage: python3 -m sandbox_kernel [--language python|bash] -f CONNECTION_FILE"


def option(argv, *names):
    """The value of the option with one of these names."""
    for i, word in enumerate(argv[1:], 1):
        if word in names and i + 1 < len(argv):
            return argv[i + 1]
        name, sign, value = word.partition("=")
        if sign and name in names:
            return value
    return None


def python(path):
    from sandbox_kernel.info import python_info

    core.start(path, python_info())
    from sandbox_kernel.python import PythonKernel

    return PythonKernel(core, _where[0])


def bash(path):
    from sandbox_kernel.bash import BashKernel, info

    core.start(path, info(), True)
    return BashKernel(core)


LANGUAGES = {"python": python, "bash": bash}


def main(argv):
    path = option(argv, "-f", "--f")
    start = LANGUAGES.get(option(argv, "--language") or "python")
    if path is None or start is None:
        print(USAGE, file=sys.stderr)
        return 2
    return start(path).run()
