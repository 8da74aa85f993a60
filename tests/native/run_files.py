# SPDX-License-Identifier: Apache-2.0
"""Cases of run.py: the files that a cell wrote."""
import base64
import json
import os

from run_client import check, rest, run, stream, workspace


def listed(r):
    return {os.path.relpath(f["path"], workspace): f for f in r["files"]}


def write(name, data=b""):
    with open(os.path.join(workspace, name), "wb") as f:
        f.write(data)


def case_files():
    write("old.txt", b"old")
    write("same.txt", b"same")
    os.makedirs(workspace + "/sub/.git")
    check("files" not in run("1"), "not asked")
    r = run("open('a.csv', 'w').write('1,2\\n')\nopen('old.txt', 'a')"
            ".write('!')\nopen('sub/b.png', 'wb').write(b'\\xff\\0')\n"
            "open('.hid', 'w').write('h')", files=True)
    f = listed(r)
    check(set(f) == {"a.csv", "old.txt", "sub/b.png"}, f)
    check(not r["files_truncated"] and r["status"] == "ok", r)
    check(f["a.csv"]["mime"] == "text/csv" and f["a.csv"]["created"] and
          f["a.csv"]["size"] == 4 and base64.b64decode(
              f["a.csv"]["content"]) == b"1,2\n", f)
    check(not f["old.txt"]["created"] and
          base64.b64decode(f["old.txt"]["content"]) == b"old!", f)
    check(f["sub/b.png"]["mime"] == "image/png" and
          base64.b64decode(f["sub/b.png"]["content"]) == b"\xff\0", f)
    check(abs(f["a.csv"]["mtime"] - os.stat(
        workspace + "/a.csv").st_mtime) < 0.001, f)
    check(rest("GET", "/v1/file/download?path=" + f["a.csv"]["path"]) ==
          b"1,2\n", "download")
    # Nothing changes; a cell that fails; one in a stream; in time.
    check(run("2", files=True)["files"] == [], "nothing")
    r = run("open('f', 'w')\n1 / 0", files=True)
    check(r["status"] == "error" and set(listed(r)) == {"f"}, r)
    end = stream("open('g', 'w').write('')", files=True)[-1]
    check(end[0] == "end" and set(listed(end[1])) == {"g"}, end)
    r = run("open('h', 'w')\nimport time; time.sleep(600)", files=True,
            timeout=1)
    check(r["timed_out"] and set(listed(r)) == {"h"}, r)
    # Replaced by another of the same size and time.
    r = run("import os, shutil\nst = os.stat('same.txt')\n"
            "open('new', 'w').write('SAME')\nos.utime('new', "
            "ns=(st.st_atime_ns, st.st_mtime_ns))\n"
            "os.replace('new', 'same.txt')", files=True)
    check(set(listed(r)) == {"same.txt"}, r)


def case_globs():
    write(".gitignore", b"*.log\nout/\n")
    os.makedirs(workspace + "/out")
    code = ("for n in ('x.log', 'out/y.txt', 'z.txt', '.hid'):\n"
            "    open(n, 'a').write('1')\n")
    check(set(listed(run(code, files=True))) == {"z.txt"}, "ignored")
    for globs, want in ((["*.txt"], {"z.txt", "out/y.txt"}),
                        (["out/*", ".h*"], {"out/y.txt", ".hid"}),
                        (["**/*.log"], {"x.log"}), (["no"], set())):
        r = run(code, files=globs)
        check(set(listed(r)) == want, (globs, r))
    check("files" not in run("1", files=False), "false")
    check("files" not in run("1", files=[]), "no pattern")
    for bad in (1, "x", {}, None, [1], [""], ["x" * 1001], ["x"] * 101):
        run("1", 400, files=bad)


def case_links():
    """Symlinks and special files, and names that are no text."""
    outside = os.path.dirname(workspace) + "/outside"
    os.mkdir(outside)
    with open(outside + "/secret", "w") as f:
        f.write("secret")
    r = run("import os, socket\n"
            f"os.symlink('{outside}', 'folder')\n"
            f"os.symlink('{outside}/secret', 'file')\n"
            f"open('{outside}/secret', 'a').write('!')\n"
            "os.symlink('loop', 'loop')\nos.mkfifo('fifo')\n"
            "socket.socket(socket.AF_UNIX).bind('socket')\n"
            "open(b'bad\\xff', 'w').write('x')\n"
            "open('locked', 'w').write('x')", files=True)
    names = {os.path.basename(f["path"]): f for f in r["files"]}
    check(set(names) == {"bad\ufffd", "locked"}, names)
    check(base64.b64decode(names["bad\ufffd"]["path_base64"]) ==
          os.fsencode(workspace) + b"/bad\xff", names)
    check("secret" not in json.dumps(r["files"]), r)


def case_many():
    """More than an answer may have."""
    r = run("open('exact', 'wb').write(bytes(1 << 20))\n"
            "open('large', 'wb').write(bytes((1 << 20) + 1))\n"
            "f = open('sparse', 'wb'); f.truncate(1 << 40); f.close()",
            files=True)
    f = listed(r)
    check(len(f["exact"]["content"]) > 1 << 20 and
          "content" not in f["large"] and "content" not in f["sparse"] and
          f["sparse"]["size"] == 1 << 40, "large")
    r = run("for i in range(20): open(f't{i:02}', 'wb')"
            ".write(bytes(1 << 20))", files=["t*"])
    check(len(r["files"]) == 20 and not r["files_truncated"] and
          sum("content" in f for f in r["files"]) == 16, "16 MiB")
    r = run("for i in range(1100): open(f'm{i:04}', 'w').close()",
            files=["m*"])
    check(len(r["files"]) == 1000 and r["files_truncated"], "1000 files")
