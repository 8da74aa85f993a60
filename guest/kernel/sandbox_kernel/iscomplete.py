# SPDX-License-Identifier: Apache-2.0
"""is_complete_request: may the console run this, or does more come?"""

from codeop import CommandCompiler
import warnings

from sandbox_kernel import magic
from sandbox_kernel.cell import ONLY_AST, TOP_LEVEL_AWAIT

_LEAVES = ("return", "pass", "raise", "break", "continue")


def reply(content):
    status, indent = check(str(content.get("code", "")))
    answer = {"status": status}
    if status == "incomplete":
        answer["indent"] = indent
    return answer


def check(code):
    lines = code.rstrip(" \t").split("\n")
    ended = len(lines) > 1 and not lines[-1]
    if code.lstrip().startswith("%%"):
        return ("complete" if ended else "incomplete"), ""
    compiler = CommandCompiler()
    compiler.compiler.flags |= TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = compiler(code, "<input>", "exec") is not None
    except (SyntaxError, ValueError, OverflowError):
        if magic.looks_magic(code):
            return "complete", ""
        return "invalid", ""
    if not done:
        return "incomplete", _indent(lines)
    if not ended and _open_block(code, lines):
        return "incomplete", _indent(lines)
    return "complete", ""


def _open_block(code, lines):
    """A block goes on until an empty line ends it."""
    if not lines[-1][:1].isspace():
        return False
    tree = compile(code, "<input>", "exec", ONLY_AST | TOP_LEVEL_AWAIT, True)
    return bool(tree.body) and hasattr(tree.body[-1], "body")


def _indent(lines):
    text = [line for line in lines if line.strip()]
    if not text:
        return ""
    last = text[-1]
    space = last[: len(last) - len(last.lstrip())]
    code = last.strip()
    if code.endswith(":"):
        return space + "    "
    if code.split(" ")[0] in _LEAVES and len(space) >= 4:
        return space[:-4]
    return space
