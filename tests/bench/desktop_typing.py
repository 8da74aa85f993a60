# SPDX-License-Identifier: Apache-2.0
"""Characters a second into an xterm, and how many of them arrive wrong, beside
xdotool."""
import difflib
import random
import threading
import time

from desktop_place import table, verdict

GOAL = 500  # characters/s
TITLE = "bench-typing"
WORDS = "the quick brown fox jumps over the lazy dog 0123456789 (a+b)*c; x[i]='y'"
# As xterm has all of them: Latin, Greek, Cyrillic, CJK, signs, emoji.
SCRIPTS = (0xC0, 0x17F), (0x391, 0x3A1), (0x3B1, 0x3C9), (0x410, 0x44F)
SCRIPTS += (0x3041, 0x3096), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0x2200, 0x22FF)
SCRIPTS += ((0x1F600, 0x1F64F),)


def ascii_text(count):
    return (WORDS * (count // len(WORDS) + 1))[:count]


def unicode_text(count):
    r = random.Random(6)
    return "".join(chr(r.randint(*r.choice(SCRIPTS))) for _ in range(count))


def wrong(want, got):
    if want == got:
        return 0
    match = difflib.SequenceMatcher(None, want, got, autojunk=False)
    right = sum(b.size for b in match.get_matching_blocks())
    return max(len(want), len(got)) - right


def typed(place, text, by_us, **more):
    """What an xterm got, and how fast."""
    path, found = place.path("typed"), []
    task = {"title": TITLE, "path": path, "bytes": len(text.encode()), **more}
    run = threading.Thread(target=lambda: found.append(place.do("typed", **task)))
    run.start()
    place.wait_window(TITLE)
    place.put(path + ".go", b"")
    by_us()
    run.join()
    return found[0]


def guestd(place, text):
    """From the request to its answer, or from the first character that arrives
    to the last one, whichever takes longer."""
    seconds = []

    def post():
        begin = time.monotonic()
        place.json("POST", "/v1/screen/keyboard", {"action": "type", "text": text})
        seconds.append(time.monotonic() - begin)

    got = typed(place, text, post)
    return {**got, "seconds": max(seconds[0], got["seconds"])}


def xdotool(*options):
    def run(place, text):
        argv = ["xdotool", "type", *options, text]
        return typed(place, text, lambda: None, by=argv)

    return run


def measure(place, count):
    ways = [("guestd", guestd, place.goal(GOAL))]
    if place.peers:
        ways.append(("xdotool --delay 0", xdotool("--delay", "0"), None))
        ways.append(("xdotool", xdotool(), None))
    rows = []
    for kind, text in ("ASCII", ascii_text(count)), ("Unicode", unicode_text(count)):
        for name, run, goal in ways:
            got = run(place, text)
            rate = len(got["text"]) / max(got["seconds"], 0.001)
            bad = wrong(text, got["text"])
            good = verdict(rate, goal, least=True)
            if goal and bad:
                good += ", wrong: MISSED"
            rows.append([kind + ", " + name, "%.0f" % rate, "%d" % bad, good])
    table(
        "Typing %d characters into xterm" % count,
        ["", "characters/s", "wrong", "goal"],
        rows,
    )
