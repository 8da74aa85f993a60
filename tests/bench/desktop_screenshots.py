# SPDX-License-Identifier: Apache-2.0
"""How long a screenshot of 1280x800 takes, and how much time of a processor,
beside scrot and import, by turns.  The X server's, which all need, is not counted."""
import os
import resource
import statistics
import subprocess
import time

from desktop_agent import clock
from desktop_place import percentile, table, verdict

WIDTH, HEIGHT = 1280, 800
TITLE = "bench-text"


def ours(place, query, known=None):
    """known: a list with the tag that was seen last."""

    def run():
        head = {"If-None-Match": known[-1]} if known else {}
        r, data = place.ask("GET", "/v1/screen/screenshot?" + query, None, head)
        if known:
            known.append(r.getheader("ETag"))
        return len(data)

    return run


def theirs(place, name, *args):
    path = os.path.join(place.folder, name)

    def run():
        subprocess.run([*args, path], check=True)
        size = os.path.getsize(path)
        os.unlink(path)
        return size

    return run


def cpu_ms(pid):
    """Of guestd, if it is here, and of the programs that we have run."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = clock(pid) if pid else 0
    return (used + r.ru_utime + r.ru_stime) * 1000


def cpu_in_guest(place, run, rounds):
    """The mean of many, as it takes long to ask."""
    before = place.do("clock")["guestd"]
    for _ in range(rounds):
        run()
    return (place.do("clock")["guestd"] - before) * 1000 / rounds


def show_text(place):
    """Something to see: a terminal full of it.  Returns what ends it."""
    show = "xterm -fa Monospace -fs 10 -geometry 150x45+20+20 -T %s -e sh -c '%s'"
    text = "ls -la /usr/bin | head -200; exec cat"
    body = {"command": show % (TITLE, text), "background": True}
    path = "/v1/processes/" + place.json("POST", "/v1/shell/exec", body)["id"]
    place.wait_window(TITLE)
    return lambda: place.ask("DELETE", path)


def rows_of(place):
    rows = [("guestd PNG", ours(place, ""), place.goal(15))]
    if place.peers:
        rows += [("scrot PNG", theirs(place, "s.png", "scrot", "-o"), None)]
        rows += [("import PNG", theirs(place, "i.png", "import", "-window", "root"), None)]
    rows += [("guestd JPEG", ours(place, "format=jpeg"), place.goal(6))]
    if place.peers:
        rows += [("scrot JPEG", theirs(place, "s.jpg", "scrot", "-o"), None)]
        rows += [("import JPEG", theirs(place, "i.jpg", "import", "-window", "root"), None)]
    smaller = "format=jpeg&max_width=1024"
    return rows + [
        ("guestd JPEG, 1024 wide", ours(place, smaller), None),
        ("guestd WebP", ours(place, "format=webp"), None),
        ("guestd, unchanged (304)", ours(place, "", ["-"]), None),
    ]


def take(rows, pid, rounds):
    """Times, those of processors, and sizes of each, by turns."""
    times, cpu, sizes = [[] for _ in rows], [[] for _ in rows], [0] * len(rows)
    for _ in range(rounds + 1):
        for i, (_, run, _) in enumerate(rows):
            before, begin = cpu_ms(pid), time.perf_counter()
            sizes[i] = run()
            times[i].append((time.perf_counter() - begin) * 1000)
            cpu[i].append(cpu_ms(pid) - before)
    # The first loads what it needs.
    return zip(rows, [t[1:] for t in times], [c[1:] for c in cpu], sizes)


def measure(place, pid, rounds):
    """pid: guestd's, 0 if it is elsewhere."""
    place.resize(WIDTH, HEIGHT)
    end, lines, got = show_text(place), [], {}
    for (name, run, goal), t, used, size in take(rows_of(place), pid, rounds):
        if not pid:
            used = [cpu_in_guest(place, run, rounds)]
        got[name] = statistics.median(t), statistics.median(used)
        line = [name, got[name][0], min(t), percentile(t, 0.95)]
        line += [got[name][1], percentile(used, 0.95)]
        line += [size / 1000, verdict(got[name][0], goal), verdict(got[name][1], goal)]
        lines.append(line)
    end()
    table(
        "Screenshots of %dx%d, %d of each, by turns" % (WIDTH, HEIGHT, rounds),
        ["", "ms", "best", "p95", "CPU ms", "CPU, p95", "kB", "goal of ms", "of CPU"],
        lines,
    )
    for peer in filter(got.get, ("scrot PNG", "import PNG")):
        ratio = [p / max(o, 0.001) for p, o in zip(got[peer], got["guestd PNG"])]
        print(
            "guestd PNG is %.1f x as quick as %s, and takes %.1f x less CPU (%s)"
            % (ratio[0], peer, ratio[1], verdict(ratio[0], 3, least=True))
        )
