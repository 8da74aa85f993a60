# SPDX-License-Identifier: Apache-2.0
"""conform.py PORT TOKEN FOLDER: whether guestd does what its OpenAPI document
says.  Each operation is asked under each of its names, and what it answers
must be as described: status, type, every field.  Then each is asked for what
the document forbids, which must be refused.
"""
import base64
import http.client
import io
import json
import os
import re
import sys
from urllib.parse import quote, urlencode

from openapi import (Wrong, check_document, closed, need, operations, resolve,
                     validate)
from ws import Refused, WebSocket

port, token, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
DEADLINE = 60
seen = set()  # (method, path, status)


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


FORM = ("--x\r\nContent-Disposition: form-data; name=\"file\"; "
        "filename=\"formed\"\r\n\r\nbytes\r\n--x--\r\n").encode()
BYTES = b"\x00\xff\xfe"

# For each operation, by hand: how to ask, and what status is due.  What is a
# function is called for each request anew.
# These need a kernel: test-gateway.sh has them.
ELSEWHERE = ("post /v1/run", "get /v1/kernels/{id}/messages")

CALLS = {
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
    "get /v1/file/watch": [{"query": {"path": folder}, "endless": True}],
}

# Values for fields where none can be made from the document.
VALUES = {"argv": ["/bin/true"], "cursor": "YQ==", "cwd": "/", "mode": "644",
          "since": "15m", "signal": "TERM", "glob": "*", "include": "*"}


def now(value):
    return value() if callable(value) else value


def send(method, path, step):
    """Gives status, type and a reader of the body."""
    where = step.get("at", path)
    for name, value in step.get("params", {}).items():
        where = where.replace("{%s}" % name, quote(now(value), safe=""))
    query = {k: now(v) for k, v in step.get("query", {}).items()}
    if query:
        where += "?" + urlencode(query)
    headers = dict(step.get("headers", {}))
    if step.get("again"):
        first = send(method, path, {**step, "again": False})[2]
        headers["If-None-Match"] = first.getheader("ETag")
    headers["Authorization"] = "Bearer " + token
    body = step.get("raw")
    if "body" in step:
        body = json.dumps({k: now(v) for k, v in step["body"].items()})
    if step.get("websocket"):
        try:
            WebSocket(port, where, ["Authorization: Bearer " + token])
        except Refused as e:
            return e.status, "application/problem+json", io.StringIO(e.body)
        return 101, "", None
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    c.request(method.upper(), where, body, headers)
    r = c.getresponse()
    kind = (r.getheader("Content-Type") or "").split(";")[0]
    return r.status, kind, r


def read_events(r, endless):
    """All events of a stream, or the first of one that does not end."""
    event = {}
    for line in r:
        key, _, value = line.decode().rstrip("\n").partition(": ")
        if key in ("event", "data"):
            event[key] = value
        elif not key and event:
            yield event["event"], json.loads(event["data"])
            event = {}
            if endless:
                return


def check_answer(op, name, status, kind, r, endless=False):
    """Whether an answer is as described; gives its body."""
    code = str(status)
    if code not in op["responses"]:
        raise Wrong("%s answers %s unannounced: %s" % (name, code, r.read(300)))
    said = resolve(doc, op["responses"][code]).get("content", {})
    if kind == "text/event-stream":
        need(kind in said, name, code, "has no events")
        defs = said[kind]["schema"]["$defs"]
        for event, data in read_events(r, endless):
            need(event in defs, name, "sends the event", event)
            validate(doc, defs[event], data, name + " " + event)
        return None
    data = r.read() if r else b""
    if not data:
        need(not said or status == 101, name, code, "has no body")
        return None
    need(kind in said, name, code, "is", kind)
    if kind.endswith("json") and kind != "application/x-ndjson":
        data = json.loads(data)
        validate(doc, said[kind]["schema"], data, "%s %s" % (name, code))
    return data


def call(method, path, **step):
    """Ask, check the answer; gives status and body."""
    op = doc["paths"][path][method]
    name = "%s %s" % (method, path)
    status, kind, r = send(method, path, step)
    data = check_answer(op, name, status, kind, r, step.get("endless"))
    need(status == step.get("status", status), name, "answers", status, data)
    seen.add((method, path, str(status)))
    if status < 300 and "body" in step:
        validate(doc, body_schema(op), {k: now(v) for k, v in
                                        step["body"].items()}, name)
    return status, data


def body_schema(op):
    return op["requestBody"]["content"]["application/json"]["schema"]


def valid_value(name, s):
    if name in VALUES:
        return VALUES[name]
    if "enum" in s:
        return s["enum"][0]
    if "minimum" in s:
        return s["minimum"]
    kinds = s.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    return {"string": "x", "integer": 1, "number": 1, "boolean": False,
            "array": [], "object": {}}[kind]


def bad_values(s):
    kinds = s.get("type", "object")
    yield "x" if "object" in kinds else {}
    if "minimum" in s:
        yield s["minimum"] - 1
    if "maximum" in s:
        yield s["maximum"] + 1
    if "enum" in s:
        yield "bogus"


def refused(method, path, step, what):
    status, kind, r = send(method, path, step)
    need(status == 400, method, path, "takes", what)
    check_answer(doc["paths"][path][method], what, status, kind, r)


def accepted(method, path, step, field, other_name):
    """That the field is known; and that another name does what the first
    does."""
    op = doc["paths"][path][method]
    name = "%s %s %s" % (method, path, field)
    status, kind, r = send(method, path, step)
    if kind == "text/event-stream":
        r.close()
        return
    data = check_answer(op, name, status, kind, r)
    need(status < 300 or not other_name, name, data)
    need(status != 400 or "unknown" not in data["detail"], name, data)


def in_place_of(values, field, text):
    """Values without the field that this one is another name for, and with
    what it has to be."""
    m = re.match(r"Another name for (\w+)|The bytes of (\w+) as base64", text)
    if not m:
        return values, values.get(field)
    main = m[1] or m[2]
    value = now(values.get(main))
    if m[2] and value is not None:
        value = base64.b64encode(os.fsencode(value)).decode()
    return {k: v for k, v in values.items() if k != main}, value


def check_body(method, path, op, step):
    schema = body_schema(op)
    body = step["body"]
    refused(method, path, dict(step, body={**body, "bogus": 1}), "bogus")
    for field, s in schema["properties"].items():
        s = resolve(doc, s)
        rest, value = in_place_of(body, field, s["description"])
        for bad in bad_values(s):
            refused(method, path, dict(step, body={**rest, field: bad}),
                    "%s: %r" % (field, bad))
        value = valid_value(field, s) if value is None else value
        accepted(method, path, dict(step, body={**rest, field: value}),
                 field, rest is not body)
    for field in schema.get("required", []):
        less = {k: v for k, v in body.items() if k != field}
        refused(method, path, dict(step, body=less), "without " + field)


def check_query(method, path, op, step):
    query = step.get("query", {})
    refused(method, path, dict(step, query={**query, "bogus": "1"}), "bogus")
    for p in op.get("parameters", []):
        if p["in"] != "query":
            continue
        field, s = p["name"], p["schema"]
        rest, value = in_place_of(query, field, p["description"])
        for bad in bad_values(s):
            if not isinstance(bad, dict) and field != "source":
                refused(method, path, dict(step, query={**rest, field: bad}),
                        "%s: %r" % (field, bad))
        value = valid_value(field, s) if value is None else value
        accepted(method, path, dict(step, query={**rest, field: value}),
                 field, rest is not query and field != "path")


def check_examples(method, path, op):
    """What the document gives as examples works, where it needs nothing."""
    query = {p["name"]: p["example"] for p in op.get("parameters", [])
             if "example" in p}
    content = op.get("requestBody", {}).get("content", {})
    body = content.get("application/json", {}).get("example")
    if "{" in path or "/tmp" in json.dumps([query, body]) or not (query or body):
        return
    step = {"query": query} if query else {"body": body}
    call(method, path, endless=True, **step)
    need(any((method, path, c) in seen for c in ("200", "201")), path)


def main():
    n = check_document(doc)
    os.symlink("read", folder + "/link")
    os.makedirs(folder + "/full/sub")
    with open(folder.encode() + b"/bad\xff", "w"):
        pass
    for path, method, op in operations(doc):
        key = "%s %s" % (method, op.get("x-alias-of", path))
        if key in ELSEWHERE:
            continue
        need(key in CALLS, "nobody here asks for", key)
        for step in CALLS[key]:
            call(method, path, **dict({"status": 200}, **step))
        plain = [s for s in CALLS[key] if s.get("status", 200) < 300][0]
        plain = {k: v for k, v in plain.items()
                 if k not in ("status", "endless")}
        check_query(method, path, op, plain)
        if "body" in plain:
            check_body(method, path, op, plain)
        check_examples(method, path, op)
    for path, method, op in operations(doc):
        if "%s %s" % (method, path) in ELSEWHERE:
            continue
        for code in op["responses"]:
            ok = code < "400" or code == "416"
            need(not ok or (method, path, code) in seen, method, path,
                 "was never seen to answer", code)
    print("%d operations do what is said of them" % n)


first = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
first.request("GET", "/v1/openapi.json")
doc = closed(json.loads(first.getresponse().read()))
try:
    main()
except Wrong as e:
    sys.exit("FAIL: %s" % e)
