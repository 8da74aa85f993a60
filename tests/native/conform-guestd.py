# SPDX-License-Identifier: Apache-2.0
"""conform-guestd.py PORT TOKEN FOLDER: whether guestd does what its OpenAPI
document says.
"""
import functools
import http.client
import os
import sys
import time

from conform import DEADLINE, Server
from openapi import Wrong

port, token, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]


def connect():
    return http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)


def call(*operation, **step):
    return server.call(*operation, **step)


def file(name, text="one\ntwo\n"):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def started(command="cat", **more):
    return call("post", "/v1/shell/exec", body={
        "command": command, "background": True, **more})[1]["id"]


def ended():
    return call("post", "/v1/shell/exec",
                body={"command": "echo out; echo err >&2"})[1]["id"]


def terminal():
    return call("post", "/v1/terminals", body={"command": "cat"})[1]["id"]


def new_kernel():
    return call("post", "/api/kernels", body={})[1]["id"]


@functools.lru_cache
def kernel():
    """The same for all, and up."""
    kid = new_kernel()
    call("post", "/api/kernels/{id}/restart", params={"id": kid})
    return kid


def session(kid=None):
    return call("post", "/api/sessions", body={
        "path": os.urandom(8).hex() + ".ipynb", "type": "notebook",
        "kernel": {"id": kid or kernel()}})[1]["id"]


def new_session():
    return session(new_kernel())


def ended_session():
    """Its kernel is gone."""
    kid = new_kernel()
    sid = session(kid)
    call("delete", "/api/kernels/{id}", params={"id": kid})
    return sid


def with_ports():
    return call("post", "/v1/kernels/{id}/ports",
                params={"id": "default"})[1]["kernel_id"]


def window():
    started(os.path.abspath("x-draw") + " window conform")
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        for w in call("get", "/v1/screen/windows")[1]["windows"]:
            if w["title"] == "conform":
                return w["id"]
        time.sleep(0.05)
    raise Wrong("there is no window")


FORM = ("--x\r\nContent-Disposition: form-data; name=\"file\"; "
        "filename=\"formed\"\r\n\r\nbytes\r\n--x--\r\n").encode()
BYTES = b"\x00\xff\xfe"

# These need what a kernel says, or JupyterLab: test-gateway.sh and test-lab.sh
# have them.
ELSEWHERE = ("get /kernelspecs/{name}/{file}", "get /lab")
# These make and end films, are the page of one WebSocket, or take fields that go
# with some actions only: test-record.sh, test-vnc.sh and test-input.sh.
ELSEWHERE_BELOW = ("/v1/screen/record", "/record", "/vnc", "/v1/vnc/",
                   "/v1/screen/mouse", "/v1/screen/keyboard",
                   "/v1/screen/action")


def is_elsewhere(method, path):
    return ("%s %s" % (method, path) in ELSEWHERE
            or path.startswith(ELSEWHERE_BELOW))


CELL = "import sys\nprint(1)\nprint(2, file=sys.stderr)\n(b'x', len)"

CALLS = {
    "post /v1/kernels/default": [
        {"body": {}},
        {"body": {"kernel": "nosuch"}, "status": 404}],
    "post /v1/kernels/{id}/ports": [
        {"params": {"id": "default"}},
        {"params": {"id": "default"}, "body": {"kernel": "nosuch"},
         "status": 404},
        {"params": {"id": with_ports}, "body": {"kernel": "x"}, "status": 400},
        {"params": {"id": "none"}, "status": 404}],
    "delete /v1/kernels/{id}/ports": [
        {"params": {"id": with_ports}, "status": 204},
        {"params": {"id": "none"}, "status": 404}],
    "post /v1/run": [
        {"body": {"code": CELL}},
        {"body": {"code": CELL, "result": "pickle", "files": True}},
        {"body": {"code": CELL, "files": ["*.py"], "timeout": 9}},
        {"body": {"code": CELL}, "headers": {"Accept": "text/event-stream"}},
        {"body": {"code": "1 / 0"},
         "headers": {"Accept": "text/event-stream"}},
        {"body": {"code": "1", "kernel": "nosuch"}, "status": 404}],
    "get /health": [{}],
    "get /readyz": [{}],
    "get /v1/sandbox": [{}],
    "get /metrics": [{}],
    "get /v1/openapi.json": [{}],
    "get /docs": [{}],
    "get /docs/docs.css": [{}],
    "get /docs/docs.js": [{}],
    "post /v1/tickets": [{"body": {"path": "/metrics"}, "status": 201}],
    "get /v1/logs": [
        {"query": {"lines": "3"}},
        {"headers": {"Accept": "text/plain"}},
        {"headers": {"Accept": "application/x-ndjson"}},
        {"query": {"follow": "true"}, "endless": True},
        {"query": {"source": "none"}, "status": 404}],
    "post /v1/shell/exec": [
        {"body": {"command": "echo hello; exit 3"}},
        {"body": {"command": "printf '\\377'"}},
        {"body": {"command": "kill -9 $$"}},
        {"body": {"command": "yes", "timeout": 0.1, "max_output": 10}},
        {"body": {"command": "true", "background": True}, "status": 202},
        {"body": {}, "status": 400}],
    "post /v1/shell/stream": [
        {"body": {"command": "echo hello; printf '\\377' >&2"}}],
    "post /v1/code/execute": [
        {"body": {"code": "echo hello", "language": "bash"}},
        {"body": {"code": "true", "language": "bash", "background": True},
         "status": 202}],
    "get /v1/processes": [{}],
    "get /v1/processes/{id}": [
        {"params": {"id": ended}},
        {"params": {"id": started}},
        {"params": {"id": "none"}, "status": 404}],
    "delete /v1/processes/{id}": [{"params": {"id": started}, "status": 204}],
    "get /v1/processes/{id}/output": [
        {"params": {"id": ended}},
        {"params": {"id": lambda: started("printf '\\377'")},
         "query": {"wait": "20", "stream": "stdout"}},
        {"params": {"id": ended}, "query": {"follow": "true"}}],
    "post /v1/processes/{id}/stdin": [
        {"params": {"id": started}, "body": {"data": "hello", "close": True},
         "status": 204},
        {"params": {"id": ended}, "body": {"data": "late"}, "status": 409}],
    "post /v1/processes/{id}/signal": [
        {"params": {"id": started}, "body": {"signal": "TERM"}, "status": 204},
        {"params": {"id": ended}, "body": {"signal": 15}, "status": 409}],
    "get /v1/terminals": [{}],
    "post /v1/terminals": [{"body": {"command": "true"}, "status": 201}],
    "get /v1/terminals/{id}": [
        {"params": {"id": terminal}},
        {"params": {"id": "none"}, "status": 404}],
    "delete /v1/terminals/{id}": [{"params": {"id": terminal}, "status": 204}],
    "get /v1/terminal/ws": [
        {"websocket": True, "query": {"command": "true"}, "status": 101},
        {"status": 426}],
    "get /terminal": [
        {"at": "/terminal/"},
        {"at": "/terminal/", "again": True, "status": 304},
        {"status": 307}],
    "get /terminal/{file}": [
        {"params": {"file": "terminal.js"}},
        {"params": {"file": "terminal.css"}},
        {"params": {"file": "icon.svg"}},
        {"params": {"file": "terminal.js"}, "again": True, "status": 304},
        {"params": {"file": "none"}, "status": 404}],
    "get /v1/screen/screenshot": [
        {}, {"query": {"format": "jpeg"}}, {"query": {"format": "webp"}},
        {"query": {"format": "ppm"}},
        {"query": {"encoding": "base64", "cursor": "true"}},
        {"query": {"region": "0,0,1,1"}, "again": True, "status": 304},
        {"query": {"region": "0,0,9999,9999"}, "status": 400}],
    "get /v1/screen/info": [{}],
    "put /v1/screen/resolution": [
        {"body": {"width": 640, "height": 480}},
        {"body": {"width": 1, "height": 480}, "status": 400}],
    "get /v1/screen/windows": [{}],
    "post /v1/screen/windows/{id}/focus": [
        {"params": {"id": window}, "status": 204},
        {"params": {"id": "0x1"}, "status": 404}],
    "post /v1/screen/windows/{id}/close": [
        {"params": {"id": window}, "status": 204}],
    "put /v1/screen/clipboard": [
        {"body": {"text": "copied"}, "status": 204},
        {"body": {"data": "AAAA"}, "status": 400}],
    "get /v1/screen/clipboard": [
        {}, {"query": {"media_type": "image/png"}, "status": 404}],
    "get /v1/file/read": [
        {"query": {"path": lambda: file("read"), "start_line": "2"}},
        {"query": {"path": folder}, "status": 400},
        {"query": {"path": "/nowhere"}, "status": 404}],
    "post /v1/file/read": [
        {"body": {"path": lambda: file("read"), "encoding": "base64"}}],
    "post /v1/file/write": [
        {"body": {"path": lambda: file("written"), "content": "x"}}],
    "get /v1/file/list": [
        {"query": {"path": folder, "limit": "1"}}],
    "post /v1/file/list": [{"body": {"path": folder, "recursive": True}}],
    "get /v1/file/download": [
        {"query": {"path": lambda: file("down")}},
        {"query": {"path": folder}},
        {"query": {"path": lambda: file("down")},
         "headers": {"Range": "bytes=1-2"}, "status": 206},
        {"query": {"path": lambda: file("down")},
         "headers": {"Range": "bytes=100-"}, "status": 416},
        {"query": {"path": "/etc/passwd"}, "headers": {"If-None-Match": "*"},
         "status": 304}],
    "put /v1/file": [
        {"query": {"path": folder + "/put"}, "raw": BYTES}],
    "post /v1/file/upload": [
        {"query": {"path": folder + "/form"}, "raw": FORM, "headers":
         {"Content-Type": "multipart/form-data; boundary=x"}}],
    "get /v1/file/stat": [
        {"query": {"path": lambda: file("stat")}},
        {"query": {"path": folder + "/link"}},
        {"query": {"path": folder.encode() + b"/bad\xff"}}],
    "get /v1/file/exists": [
        {"query": {"path": folder}}, {"query": {"path": "/nowhere"}}],
    "post /v1/file/mkdir": [{"body": {"path": folder + "/new"}}],
    "post /v1/file/delete": [
        {"body": {"path": lambda: file("old")}},
        {"body": {"path": folder + "/full"}, "status": 409}],
    "post /v1/file/move": [
        {"body": {"path": lambda: file("from"), "destination": folder + "/to",
                  "overwrite": True}},
        {"body": {"path": lambda: file("from"),
                  "destination": lambda: file("there")}, "status": 409}],
    "post /v1/file/copy": [
        {"body": {"path": lambda: file("from"), "destination": folder + "/to",
                  "overwrite": True}}],
    "post /v1/file/edit": [
        {"body": {"path": lambda: file("edit"), "old_string": "two",
                  "new_string": "three"}}],
    "post /v1/file/glob": [{"body": {"path": folder, "pattern": "**"}}],
    "post /v1/grep/search": [
        {"body": {"path": lambda: file("grep"), "pattern": "two"}},
        {"body": {"path": lambda: file("grep"), "pattern": "two",
                  "context": 1}}],
    "get /api": [{}],
    "get /api/swagger.json": [{}],
    "get /api/swagger.yaml": [{}],
    "get /api/kernelspecs": [{}],
    "get /api/kernelspecs/{name}": [
        {"params": {"name": "sandbox-python"}},
        {"params": {"name": "none"}, "status": 404}],
    "get /api/kernels": [{}],
    "post /api/kernels": [
        {"body": {"name": "sandbox-python", "path": "no/such.ipynb",
                  "env": {"A": "b"}}, "status": 201},
        {"body": {"name": "none"}, "status": 404}],
    "get /api/kernels/{id}": [
        {"params": {"id": kernel}}, {"params": {"id": "none"}, "status": 404}],
    "delete /api/kernels/{id}": [
        {"params": {"id": new_kernel}, "status": 204}],
    "post /api/kernels/{id}/interrupt": [
        {"params": {"id": kernel}, "status": 204}],
    "post /api/kernels/{id}/restart": [{"params": {"id": kernel}}],
    "get /api/kernels/{id}/channels": [
        {"params": {"id": kernel}, "websocket": True, "status": 101},
        {"params": {"id": kernel}, "status": 426}],
    "get /v1/kernels/{id}/messages": [
        {"params": {"id": kernel}, "query": {"after": "0", "limit": "5"}}],
    "get /api/sessions": [{}],
    "post /api/sessions": [
        {"body": {"path": "one.ipynb", "type": "notebook"}, "status": 201},
        {"body": {"path": "two.ipynb", "type": "notebook",
                  "kernel": {"name": "none"}}, "status": 501}],
    "get /api/sessions/{id}": [
        {"params": {"id": session}}, {"params": {"id": "no"}, "status": 404}],
    "patch /api/sessions/{id}": [
        {"params": {"id": session}, "body": {"name": "other"}}],
    "delete /api/sessions/{id}": [
        {"params": {"id": new_session}, "status": 204},
        {"params": {"id": ended_session}, "status": 410}],
    "get /v1/file/watch": [{"query": {"path": folder}, "endless": True}],
}

VALUES = {"argv": ["/bin/true"], "cursor": "YQ==", "cwd": "/", "mode": "644",
          "region": "0,0,9,9", "scale": 1, "since": "15m", "signal": "TERM",
          "glob": "*", "include": "*"}

os.symlink("read", folder + "/link")
os.makedirs(folder + "/full/sub")
with open(folder.encode() + b"/bad\xff", "w"):
    pass
server = Server(connect, {"Authorization": "Bearer " + token}, VALUES, port)
server.run(CALLS, is_elsewhere)
