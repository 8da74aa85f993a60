# SPDX-License-Identifier: Apache-2.0
"""Films on a disk that gets full.
Usage: film-disk.py PORT TOKEN RUN-DIR HOME

The folder of the films must be a small disk of its own, as guestd sees it."""
import json
import os
import signal
import sys

from desktop import Desktop, wait_until
from films import Films

port, token, run_dir, home = int(sys.argv[1]), *sys.argv[2:5]
desk = Desktop(port, run_dir, token)
films = Films(desk, home)


def run(command):
    """In the sandbox, where that disk is."""
    status, _, data = desk.ask(
        "POST", "/v1/shell/exec", {"command": f"cd ~/recordings && {command}"}
    )
    assert status == 200, (status, data)
    return json.loads(data)


def listed():
    return set(run("ls -A")["stdout"].split())


def fill(leave_kib):
    """Until so much is left."""
    size = run("df --output=avail -k . | tail -n 1")["stdout"]
    done = run(f"fallocate -l {int(size) - leave_kib}K filler")
    assert done["exit_code"] == 0, done


def test_full():
    """What was written plays, and it is said why there is no more."""
    assert listed() == set(), "not an empty disk"
    films.start(name="full", cursor=False)
    films.show_all([(20, 20)])
    recorder = films.recorder_pid()
    os.kill(recorder, signal.SIGSTOP)
    fill(0)
    with desk.draw("noise", 0, 0, films.width, films.height):
        os.kill(recorder, signal.SIGCONT)
        wait_until(lambda: not films.running())
    model = films.model("full")
    assert model["state"] == "complete" and model["reason"] == "disk", model
    assert "No space left on device" in model["error"], model
    pictures, _ = films.pictures(films.download("full"))
    assert any(films.shows(p, 20, 20) for p in pictures)
    assert listed() == {"filler", "full.mp4"}, listed()


def test_start_when_full():
    status, _, data = desk.ask("POST", "/v1/screen/record/start", {"name": "none"})
    answer = json.loads(data)
    assert status == 507 and "left on the disk" in answer["detail"], answer
    assert answer["remediation"], answer
    assert listed() == {"filler", "full.mp4"}, listed()
    desk.get_json("/v1/screen/recordings/none", 404)


def test_room_again():
    run("rm filler")
    films.delete("full")
    films.start(name="full", cursor=False)
    films.show_all([(60, 60)])
    assert films.stop(name="full")["reason"] == "stopped"
    model = films.model("full")
    assert model["reason"] == "stopped" and "error" not in model, model
    pictures, _ = films.pictures(films.download("full"))
    assert any(films.shows(p, 60, 60) for p in pictures)


def test_some_is_left():
    """A film does not take the last of the disk, nor does making it whole."""
    films.start(name="last", cursor=False)
    films.show_all([(20, 20)])
    fill(31 * 1024)
    with desk.draw("snow", 0, 0, 90, 90):
        wait_until(lambda: not films.running())
    model = films.model("last")
    assert model["reason"] == "disk" and "error" not in model, model
    pictures, _ = films.pictures(films.download("last"))
    assert any(films.shows(p, 20, 20) for p in pictures)
    for name in "full", "last":
        films.delete(name)
    assert listed() == {"filler"}, listed()


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name, flush=True)
