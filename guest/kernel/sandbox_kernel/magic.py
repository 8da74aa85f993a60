# SPDX-License-Identifier: Apache-2.0
"""Cells that are not plain Python: %magic, !command, name?

Only what does not compile comes here.  IPython translates and runs it, if it
is installed; else magics.py knows the most common ones.
"""

import builtins

# Commands that people type without their percent sign.
BARE = frozenset(("ls", "pwd", "who", "whos"))
WORDS = frozenset(
    ("cat", "cd", "conda", "cp", "env", "ls", "man", "mkdir", "mv", "pip")
    + ("rm", "rmdir", "run", "time", "timeit", "uv")
)


def looks_magic(code):
    for line in code.split("\n"):
        line = line.strip()
        if line[:1] in ("%", "!", "?") or line.endswith("?"):
            return True
        _, equals, right = line.partition("=")
        if equals and right.lstrip()[:1] in ("%", "!"):
            return True
    return False


def translate(shell, code):
    """Python that does the same, or None for plain Python with a mistake."""
    if not looks_magic(code):
        text = code.strip()
        if "\n" in text or text.split(" ")[0] not in WORDS:
            return None
        code = "%" + text
    from sandbox_kernel import magics

    builtins._sandbox_magic = magics.Magics(shell)
    wanted = help_wanted(code)
    if wanted is not None:
        return "_sandbox_magic.help(%r, %d)" % wanted
    if shell.load_ipython():
        return shell.ipython.transform_cell(code)
    return magics.translate(code)


def automatic(shell, word):
    """A word that nothing is named after: a command?"""
    return translate(shell, "%" + word) if word in BARE else None


def help_wanted(code):
    """(name, detail) if the cell is nothing but a question for help."""
    text = code.strip().rstrip(";")
    name = text.strip("?")
    marks = len(text) - len(name)
    name = name.strip()
    if not marks or marks > 2 or not all(p.isidentifier() for p in name.split(".")):
        return None
    return name, marks - 1
