# SPDX-License-Identifier: Apache-2.0
"""bench-desktop.py URL TOKEN PID FOLDER: measure the desktop of a guestd.

PID is guestd's, "guest" for one in a guest, where peers are not.  Of the environment:
WHAT (screenshots, record, typing), ROUNDS, LENGTH (of a film, in s) and
CHARACTERS."""
import os
import sys

import desktop_record
import desktop_screenshots
import desktop_typing
from desktop_place import Place

url, token, pid, folder = sys.argv[1:5]


def number(name, default):
    return int(os.environ.get(name, default))


place = Place(url, token, folder, peers=pid != "guest")
what = os.environ.get("WHAT", "screenshots record typing").split()
before = place.json("GET", "/v1/screen/info")
rounds = number("ROUNDS", 30)
try:
    if "screenshots" in what:
        desktop_screenshots.measure(place, int(pid) if place.peers else 0, rounds)
    if "record" in what:
        desktop_record.measure(place, max(1, rounds // 10), number("LENGTH", 10))
    if "typing" in what:
        desktop_typing.measure(place, number("CHARACTERS", 2000))
finally:
    place.resize(before["width"], before["height"])
