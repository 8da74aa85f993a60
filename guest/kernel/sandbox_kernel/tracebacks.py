# SPDX-License-Identifier: Apache-2.0
"""Exceptions as people know them from IPython: each frame with some lines of
source around the one that ran; the kernel's own frames are left out."""

import linecache
import traceback

FRAMES = 24
CONTEXT = 2
LINE_CHARS = 400
CHAIN = 8

RED, GREEN, CYAN, BLUE, OFF = (
    "\x1b[31m",
    "\x1b[32m",
    "\x1b[36m",
    "\x1b[34m",
    "\x1b[39m",
)
BOLD_GREEN, RESET = "\x1b[1;32m", "\x1b[0m"
RULE = RED + "-" * 75 + OFF


def describe(shell, error):
    """ename, evalue and traceback of an exception."""
    name = type(error).__name__
    try:
        value = str(error)
    except Exception:
        value = "<its str() failed>"
    try:
        lines = _chain(shell, error)
    except Exception as trouble:
        # A hostile exception must not hide itself.
        lines = ["%s: %s" % (name, value), "(no traceback: %r)" % trouble]
    if (
        isinstance(error, KeyboardInterrupt)
        and shell.core.interrupted_by() == "deadline"
    ):
        name, value = "TimeoutError", "the cell ran until its deadline"
        lines[-1] = RED + name + OFF + ": " + value
    return {"ename": name, "evalue": value, "traceback": lines}


def _chain(shell, error):
    parts, seen = [], set()
    while error is not None and id(error) not in seen and len(seen) < CHAIN:
        seen.add(id(error))
        block = _one(shell, error, not parts)
        parts.append(block)
        if isinstance(error, KeyboardInterrupt):
            break
        if error.__cause__ is not None:
            error, note = error.__cause__, "direct cause of"
        elif error.__context__ is not None and not error.__suppress_context__:
            error, note = error.__context__, "during handling of"
        else:
            break
        parts.append(_between(note))
    if len(parts) % 2 == 0:
        parts.pop()
    return [line for part in reversed(parts) for line in part]


def _between(note):
    if note == "direct cause of":
        text = "The above exception was the direct cause of the following exception:"
    else:
        text = "During handling of the above exception, another exception occurred:"
    return ["", text, ""]


def _one(shell, error, outermost):
    kind = type(error)
    name = kind.__name__
    frames = _frames(shell, error)
    if kind.__name__ == "UsageError" and kind.__module__.startswith(
        ("IPython.", "sandbox_kernel.")
    ):
        return [RED + "UsageError" + OFF + ": " + str(error)]
    title = "Traceback (most recent call last)"
    lines = [RULE, RED + name + OFF + title.rjust(75 - len(name))]
    if isinstance(error, KeyboardInterrupt):
        frames = [f for f in frames if _is_cell(f[0].f_code.co_filename)][-1:]
    hidden = len(frames) - FRAMES
    for i, (frame, line) in enumerate(frames):
        if hidden > 0 and i == FRAMES // 2:
            lines += ["", "    [... %d more frames ...]" % hidden]
        if hidden > 0 and FRAMES // 2 <= i < FRAMES // 2 + hidden:
            continue
        lines += _frame(frame, line)
    return lines + _last(error)


def _is_cell(filename):
    return filename.startswith("<cell ")


def _frames(shell, error):
    """[(frame, line)], without the kernel's own."""
    found = []
    tb = error.__traceback__
    while tb is not None:
        frame = tb.tb_frame
        ours = frame.f_code.co_filename.startswith(shell.folder + "/")
        if not ours and not frame.f_locals.get("__tracebackhide__"):
            found.append((frame, tb.tb_lineno))
        tb = tb.tb_next
    # What called the cell, an event loop say, is not the user's concern.
    for i, (frame, _) in enumerate(found):
        if _is_cell(frame.f_code.co_filename):
            return found[i:]
    return found


def _frame(frame, line):
    code = frame.f_code
    filename = code.co_filename
    lines = []
    if _is_cell(filename):
        where = "Cell %sIn[%s]%s, line %d" % (GREEN, filename[6:-1], OFF, line)
    else:
        where = "File %s%s:%d%s" % (GREEN, filename, line, OFF)
    name = getattr(code, "co_qualname", code.co_name)
    if name != "<module>":
        where += ", in %s%s%s" % (CYAN, name, OFF)
        if not _is_cell(filename):
            where += "(...)" if code.co_argcount else "()"
    lines.append(where)
    lines += _source(filename, line, frame.f_globals)
    lines.append("")
    return lines


def _source(filename, line, module):
    linecache.checkcache(filename)
    text = linecache.getlines(filename, module)
    if not text or not 0 < line <= len(text):
        return []
    first = max(1, line - CONTEXT)
    last = min(len(text), line + CONTEXT)
    lines = []
    for number in range(first, last + 1):
        source = text[number - 1].rstrip("\n")[:LINE_CHARS]
        if number == line:
            mark = "-" * max(0, 5 - len(str(number))) + "> "
            lines.append("%s%s%d%s %s" % (BOLD_GREEN, mark, number, RESET, source))
        else:
            lines.append("%s%7d%s %s" % (GREEN, number, OFF, source))
    while lines and lines[-1].endswith(OFF + " "):
        lines.pop()
    return lines


def _last(error):
    """The line that says what it was, with the caret of a SyntaxError."""
    if isinstance(error, BaseException) and hasattr(error, "exceptions"):
        text = "".join(traceback.format_exception(type(error), error, None))
        lines = text.rstrip("\n").split("\n")
    else:
        report = traceback.TracebackException(
            type(error), error, error.__traceback__, limit=0, lookup_lines=False
        )
        lines = "".join(report.format_exception_only()).rstrip("\n").split("\n")
    lines = [_place(line) for line in lines]
    if isinstance(error, KeyboardInterrupt) and not str(error):
        lines[-1] += ": "
    for i, line in enumerate(lines):
        name = type(error).__name__
        if name in line.split(":")[0] and not line.startswith(" "):
            head, colon, rest = line.partition(":")
            head = head.rpartition(".")[2] if " " not in head else head
            lines[i] = RED + head + OFF + colon + rest
            break
    return lines + _hints(error)


def _place(line):
    """File "<cell 3>", line 1  ->  Cell In[3], line 1"""
    if line.startswith('  File "<cell '):
        return line.replace('File "<cell ', "Cell In[", 1).replace('>"', "]", 1)
    return line


def _hints(error):
    if isinstance(error, ModuleNotFoundError):
        name = (error.name or "").partition(".")[0]
        if name == "IPython":
            return [
                "IPython is not installed here; install it with: %pip install ipython"
            ]
    return []
