# SPDX-License-Identifier: Apache-2.0
"""Films of 1920x1080: what they cost while text moves and while nothing does, and
whether every picture that was there long enough is in them; beside ffmpeg's
x11grab with the settings of guest/recorder/film.c, by turns."""
import json
import os
import subprocess

from desktop_agent import BITS, CELL
from desktop_place import middle, table, verdict

WIDTH, HEIGHT, FPS = 1920, 1080, 30
LONG = 50  # ms
X264 = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]
X264 += ["-qp", "21", "-bf", "0", "-g", str(4 * FPS), "-threads", "1"]
X264 += ["-pix_fmt", "yuv420p"]


def ffmpeg(path):
    """As we film, in one thread."""
    return (
        ["ffmpeg", "-v", "error", "-nostdin", "-y", "-filter_threads", "1"]
        + ["-f", "x11grab", "-framerate", str(FPS)]
        + ["-video_size", "%dx%d" % (WIDTH, HEIGHT), "-i", os.environ["DISPLAY"]]
        + ["-fps_mode", "vfr"]  # and none twice
        + X264
        + ["-movflags", "frag_keyframe+empty_moov+default_base_moof", path]
    )


def our_film(place, task, **more):
    place.json("POST", "/v1/screen/record/start", {"name": "bench", "fps": FPS})
    try:
        found = place.do(task, **more)
    finally:
        place.json("POST", "/v1/screen/record/stop", {"name": "bench"})
    data = place.ask("GET", "/v1/screen/recordings/bench/download")[1]
    place.ask("DELETE", "/v1/screen/recordings/bench")
    path = os.path.join(place.folder, "ours.mp4")
    with open(path, "wb") as f:
        f.write(data)
    return {**found, "path": path}


def their_film(place, task, **more):
    path = os.path.join(place.folder, "theirs.mp4")
    return {**place.do(task, ffmpeg=ffmpeg(path), **more), "path": path}


def look_at(film):
    """How many pictures a film has, and how large they are."""
    probe = ["ffprobe", "-v", "error", "-count_packets", "-of", "json"]
    probe += ["-show_entries", "stream=nb_read_packets:format=duration,size"]
    got = json.loads(subprocess.check_output(probe + [film["path"]]))
    count = int(got["streams"][0]["nb_read_packets"])
    film["rate"] = count / float(got["format"]["duration"])
    film["kB"] = int(got["format"]["size"]) / 1000 / count
    return film


def share(who):
    return lambda r: 100 * r[who] / r["seconds"]


def cost_rows(place, rounds, goal, task, **more):
    """Per cent of a core, of each."""
    got = {"sandbox-recorder": []}
    if place.peers:
        got["ffmpeg x11grab"] = []
    for _ in range(rounds):
        for name, films in got.items():
            film = our_film if name == "sandbox-recorder" else their_film
            films.append(look_at(film(place, task, **more)))
    rows = []
    for name, films in got.items():
        value = middle(films, share("recorder"))
        row = [name, value, middle(films, share("guestd"))]
        row += [middle(films, share("server")), middle(films, lambda r: r["rate"])]
        row += [middle(films, lambda r: r["recorder"] / r["seconds"] / r["rate"] * 1000)]
        row += [middle(films, lambda r: r["kB"])]
        rows.append(row + [verdict(value, None if rows else place.goal(goal))])
    if place.peers:
        # On a busy machine neither has all pictures: it is one that counts.
        by = 5 if task == "moving" else 1
        less = rows[0][by] < rows[1][by]
        rows[0][-1] += ", less: " + ("met" if less else "MISSED")
    return rows


COLUMNS = ["CPU in % of a core", "recorder", "guestd", "X server", "pictures/s"]
COLUMNS += ["ms each", "kB each", "goal"]


def moving(place, rounds, seconds):
    rows = cost_rows(place, rounds, 25, "moving", seconds=seconds, fps=FPS)
    table(
        "Film of %dx%d, text that moves at %d pictures/s, for %d s, median of %d"
        % (WIDTH, HEIGHT, FPS, seconds, rounds),
        COLUMNS,
        rows,
    )


def still(place, seconds):
    rows = cost_rows(place, 1, 1, "still", seconds=seconds)
    table("Film of a still screen, for %d s" % seconds, COLUMNS, rows)


def numbers_in(path):
    """The numbers that a film shows."""
    size = 2 * BITS * 4
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-fps_mode", "passthrough"]
        + ["-enc_time_base", "-1", "-vf"]
        + ["crop=%d:%d:0:0,scale=%d:4:flags=area" % (2 * BITS * CELL, CELL, size)]
        + ["-f", "rawvideo", "-pix_fmt", "gray", "-"],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    found = []
    for at in range(0, len(raw), size * 4):
        row = raw[at + size : at + 2 * size]
        bits = [row[i * 4 + 1] > 128 for i in range(2 * BITS)]
        low = sum(1 << i for i in range(BITS) if bits[i])
        high = sum(1 << i for i in range(BITS) if not bits[BITS + i])
        if low == high:
            found.append(low)
    return found


def missing_row(name, film, goal):
    seen = set(numbers_in(film["path"]))
    long_ = [n for n, ms in film["shown"] if ms > LONG]
    short = [n for n, ms in film["shown"] if ms <= LONG]
    gone = [n for n in long_ if n not in seen]
    return [
        name,
        "%d" % len(long_),
        "%d" % len(gone),
        "%d" % len(short),
        "%d" % sum(n not in seen for n in short),
        verdict(len(gone), goal),
    ]


def missing(place, count):
    task = {"count": count, "ms": 56}
    ours = our_film(place, "numbers", **task)
    rows = [missing_row("sandbox-recorder", ours, place.goal(0))]
    if place.peers:
        theirs = their_film(place, "numbers", **task)
        rows.append(missing_row("ffmpeg x11grab", theirs, None))
    table(
        "Pictures of %dx%d, all of it changing, that a film lacks" % (WIDTH, HEIGHT),
        ["", "shown > %d ms" % LONG, "missing", "shorter", "missing", "goal"],
        rows,
    )


def measure(place, rounds, seconds):
    place.resize(WIDTH, HEIGHT)
    # The pointer, where no number is.
    mouse = {"action": "move", "x": WIDTH // 2, "y": HEIGHT // 2}
    place.json("POST", "/v1/screen/mouse", mouse)
    moving(place, rounds, seconds)
    still(place, max(20, seconds))
    missing(place, 20 * seconds)
