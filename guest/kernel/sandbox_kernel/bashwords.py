# SPDX-License-Identifier: Apache-2.0
"""What bash knows of a word: complete, inspect and is_complete requests."""

import os
import re

from sandbox_kernel.bashchild import quote

MATCHES = 1000
TEXT = 64 << 10
# The word before the cursor; what stands before it says what it may be.
WORD = re.compile(r"(?:\\.|[^\s;|&()<>=:'\"`\\])*\Z")
FIRST = re.compile(r"(?:\A|[\n;|&({!`]|\b(?:if|then|elif|else|while|until|do|time|exec|"
                   r"sudo|command|builtin|nohup|xargs|env))\s*\Z")
COMMAND = re.compile(r"(?:\A|[\n;|&(])\s*([\w.-]+)[^\n;|&(]*\Z")
# compgen's options, by the command.
ARGUMENTS = {
    "alias": "-a", "unalias": "-a",
    "cd": "-d", "pushd": "-d", "rmdir": "-d", "mkdir": "-d",
    "declare": "-v", "export": "-v", "local": "-v", "readonly": "-v",
    "read": "-v", "unset": "-v -A function",
    "help": "-A helptopic", "kill": "-A signal", "trap": "-A signal",
    "man": "-c", "type": "-c", "which": "-c",
    "set": "-A setopt", "shopt": "-A shopt",
}
FILES = {"-d", "-f"}
SPECIAL = re.compile(r"([\s'\"\\$&;|<>()*?`!{}\[\]#])")
NAME = re.compile(r"[\w./+@-]*\Z"), re.compile(r"[\w./+@-]*")


def _before(content):
    code = str(content.get("code", ""))
    position = content.get("cursor_pos")
    if not isinstance(position, int):
        position = len(code)
    return code, min(max(position, 0), len(code))


def complete(child, content):
    code, position = _before(content)
    before = code[:position]
    word = WORD.search(before).group()
    found = _candidates(child, before[: len(before) - len(word)], word)
    return {
        "status": "ok",
        "matches": found[:MATCHES],
        "cursor_start": position - len(word),
        "cursor_end": position,
        "metadata": {},
    }


def _candidates(child, before, word):
    variable = re.search(r"\$\{?(\w*)\Z", word)
    if variable:
        start = word[: variable.start(1)]
        return [start + name for name in _compgen(child, "-v", variable.group(1))]
    plain = re.sub(r"\\(.)", r"\1", word)
    if FIRST.search(before) and "/" not in word:
        return _compgen(child, "-c", plain)
    command = COMMAND.search(before)
    kind = ARGUMENTS.get(command.group(1), "-f") if command else "-f"
    found = _compgen(child, kind, plain) if kind not in FILES else []
    return found or _files(child, kind if kind in FILES else "-f", plain)


def _compgen(child, kind, word):
    text = child.ask("\\builtin compgen %s -- %s" % (kind, quote(word)))
    return sorted(set(text.splitlines()))


def _files(child, kind, word):
    """Names, quoted; folders have a slash, and need not be looked for twice."""
    folders = set(_compgen(child, "-d", word))
    names = _compgen(child, "-f", word) if kind == "-f" else sorted(folders)
    return [
        SPECIAL.sub(r"\\\1", name) + ("/" if name in folders else "")
        for name in names
    ]


def inspect(child, content):
    code, position = _before(content)
    word = NAME[0].search(code[:position]).group()
    word += NAME[1].match(code[position:]).group()
    text = _describe(child, word) if word else ""
    data = {"text/plain": text[:TEXT]} if text.strip() else {}
    return {"status": "ok", "found": bool(data), "data": data, "metadata": {}}


def _describe(child, word):
    return child.ask(
        "case $(\\builtin type -t -- {0}) in\n"
        "(builtin|keyword) \\builtin help -- {0};;\n"
        "(file) \\builtin type -- {0}; \\command man -f -- {0};;\n"
        "(?*) \\builtin type -- {0};;\n"
        "(*) \\builtin declare -p -- {0};;\n"
        "esac".format(quote(word))
    )


def is_complete(content):
    code = str(content.get("code", ""))
    errors = _parse(code)
    if "unexpected EOF" in errors or "unexpected end of file" in errors:
        status = "incomplete"
    elif "here-document" in errors or _goes_on(code):
        status = "incomplete"
    else:
        status = "invalid" if "syntax error" in errors else "complete"
    answer = {"status": status}
    if status == "incomplete":
        answer["indent"] = _indent(code)
    return answer


def _goes_on(code):
    """Does the last line end with a backslash that nothing quotes?"""
    last = code.rpartition("\n")[2]
    return (len(last) - len(last.rstrip("\\"))) % 2 == 1


def _indent(code):
    last = code.rpartition("\n")[2]
    space = last[: len(last) - len(last.lstrip())]
    opens = re.search(r"(?:\b(?:do|then|else|in)|\{)\s*\Z", last)
    return space + "    " if opens else space


def _parse(code):
    """What a bash that runs nothing says of it."""
    text, says = os.memfd_create("code"), os.memfd_create("errors")
    try:
        with open(text, "wb", closefd=False) as file:
            file.write(code.replace("\0", "").encode("utf-8", "replace"))
        os.lseek(text, 0, os.SEEK_SET)
        pid = os.posix_spawnp(
            "bash",
            ["bash", "--norc", "-O", "extglob", "-n"],
            dict(os.environ, LC_ALL="C", BASH_ENV=""),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, text, 0),
                (os.POSIX_SPAWN_DUP2, says, 2),
            ],
        )
        os.waitpid(pid, 0)
        return os.pread(says, TEXT, 0).decode("utf-8", "replace")
    finally:
        os.close(text)
        os.close(says)
