# SPDX-License-Identifier: Apache-2.0
"""In, Out and the underscores, all of them bounded."""

import sys

RESULTS = 100
RESULT_BYTES = 64 << 20
INPUT_BYTES = 4 << 20


def size_of(value):
    """About how many bytes a value keeps alive; never walks into it."""
    kind = type(value)
    try:
        if kind.__module__.startswith("pandas."):
            use = value.memory_usage(index=False)
            return int(use if isinstance(use, int) else use.sum())
        size = getattr(value, "nbytes", None)
        if isinstance(size, int):
            return size
        if kind.__module__.startswith("PIL."):
            return value.width * value.height * 4
        return sys.getsizeof(value)
    except Exception:
        return 0


class Results:
    """What the cells gave.  An old result must not hold the memory of a
    machine: the oldest go, and one that is too big is only in ``_``."""

    def __init__(self, namespace):
        self._ns = namespace
        self._sizes = {}
        self._bytes = 0
        self._mine = {}
        self.out = {}
        namespace["Out"] = namespace["_oh"] = self.out

    def add(self, number, value):
        size = size_of(value)
        self._shift(value, size)
        if size > RESULT_BYTES:
            return
        self._forget(number)
        self.out[number] = value
        self._sizes[number] = size
        self._bytes += size
        self._ns["_%d" % number] = value
        while len(self._sizes) > RESULTS or self._bytes > RESULT_BYTES:
            self._forget(next(iter(self._sizes)))

    def _forget(self, number):
        self._bytes -= self._sizes.pop(number, 0)
        if number in self.out:
            value = self.out.pop(number)
            if self._ns.get("_%d" % number, self) is value:
                del self._ns["_%d" % number]

    def _shift(self, value, size):
        ns, mine = self._ns, self._mine
        # A user's own "_" is left alone, as IPython does.
        for name in ("_", "__", "___"):
            if name in ns and ns[name] is not mine.get(name, self):
                return
        older = [mine.get("_"), mine.get("__")]
        for name, old in zip(("__", "___"), older):
            if size_of(old) > RESULT_BYTES:
                old = None
            ns[name] = mine[name] = old
        ns["_"] = mine["_"] = value


class Inputs:
    """In: indexed by the cell's number; old texts become empty."""

    def __init__(self, namespace):
        self._ns = namespace
        self._texts = [""]
        self._bytes = 0
        self._first = 0
        namespace["In"] = namespace["_ih"] = self._texts
        for name in ("_i", "_ii", "_iii"):
            namespace[name] = ""

    def add(self, number, text):
        texts, ns = self._texts, self._ns
        while len(texts) <= number:
            texts.append("")
        ns["_iii"], ns["_ii"], ns["_i"] = ns.get("_ii"), ns.get("_i"), texts[number - 1]
        texts[number] = text
        self._bytes += len(text)
        while self._bytes > INPUT_BYTES and self._first < number:
            self._bytes -= len(texts[self._first])
            texts[self._first] = ""
            self._first += 1
