# SPDX-License-Identifier: Apache-2.0
"""Names in a piece of code, and what they stand for, without running it."""

import builtins
import re

DOTTED = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")


def find(namespace, name):
    """(found, value) of a dotted name."""
    first, *rest = name.replace(" ", "").split(".")
    if first in namespace:
        value = namespace[first]
    elif hasattr(builtins, first):
        value = getattr(builtins, first)
    else:
        return False, None
    for part in rest:
        try:
            value = getattr(value, part)
        except Exception:
            return False, None
    return True, value


def name_at(code, position):
    """The names that the cursor may mean, best first: the one under it, then
    the functions whose brackets are open around it."""
    for match in DOTTED.finditer(code):
        if match.start() <= position <= match.end():
            # Only as far as the part that the cursor is in.
            end = position
            while end < match.end() and (code[end].isalnum() or code[end] == "_"):
                end += 1
            yield code[match.start() : end].rstrip(". ")
    for start in open_brackets(code[:position]):
        match = re.search(DOTTED.pattern + r"\s*$", code[:start])
        if match:
            yield match.group().strip()


def open_brackets(text):
    """Where the round brackets open that are not closed, innermost first."""
    depth = 0
    for i in range(len(text) - 1, max(-1, len(text) - 20000), -1):
        if text[i] in ")]}":
            depth += 1
        elif text[i] in "([{":
            if depth:
                depth -= 1
            elif text[i] == "(":
                yield i
