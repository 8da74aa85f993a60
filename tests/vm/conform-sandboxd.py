# SPDX-License-Identifier: Apache-2.0
"""conform-sandboxd.py SOCKET NAME: whether sandboxd does what its OpenAPI
document says, with a sandbox of this name, which it makes and removes.
"""
import http.client
import socket
import sys

from conform import DEADLINE, Server

path, name = sys.argv[1:]
# An emulated machine boots.
BOOT = 5 * DEADLINE


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(BOOT)
        self.sock.connect(path)


def new_port():
    answer = server.call("post", PORTS, params=ONE, body={"guest": 80})[1]
    return str(answer["host"])


ONE, NONE = {"id": name}, {"id": "none"}
MADE = "/v1/sandboxes"
SANDBOX = MADE + "/{id}"
PORTS = SANDBOX + "/ports"
PAGE = SANDBOX.replace("{id}", name)

# Making and removing, below; what is guestd's, in test-proxy.sh; tickets are for
# the TCP port, in test-view.sh; images must stay as they are.
ELSEWHERE = ("post " + MADE, "delete " + SANDBOX, "post /v1/tickets",
             "delete /v1/images/{name}")


def is_elsewhere(method, where):
    return ("%s %s" % (method, where) in ELSEWHERE
            or where == SANDBOX + "/{rest}")


def page(kind, file):
    """The steps of a page of the host's own, and of a file of it."""
    top, below = "%s/%s" % (SANDBOX, kind), "%s/%s/{file}" % (SANDBOX, kind)
    first = {"params": ONE, "at": "%s/%s/" % (PAGE, kind)}
    more = {"params": {"id": name, "file": file}}
    return {
        "get " + top: [
            first, dict(first, again=True, status=304),
            {"params": ONE, "status": 307}],
        "get " + below: [
            more, dict(more, again=True, status=304),
            {"params": {"id": name, "file": "none"}, "status": 404}],
    }


CALLS = {
    "get " + MADE: [{}, {"query": {"state": "ready", "label": "a=b"}}],
    "get " + SANDBOX: [
        {"params": ONE}, {"params": NONE, "status": 404}],
    f"post {SANDBOX}/pause": [
        {"params": ONE}, {"params": NONE, "status": 404}],
    f"post {SANDBOX}/resume": [
        {"params": ONE}, {"params": NONE, "status": 404}],
    f"post {SANDBOX}/ttl": [
        {"params": ONE, "body": {"ttl": "1h"}},
        {"params": ONE, "body": {"ttl": "soon"}, "status": 400}],
    "get " + PORTS: [{"params": ONE}],
    "post " + PORTS: [
        {"params": ONE, "body": {"guest": 80}, "status": 201},
        {"params": NONE, "body": {"guest": 80}, "status": 404}],
    f"delete {PORTS}/{{host}}": [
        {"params": {"id": name, "host": new_port}, "status": 204},
        {"params": {"id": name, "host": "1"}, "status": 404}],
    f"get {SANDBOX}/logs": [
        {"params": ONE, "query": {"lines": "5"}},
        {"params": ONE, "query": {"source": "qemu"}}],
    f"get {SANDBOX}/console/screenshot": [
        {"params": ONE}, {"params": ONE, "query": {"format": "text"}}],
    **page("vnc", "vnc.js"),
    **page("terminal", "terminal.js"),
    "get /v1/images": [{}],
    "post /v1/images": [{"body": {"name": "base"}}],
    "get /v1/images/{name}": [
        {"params": {"name": "base"}},
        {"params": {"name": "none"}, "status": 404}],
    "get /health": [{}],
    "get /metrics": [{}],
    "get /v1/events": [
        {"endless": True},
        {"query": {"sandbox": name}, "endless": True},
        {"query": {"sandbox": "none"}, "status": 404}],
    "get /v1/doctor": [{}],
    "get /v1/templates": [{}],
    "get /v1/openapi.json": [{}],
    "get /docs": [{}],
    "get /docs/docs.css": [{}],
    "get /docs/docs.js": [{}],
}

server = Server(lambda: Connection("localhost"), {}, {"sandbox": name})
server.call("post", MADE, body={"name": name}, status=201)
taken = {"body": {"name": name}}
server.call("post", MADE, status=409, **taken)
server.check_body("post", MADE, server.doc["paths"][MADE]["post"], taken)
server.call("post", MADE, body={"name": name + "-2"}, query={"wait": "false"},
            status=202)
server.call("delete", SANDBOX, params={"id": name + "-2"}, status=202)
server.run(CALLS, is_elsewhere)
server.call("delete", SANDBOX, params=ONE, query={"purge": "true"}, status=202)
server.call("delete", SANDBOX, params=NONE, status=404)
server.call("delete", "/v1/images/{name}", params={"name": "none"}, status=404)
