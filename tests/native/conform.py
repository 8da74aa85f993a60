# SPDX-License-Identifier: Apache-2.0
"""Whether a server does what its OpenAPI document says.

Each operation is asked under each of its names, and what it answers must be as
described: status, type, every field.  Then each is asked for what the document
forbids, which must be refused.
"""
import base64
import io
import json
import os
import re
import sys
from urllib.parse import quote, urlencode

from openapi import (Wrong, check_document, closed, need, operations, resolve,
                     validate)
from ws import Refused, WebSocket

DEADLINE = 60


def now(value):
    """What is a function is called for each request anew."""
    return value() if callable(value) else value


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


def body_schema(op):
    return op["requestBody"]["content"]["application/json"]["schema"]


def bad_values(s):
    kinds = s.get("type", "object")
    yield "x" if "object" in kinds else {}
    if "minimum" in s:
        yield s["minimum"] - 1
    if "maximum" in s:
        yield s["maximum"] + 1
    if "enum" in s:
        yield "bogus"


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


class Server:
    """connect() gives an HTTPConnection, and values are for fields where none
    can be made from the document."""

    def __init__(self, connect, headers, values, port=None):
        self.connect = connect
        self.headers = headers
        self.values = values
        self.port = port
        self.seen = set()  # (method, path, status)
        c = connect()
        c.request("GET", "/v1/openapi.json")
        self.doc = closed(json.loads(c.getresponse().read()))

    def send(self, method, path, step):
        """Gives status, type and a reader of the body."""
        where = step.get("at", path)
        for name, value in step.get("params", {}).items():
            where = where.replace("{%s}" % name, quote(now(value), safe=""))
        query = {k: now(v) for k, v in step.get("query", {}).items()}
        if query:
            where += "?" + urlencode(query)
        headers = {**step.get("headers", {}), **self.headers}
        if step.get("again"):
            first = self.send(method, path, {**step, "again": False})[2]
            headers["If-None-Match"] = first.getheader("ETag")
        body = step.get("raw")
        if "body" in step:
            body = json.dumps({k: now(v) for k, v in step["body"].items()})
        if step.get("websocket"):
            lines = ["%s: %s" % pair for pair in headers.items()]
            try:
                WebSocket(self.port, where, lines)
            except Refused as e:
                return e.status, "application/problem+json", io.StringIO(e.body)
            return 101, "", None
        c = self.connect()
        c.request(method.upper(), where, body, headers)
        r = c.getresponse()
        kind = (r.getheader("Content-Type") or "").split(";")[0]
        return r.status, kind, r

    def check_answer(self, op, name, status, kind, r, endless=False):
        """Whether an answer is as described; gives its body."""
        code = str(status)
        if code not in op["responses"]:
            raise Wrong("%s answers %s unannounced: %s" % (name, code, r.read(300)))
        said = resolve(self.doc, op["responses"][code]).get("content", {})
        if kind == "text/event-stream":
            need(kind in said, name, code, "has no events")
            defs = said[kind]["schema"]["$defs"]
            for event, data in read_events(r, endless):
                need(event in defs, name, "sends the event", event)
                validate(self.doc, defs[event], data, name + " " + event)
            return None
        data = r.read() if r else b""
        if not data and kind != "text/plain":
            need(not said or status == 101, name, code, "has no body")
            return None
        need(kind in said or "*/*" in said, name, code, "is", kind)
        if kind.endswith("json") and kind != "application/x-ndjson":
            data = json.loads(data)
            if kind in said:
                validate(self.doc, said[kind]["schema"], data, name + " " + code)
        return data

    def call(self, method, path, **step):
        """Ask, check the answer; gives status and body."""
        op = self.doc["paths"][path][method]
        name = "%s %s" % (method, path)
        status, kind, r = self.send(method, path, step)
        data = self.check_answer(op, name, status, kind, r, step.get("endless"))
        need(status == step.get("status", status), name, "answers", status, data)
        self.seen.add((method, path, str(status)))
        if status < 300 and "body" in step:
            asked = {k: now(v) for k, v in step["body"].items()}
            validate(self.doc, body_schema(op), asked, name)
        return status, data

    def valid_value(self, name, s):
        if name in self.values:
            return self.values[name]
        if "enum" in s:
            return s["enum"][0]
        if "minimum" in s:
            return s["minimum"]
        kinds = s.get("type", "string")
        kind = kinds if isinstance(kinds, str) else kinds[0]
        return {"string": "x", "integer": 1, "number": 1, "boolean": False,
                "array": [], "object": {}}[kind]

    def refused(self, method, path, step, what):
        status, kind, r = self.send(method, path, step)
        need(status == 400, method, path, "takes", what)
        op = self.doc["paths"][path][method]
        self.check_answer(op, what, status, kind, r)

    def accepted(self, method, path, step, field, other_name):
        """That the field is known; and that another name does what the first
        does."""
        op = self.doc["paths"][path][method]
        name = "%s %s %s" % (method, path, field)
        status, kind, r = self.send(method, path, step)
        if kind == "text/event-stream":
            r.close()
            return
        data = self.check_answer(op, name, status, kind, r)
        need(status < 300 or not other_name, name, data)
        need(status != 400 or "unknown" not in data["detail"], name, data)

    def check_body(self, method, path, op, step):
        schema = body_schema(op)
        body = step["body"]
        more = dict(step, body={**body, "bogus": 1})
        if schema["additionalProperties"]:
            self.accepted(method, path, more, "bogus", True)
        else:
            self.refused(method, path, more, "bogus")
        for field, s in schema["properties"].items():
            s = resolve(self.doc, s)
            rest, value = in_place_of(body, field, s["description"])
            for bad in bad_values(s):
                self.refused(method, path, dict(step, body={**rest, field: bad}),
                             "%s: %r" % (field, bad))
            value = self.valid_value(field, s) if value is None else value
            self.accepted(method, path, dict(step, body={**rest, field: value}),
                          field, rest is not body)
        for field in schema.get("required", []):
            less = {k: v for k, v in body.items() if k != field}
            self.refused(method, path, dict(step, body=less), "without " + field)

    def check_query(self, method, path, op, step):
        query = step.get("query", {})
        more = dict(step, query={**query, "bogus": "1"})
        if op.get("x-takes-more"):
            self.accepted(method, path, more, "bogus", True)
        else:
            self.refused(method, path, more, "bogus")
        for p in op.get("parameters", []):
            if p["in"] != "query":
                continue
            field, s = p["name"], p["schema"]
            rest, value = in_place_of(query, field, p["description"])
            for bad in bad_values(s):
                if not isinstance(bad, dict) and field != "source":
                    self.refused(method, path,
                                 dict(step, query={**rest, field: bad}),
                                 "%s: %r" % (field, bad))
            value = self.valid_value(field, s) if value is None else value
            self.accepted(method, path, dict(step, query={**rest, field: value}),
                          field, rest is not query and field != "path")

    def check_examples(self, method, path, op):
        """What the document gives as examples works, where it needs nothing."""
        query = {p["name"]: p["example"] for p in op.get("parameters", [])
                 if "example" in p}
        content = op.get("requestBody", {}).get("content", {})
        body = content.get("application/json", {}).get("example")
        if "{" in path or "/tmp" in json.dumps([query, body]) or not (query or body):
            return
        step = {"query": query} if query else {"body": body}
        self.call(method, path, endless=True, **step)
        need(any((method, path, c) in self.seen for c in ("200", "201", "204")),
             path)

    def check_operation(self, method, path, op, steps):
        for step in steps:
            self.call(method, path, **dict({"status": 200}, **step))
        plain = [s for s in steps if s.get("status", 200) < 300][0]
        plain = {k: v for k, v in plain.items() if k not in ("status", "endless")}
        self.check_query(method, path, op, plain)
        if "body" in plain:
            self.check_body(method, path, op, plain)
        self.check_examples(method, path, op)

    def check_all(self, calls, elsewhere=lambda method, path: False):
        """calls has for each operation how to ask it, and what status is due."""
        asked = [(path, method, op) for path, method, op in operations(self.doc)
                 if not elsewhere(method, op.get("x-alias-of", path))]
        for path, method, op in asked:
            key = "%s %s" % (method, op.get("x-alias-of", path))
            need(key in calls, "nobody here asks for", key)
            self.check_operation(method, path, op, calls[key])
        for path, method, op in asked:
            for code in op["responses"]:
                ok = code < "400" or code == "416"
                need(not ok or (method, path, code) in self.seen, method, path,
                     "was never seen to answer", code)

    def run(self, *what):
        """All of it; a program's last words."""
        try:
            n = check_document(self.doc)
            self.check_all(*what)
        except Wrong as e:
            sys.exit("FAIL: %s" % e)
        print("%d operations do what is said of them" % n)
