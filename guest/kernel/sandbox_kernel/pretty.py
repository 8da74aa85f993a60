# SPDX-License-Identifier: Apache-2.0
"""text/plain: repr(), broken into lines when it is long, and bounded."""

WIDTH = 79
ITEMS = 1000
LIMIT = 1 << 20
DEPTH = 20

_BRACKETS = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}


def safe_repr(value):
    """repr(), whatever the object does."""
    try:
        text = repr(value)
    except Exception as error:
        kind = type(value)
        return "<%s.%s object at 0x%x: its repr() failed: %s: %s>" % (
            kind.__module__,
            kind.__qualname__,
            id(value),
            type(error).__name__,
            _safe_str(error),
        )
    return text


def _safe_str(error):
    try:
        return str(error)
    except Exception:
        return "?"


def bounded(text, limit=LIMIT):
    if len(text) <= limit:
        return text
    return "%s… (%d characters in all)" % (text[:limit], len(text))


def pretty(value):
    kind = type(value)
    if kind not in _BRACKETS and kind is not dict:
        return bounded(safe_repr(value))
    if len(value) <= ITEMS:
        # repr() of a nested container is quick until it is not: only try it
        # for what may fit into one line.
        text = safe_repr(value) if _small(value) else None
        if text is not None and len(text) <= WIDTH:
            return text
    return bounded(_lines(value, 0, 0, set()))


def _small(value):
    if len(value) > WIDTH:
        return False
    items = value.items() if type(value) is dict else value
    for item in items:
        for part in item if type(item) is tuple else (item,):
            if type(part) in (list, dict, set, tuple, str, bytes) and len(part) > WIDTH:
                return False
    return True


def _lines(value, indent, depth, above):
    kind = type(value)
    if kind not in _BRACKETS and kind is not dict:
        return safe_repr(value)
    if not value:
        return safe_repr(value)
    if id(value) in above or depth >= DEPTH:
        return "{...}" if kind is dict else "[...]"
    above.add(id(value))
    try:
        if kind is dict:
            parts, start, end = _pairs(value, indent + 1, depth, above), "{", "}"
        else:
            start, end = _BRACKETS[kind]
            parts = _items(value, indent + len(start), depth, above)
    finally:
        above.discard(id(value))
    if kind is tuple and len(value) == 1:
        end = ",)"
    flat = ", ".join(parts)
    if len(flat) + indent + len(start) + len(end) <= WIDTH and "\n" not in flat:
        return start + flat + end
    return start + (",\n" + " " * (indent + len(start))).join(parts) + end


def _items(value, indent, depth, above):
    parts, room = [], LIMIT
    for item in _ordered(value):
        if len(parts) >= ITEMS or room < 0:
            parts.append("...")
            break
        parts.append(_lines(item, indent, depth + 1, above))
        room -= len(parts[-1])
    return parts


def _pairs(value, indent, depth, above):
    parts, room = [], LIMIT
    for key, item in value.items():
        if len(parts) >= ITEMS or room < 0:
            parts.append("...")
            break
        name = safe_repr(key) + ": "
        inner = indent + (len(name) if len(name) < WIDTH // 2 else 0)
        parts.append(name + _lines(item, inner, depth + 1, above))
        room -= len(parts[-1])
    return parts


def _ordered(value):
    """Sets are shown in order where they have one, as IPython does."""
    if type(value) in (set, frozenset) and len(value) <= ITEMS:
        try:
            return sorted(value)
        except Exception:
            return value
    return value
