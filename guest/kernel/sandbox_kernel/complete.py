# SPDX-License-Identifier: Apache-2.0
"""complete_request, from the live namespace."""

import builtins
import keyword
import os
import re
import sys

from sandbox_kernel.names import DOTTED, find, open_brackets

LIMIT = 1000
IMPORT = re.compile(r"^\s*(?:import|from)\s+(?:[\w.]+\s*,\s*)*([\w.]*)$")
FROM = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+\(?(?:[\w\s]+,)*\s*(\w*)$")
ATTRIBUTE = re.compile(r"(" + DOTTED.pattern + r")\s*\.\s*(\w*)$")
STRING = re.compile(r"""[\w)\]]?\s*(['"])([^'"]*)$""")
KEY = re.compile(r"(" + DOTTED.pattern + r""")\s*\[\s*(['"])([^'"]*)$""")
LITERAL = re.compile(r"""(['"\]}])\s*\.\s*(\w*)$""")
WORD = re.compile(r"(\w*)$")
MAGIC = re.compile(r"^\s*(%%?)(\w*)$")
KINDS = {"'": str, '"': str, "]": list, "}": dict}


def reply(shell, content):
    code = str(content.get("code", ""))
    position = content.get("cursor_pos")
    if not isinstance(position, int) or not 0 <= position <= len(code):
        position = len(code)
    before = code[:position]
    line = before.rpartition("\n")[2]
    word, matches = candidates(shell, before, line)
    matches = matches[:LIMIT]
    start = position - len(word)
    types = [
        {"start": start, "end": position, "text": text, "type": kind, "signature": ""}
        for text, kind in matches
    ]
    return {
        "status": "ok",
        "matches": [text for text, _ in matches],
        "cursor_start": start,
        "cursor_end": position,
        "metadata": {"_jupyter_types_experimental": types} if types else {},
    }


def candidates(shell, before, line):
    """(the text to replace, [(match, type)])"""
    match = FROM.match(line)
    if match:
        return match.group(2), _starting(match.group(2), _from_module(match.group(1)))
    match = IMPORT.match(line)
    if match:
        return _module_word(match.group(1))
    match = MAGIC.match(line)
    if match:
        return match.group(2), _starting(match.group(2), _magics(shell, match.group(1)))
    if line.lstrip()[:1] == "!":
        return _files(line.split(" ")[-1].lstrip("!"))
    match = KEY.search(line)
    if match:
        return match.group(3), _keys(shell, *match.groups())
    match = ATTRIBUTE.search(line)
    if match and not _in_string(line[: match.start()]):
        return match.group(2), _attributes(shell, match.group(1), match.group(2))
    match = LITERAL.search(line)
    if match and not _in_string(line[: match.end(1)]):
        return match.group(2), _members(KINDS[match.group(1)], match.group(2))
    if _in_string(line):
        return _files(STRING.search(line).group(2)) if STRING.search(line) else ("", [])
    word = WORD.search(line).group(1)
    before_word = line[: len(line) - len(word)].rstrip()
    if not word and not before_word.endswith(("(", ",")):
        return "", []
    if before_word.endswith("."):
        return word, []
    names = _arguments(shell, before, word) + (_names(shell, word) if word else [])
    return word, names


def _in_string(text):
    """A crude look at the quotes of one line."""
    quote = None
    i = 0
    while i < len(text):
        char = text[i]
        if quote:
            if char == "\\":
                i += 1
            elif char == quote:
                quote = None
        elif char in "'\"":
            quote = char
        elif char == "#":
            return False
        i += 1
    return quote is not None


def _starting(word, names):
    found = [n for n in names if n[0].startswith(word)]
    if not word.startswith("_"):
        found = [n for n in found if not n[0].startswith("_")]
    return sorted(set(found))


def _kind(value):
    if isinstance(value, type):
        return "class"
    if isinstance(value, type(sys)):
        return "module"
    return "function" if callable(value) else "instance"


def _names(shell, word):
    names = [(name, _kind(value)) for name, value in shell.ns.items()]
    names += [(name, _kind(value)) for name, value in vars(builtins).items()]
    names += [(name, "keyword") for name in keyword.kwlist]
    return _starting(word, [n for n in names if n[0] not in _hidden(shell, word)])


def _hidden(shell, word):
    return () if len(word) > 1 else shell.hidden


def _attributes(shell, owner, word):
    found, value = find(shell.ns, owner)
    return _members(value, word) if found else []


def _members(value, word):
    try:
        names = [name for name in dir(value) if isinstance(name, str)]
    except Exception:
        return []
    known = {}
    for part in (
        getattr(type(value), "__mro__", ()) if not isinstance(value, type) else ()
    ):
        for name, item in vars(part).items():
            known.setdefault(name, _kind(item))
    return _starting(word, [(name, known.get(name, "instance")) for name in names])


def _keys(shell, owner, quote, word):
    found, value = find(shell.ns, owner)
    if not found:
        return []
    try:
        if hasattr(type(value), "_ipython_key_completions_"):
            keys = value._ipython_key_completions_()
        else:
            keys = value.keys()
        return sorted(
            (key, "dict key")
            for key in list(keys)[: LIMIT * 10]
            if isinstance(key, str) and key.startswith(word)
        )
    except Exception:
        return []


def _arguments(shell, before, word):
    """name= of the function whose bracket is open."""
    for start in open_brackets(before):
        match = re.search(DOTTED.pattern + r"\s*$", before[:start])
        found, value = find(shell.ns, match.group().strip()) if match else (False, None)
        if not found or not callable(value):
            return []
        import inspect

        try:
            names = inspect.signature(value).parameters.values()
        except (TypeError, ValueError):
            return []
        names = [n.name + "=" for n in names if n.kind in (1, 3)]
        return _starting(word, [(name, "param") for name in names])
    return []


def _magics(shell, mark):
    if shell.ipython is not None:
        lister = shell.ipython.magics_manager.lsmagic()
        names = lister["cell" if mark == "%%" else "line"]
    else:
        from sandbox_kernel.magics import Magics

        kind = "cell_" if mark == "%%" else "line_"
        names = [n[5:] for n in dir(Magics) if n.startswith(kind)]
    return [(name, "magic") for name in names]


def _modules():
    import pkgutil

    names = {module.name for module in pkgutil.iter_modules()}
    names.update(sys.builtin_module_names)
    names.update(getattr(sys, "stdlib_module_names", ()))
    return [(name, "module") for name in names]


def _module_word(path):
    package, dot, word = path.rpartition(".")
    if not dot:
        return word, _starting(word, _modules())
    return word, _starting(word, _submodules(package))


def _submodules(package):
    import importlib.util
    import pkgutil

    try:
        module = sys.modules.get(package)
        if module is None:
            # Finding a submodule's place imports its parents, not itself.
            spec = importlib.util.find_spec(package)
            where = spec.submodule_search_locations if spec else None
        else:
            where = getattr(module, "__path__", None)
        return (
            [(m.name, "module") for m in pkgutil.iter_modules(where)] if where else []
        )
    except Exception:
        return []


def _from_module(name):
    module = sys.modules.get(name)
    names = _submodules(name)
    if module is not None:
        names += [(n, _kind(v)) for n, v in vars(module).items()]
    elif name in getattr(sys, "stdlib_module_names", ()):
        import importlib

        try:
            module = importlib.import_module(name)
            names += [(n, _kind(v)) for n, v in vars(module).items()]
        except Exception:
            pass
    return names


def _files(path):
    folder, _, word = path.rpartition("/")
    where = os.path.expanduser(folder or ("/" if path.startswith("/") else "."))
    try:
        with os.scandir(where) as entries:
            names = [(e.name + "/" * e.is_dir(), "path") for e in entries]
    except OSError:
        return word, []
    found = [n for n in names if n[0].startswith(word) and (word or n[0][:1] != ".")]
    return word, sorted(found)
