# SPDX-License-Identifier: Apache-2.0
"""console.py COMMAND...: a jupyter console that another started is on the
kernel in which "earlier" is 20."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "kernel"))
from test_console import LINES, ClientFault, Terminal

TRIES = 3


def attempt():
    terminal = Terminal(sys.argv[1:])
    try:
        terminal.walk(*LINES)
        return True
    except ClientFault:
        return False
    finally:
        terminal.end()


assert any(attempt() for _ in range(TRIES)), "it always stumbled"
