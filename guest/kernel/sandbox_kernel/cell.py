# SPDX-License-Identifier: Apache-2.0
"""One cell: compiled, run, its last expression handed back."""

import _ast
import sys

ONLY_AST = 0x400
TOP_LEVEL_AWAIT = 0x2000
# What "from __future__ import" sets; it lasts from cell to cell.
FUTURE = 0x1FE0000
COROUTINE = 0x80
NOTHING = object()


class Sources:
    """The text of the cells, for tracebacks and inspect; the oldest go first."""

    LIMIT = 4 << 20
    CELLS = 1000

    def __init__(self):
        self._text = {}
        self._bytes = 0
        self._serial = 0
        self._cache = None

    def add(self, text, number, file=None):
        """The name under which the text is known from now on."""
        if number is None:
            self._serial += 1
            number = "s%d" % self._serial
        name = "<cell %s%s>" % (number, _of(file))
        self._drop(name)
        self._text[name] = text
        self._bytes += len(text) + 200
        while self._bytes > self.LIMIT or len(self._text) > self.CELLS:
            if len(self._text) == 1:
                break
            self._drop(next(iter(self._text)))
        if self._cache is not None:
            self._cache[name] = _entry(name, text)
        return name

    def _drop(self, name):
        text = self._text.pop(name, None)
        if text is not None:
            self._bytes -= len(text) + 200
            if self._cache is not None:
                self._cache.pop(name, None)

    def attach(self, linecache):
        self._cache = linecache.cache
        for name, text in self._text.items():
            self._cache[name] = _entry(name, text)


def _of(file):
    """Which file a cell is from, if the client says so."""
    if not isinstance(file, str):
        return ""
    name = file.rsplit("/", 1)[-1][:100]
    return ": " + "".join(c for c in name if c.isprintable() and c not in '<>"')


def _entry(name, text):
    lines = [line + "\n" for line in text.split("\n")]
    # No time stamp: linecache.checkcache() then keeps it.
    return len(text), None, lines, name


class Program:
    """A cell that compiled."""

    def __init__(self, text, name, flags):
        tree = compile(text, name, "exec", ONLY_AST | TOP_LEVEL_AWAIT | flags, True)
        body = tree.body
        self.codes = []
        self.value = None
        self.quiet = False
        last = body[-1] if body else None
        if isinstance(last, _ast.Expr):
            self.quiet = _semicolon(text, last)
            body = body[:-1]
        else:
            last = None
        flags |= TOP_LEVEL_AWAIT
        if body:
            module = _ast.Module(body, [])
            code = compile(module, name, "exec", flags, True)
            flags |= code.co_flags & FUTURE
            self.codes.append(code)
        if last is not None:
            tree = _ast.Expression(last.value)
            self.value = compile(tree, name, "eval", flags, True)
        self.flags = flags & FUTURE
        codes = self.codes + [self.value] if self.value else self.codes
        awaits = any(code.co_flags & COROUTINE for code in codes)
        self.needs_loop = not awaits and wants_loop(text)


def _semicolon(text, last):
    """Does a semicolon follow the last expression?"""
    if ";" not in text:
        return False
    lines = text.split("\n")
    line = lines[last.end_lineno - 1].encode()[last.end_col_offset :].decode()
    rest = "\n".join([line] + lines[last.end_lineno :])
    return rest.lstrip(" \t\r\n\\)").startswith(";")


class Loop:
    """The event loop of top-level await; made when first needed."""

    def __init__(self):
        self._loop = None

    def _get(self):
        import asyncio

        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        return asyncio

    def next(self, core):
        """The next request; tasks of earlier cells run on until it comes."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return core.next()
        loop.add_reader(core.fileno(), loop.stop)
        try:
            while True:
                req = core.next(False)
                if req is not False:
                    return req
                _run_on(loop)
                if loop.is_closed():
                    return core.next()
        finally:
            if not loop.is_closed():
                loop.remove_reader(core.fileno())

    def run(self, coroutine):
        asyncio = self._get()
        task = self._loop.create_task(coroutine)
        try:
            return self._loop.run_until_complete(task)
        except KeyboardInterrupt:
            self._cancel(asyncio, task)
            raise

    def _cancel(self, asyncio, task):
        """Let the task clean up, then forget it."""
        if task.done():
            return
        task.cancel()
        try:
            self._loop.run_until_complete(task)
        except (asyncio.CancelledError, KeyboardInterrupt, Exception):
            pass


async def _within(program, namespace):
    return run(program, namespace, None)


def wants_loop(text):
    """Code that starts tasks without a word of await needs a loop around it;
    code that runs a loop itself must have none."""
    if not any(word in text for word in _TASKS):
        return False
    return not any(word in text for word in _LOOPS)


_TASKS = ("create_task(", "ensure_future(", "get_running_loop(")
_LOOPS = ("asyncio.run(", "run_until_complete(", "run_forever(", "Runner(")


def _run_on(loop):
    try:
        loop.run_forever()
    except BaseException:
        # A task raised SystemExit, say.  There is no cell to blame.
        import traceback

        traceback.print_exc()


def run(program, namespace, loop):
    """Run it; the value of its last expression, or NOTHING."""
    if program.needs_loop and loop is not None:
        return loop.run(_within(program, namespace))
    for code in program.codes:
        result = eval(code, namespace)
        if code.co_flags & COROUTINE:
            loop.run(result)
    code = program.value
    if code is None:
        return NOTHING
    result = eval(code, namespace)
    if code.co_flags & COROUTINE:
        result = loop.run(result)
    return result


def settled():
    """Take away what a debugger left behind."""
    if sys.gettrace() is not None:
        sys.settrace(None)
