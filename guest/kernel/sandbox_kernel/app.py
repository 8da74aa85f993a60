# SPDX-License-Identifier: Apache-2.0
"""The main loop: takes one request after the other from the C thread."""

import sys

from sandbox_kernel import _core as core
from sandbox_kernel import __path__ as _where

USAGE = "usage: python3 -m sandbox_kernel -f CONNECTION_FILE"


def info():
    """The content of kernel_info_reply."""
    version = "%d.%d.%d" % sys.version_info[:3]
    return {
        "status": "ok",
        "protocol_version": "5.5",
        "implementation": "sandbox-kernel",
        "implementation_version": "0.1",
        "language_info": {
            "name": "python",
            "version": version,
            "mimetype": "text/x-python",
            "file_extension": ".py",
            "codemirror_mode": {"name": "ipython", "version": 3},
            "pygments_lexer": "ipython3",
            "nbconvert_exporter": "python",
        },
        "banner": "Python %s\nsandbox-kernel 0.1" % sys.version.split("\n")[0],
        "help_links": [
            {
                "text": "Python",
                "url": "https://docs.python.org/%d.%d" % sys.version_info[:2],
            }
        ],
        "debugger": False,
        "supported_features": [],
    }


def connection_file(argv):
    for i, word in enumerate(argv[1:], 1):
        if word == "-f" and i + 1 < len(argv):
            return argv[i + 1]
        if word.startswith("-f=") or word.startswith("--f="):
            return word.split("=", 1)[1]
    return None


def main(argv):
    path = connection_file(argv)
    if path is None:
        print(USAGE, file=sys.stderr)
        return 2
    core.start(path)
    core.set_info(info())
    from sandbox_kernel.kernel import Kernel

    kernel = Kernel(core, _where[0])
    # What a program in a cell sees of its own command line.
    sys.argv = [""]
    return kernel.run()
