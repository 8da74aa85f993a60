# SPDX-License-Identifier: Apache-2.0
"""The magics that work without IPython, and what every !command does."""

import os
import sys

NAME = "_sandbox_magic"
MISSING = (
    "%s needs IPython, which is not installed here; install it with: "
    "%%pip install ipython"
)


class UsageError(Exception):
    """Shown without a traceback."""


def system(shell, command):
    """Run a command of the shell; what it prints is captured as it comes."""
    import subprocess

    sys.stdout.flush()
    sys.stderr.flush()
    shell_path = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    status = subprocess.call(
        command, shell=True, executable=shell_path, stdin=subprocess.DEVNULL
    )
    shell.ns["_exit_code"] = status
    return status


def translate(code):
    """The cell with its magics written as calls."""
    text = code.lstrip()
    if text.startswith("%%"):
        first, _, body = text[2:].partition("\n")
        name, _, args = first.partition(" ")
        return "%s.call(%r, %r, %r)" % (NAME, name.strip(), args.strip(), body)
    return "\n".join(_line(line) for line in code.split("\n"))


def _line(line):
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    text = text.rstrip()
    target = ""
    if text[:1] not in ("%", "!", "?"):
        left, equals, right = text.partition("=")
        if equals and right.lstrip()[:1] in ("%", "!") and _is_target(left):
            target, text = left + "= ", right.lstrip()
    if text.startswith("!"):
        if target:
            call = "getoutput(%r)" % text[1:]
        else:
            call = "system(%r)" % text.lstrip("!")
    elif text.startswith("%"):
        name, _, args = text[1:].partition(" ")
        call = "call(%r, %r)" % (name, args.strip())
    elif text.startswith("?") or text.endswith("?"):
        name = text.strip("?").strip()
        call = "help(%r, %d)" % (name, len(text) - len(name) > 1)
    else:
        return line
    return indent + target + NAME + "." + call


def _is_target(text):
    return all(part.strip().isidentifier() for part in text.split(","))


class Magics:
    """Called by translated cells."""

    def __init__(self, shell):
        self._shell = shell

    def help(self, name, detail):
        from sandbox_kernel import inspection

        inspection.page(self._shell, name, detail)

    def system(self, command):
        system(self._shell, self._expand(command))

    def getoutput(self, command):
        import subprocess

        done = subprocess.run(
            self._expand(command),
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return done.stdout.decode(errors="replace").splitlines()

    def call(self, name, args, body=None):
        kind = "cell_" if body is not None else "line_"
        method = getattr(self, kind + name, None)
        if method is None:
            mark = "%" if body is None else "%%"
            raise UsageError(MISSING % (mark + name))
        if body is not None:
            return method(args, body)
        return method(self._expand(args) if name != "timeit" else args)

    def _expand(self, text):
        """{expression} and $name, as far as they mean something."""
        import re

        def value(match):
            inner = match.group(1)
            try:
                if inner is not None:
                    return str(eval(inner, self._shell.ns))
                return str(self._shell.ns[match.group(2)])
            except Exception:
                return match.group(0)

        return re.sub(r"\{([^{}]+)\}|\$([A-Za-z_]\w*)", value, text)

    def line_pip(self, args):
        import importlib

        python = _quote(sys.executable)
        system(self._shell, "%s -m pip --disable-pip-version-check %s" % (python, args))
        importlib.invalidate_caches()

    def line_cd(self, args):
        os.chdir(os.path.expanduser(args.strip().strip("\"'") or "~"))
        print(os.getcwd())

    def line_pwd(self, args):
        return os.getcwd()

    def line_ls(self, args):
        self.system("ls " + args)

    def line_env(self, args):
        if not args:
            return dict(os.environ)
        name, equals, value = args.partition("=")
        if not equals:
            name, _, value = args.partition(" ")
            if not value:
                return os.environ.get(name)
        os.environ[name.strip()] = value.strip()
        print("env: %s=%s" % (name.strip(), value.strip()))
        return None

    line_set_env = line_env

    def line_matplotlib(self, args):
        if args.split(" ")[0] not in ("", "inline", "auto"):
            raise UsageError("only %matplotlib inline is possible here")

    def line_time(self, args):
        return self.cell_time("", args)

    def cell_time(self, args, body):
        import time
        from sandbox_kernel import cell

        program = cell.Program(body, self._shell.sources.add(body, None), 0)
        cpu, wall = time.process_time(), time.perf_counter()
        value = cell.run(program, self._shell.ns, self._shell.loop)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print("CPU times: total: %s\nWall time: %s" % (_seconds(cpu), _seconds(wall)))
        return None if value is cell.NOTHING else value

    def line_timeit(self, args):
        self._timeit(args, "pass")

    def cell_timeit(self, args, body):
        self._timeit(body, args or "pass")

    def _timeit(self, text, setup):
        from timeit import Timer

        timer = Timer(text, setup, globals=self._shell.ns)
        loops, _ = timer.autorange()
        runs = [time / loops for time in timer.repeat(5, loops)]
        print(
            "%s per loop (best of 5 runs, %d loops each; worst %s)"
            % (_seconds(min(runs)), loops, _seconds(max(runs)))
        )

    def cell_bash(self, args, body, program="bash"):
        import subprocess

        sys.stdout.flush()
        sys.stderr.flush()
        done = subprocess.run([program], input=body.encode())
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, program)

    def cell_sh(self, args, body):
        self.cell_bash(args, body, "sh")

    def cell_writefile(self, args, body):
        append = args.startswith("-a ")
        path = os.path.expanduser(args[3:].strip() if append else args)
        with open(path, "a" if append else "w", encoding="utf-8") as file:
            file.write(body)
        print("Wrote %s" % path)


def _quote(text):
    import shlex

    return shlex.quote(text)


def _seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return "%.3g %s" % (value / scale, unit)
    return "%.3g ns" % (value / 1e-9)
