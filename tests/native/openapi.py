# SPDX-License-Identifier: Apache-2.0
"""openapi.py FILE: whether an OpenAPI 3.1 document is right in itself.

Also what the test of a server against its document needs.
"""
import copy
import json
import re
import sys

import jsonschema
from jsonschema import Draft202012Validator

METHODS = ("get", "put", "post", "patch", "delete")


class Wrong(Exception):
    pass


def need(ok, *what):
    if not ok:
        raise Wrong(" ".join(str(w) for w in what))


def resolve(doc, node):
    while "$ref" in node:
        at = doc
        need(node["$ref"].startswith("#/"), "foreign reference", node["$ref"])
        for key in node["$ref"][2:].split("/"):
            key = key.replace("~1", "/").replace("~0", "~")
            need(key in at, "dangling reference", node["$ref"])
            at = at[key]
        node = at
    return node


def operations(doc):
    for path, item in doc["paths"].items():
        for method, op in item.items():
            need(method in METHODS, path, "has a strange key", method)
            yield path, method, op


def closed(doc):
    """The document with no room for fields that it does not name."""
    doc = copy.deepcopy(doc)

    def close(node):
        if isinstance(node, dict):
            if "properties" in node and "type" in node:
                node.setdefault("additionalProperties", False)
            for v in node.values():
                close(v)
        elif isinstance(node, list):
            for v in node:
                close(v)

    close(doc["components"])
    return doc


def validate(doc, schema, value, what):
    whole = dict(schema, components=doc["components"])
    errors = list(Draft202012Validator(whole).iter_errors(value))
    need(not errors, what, "->", errors and errors[0].message,
         errors and list(errors[0].path), json.dumps(value)[:300])


def check_schemas(doc, node, where="#"):
    """All schemas in a part of the document, with their examples."""
    if isinstance(node, list):
        for i, v in enumerate(node):
            check_schemas(doc, v, "%s/%d" % (where, i))
    if not isinstance(node, dict):
        return
    if "$ref" in node:
        resolve(doc, node)
    schemas = [(k, node["schema"]) for k in ("schema",) if k in node]
    if where == "#/components/schemas":
        schemas += list(node.items())
    for name, s in schemas:
        Draft202012Validator.check_schema(s)
        for example in s.get("examples", []):
            validate(doc, s, example, "%s/%s: example" % (where, name))
    if "schema" in node and "example" in node:
        validate(doc, node["schema"], node["example"], where + ": example")
    if "default" in node and "type" in node:
        validate(doc, {k: v for k, v in node.items() if k != "default"},
                 node["default"], where + ": default")
    for k, v in node.items():
        if k not in ("example", "examples", "default", "enum"):
            check_schemas(doc, v, "%s/%s" % (where, k))


def check_operation(doc, path, method, op, tags):
    name = method + " " + path
    params = [resolve(doc, p) for p in op.get("parameters", [])]
    wanted = set(re.findall(r"\{(\w+)\}", path))
    declared = {p["name"] for p in params if p["in"] == "path"}
    need(wanted == declared, name, "declares", declared)
    keys = [(p["in"], p["name"].lower()) for p in params]
    need(len(keys) == len(set(keys)), name, "has a parameter twice")
    for p in params:
        need(p["in"] != "path" or p.get("required"), name, p["name"])
        need(p.get("description"), name, p["name"], "is not described")
        need("schema" in p, name, p["name"], "has no type")
    need(op.get("summary"), name, "has no summary")
    need(set(op["tags"]) <= tags, name, "has unknown tags")
    for code, r in op["responses"].items():
        need(re.fullmatch(r"[1-5]\d\d", code), name, "answers", code)
        need(resolve(doc, r).get("description"), name, code,
             "is not described")
    codes = list(op["responses"])
    need(any(c < "300" for c in codes), name, "never succeeds")
    need(any(c[0] == "4" for c in codes), name, "never fails")
    for media in op.get("requestBody", {}).get("content", {}).values():
        for field, s in media["schema"].get("properties", {}).items():
            need(s.get("description") or "$ref" in s, name, field,
                 "is not described")
    alias = op.get("x-alias-of")
    if alias:
        need(method in doc["paths"].get(alias, {}), name, "is no alias")
        need(op["deprecated"] is False, name)


def check_used(doc):
    text = json.dumps(doc)
    for kind in ("schemas", "responses"):
        for name in doc["components"][kind]:
            need('"#/components/%s/%s"' % (kind, name) in text, kind, name,
                 "is never used")
    for op in [doc] + [op for _, _, op in operations(doc)]:
        for way in op.get("security", []):
            for scheme in way:
                need(scheme in doc["components"]["securitySchemes"], scheme)


def check_document(doc):
    need(doc["openapi"].startswith("3.1."), "version", doc["openapi"])
    for key in ("title", "version", "description", "license"):
        need(doc["info"].get(key), "info has no", key)
    need(doc.get("servers") and "security" in doc, "no servers or security")
    tags = {t["name"] for t in doc["tags"]}
    need(all(t.get("description") for t in doc["tags"]), "tags")
    ids = [op["operationId"] for _, _, op in operations(doc)]
    need(ids and len(ids) == len(set(ids)), "an operationId twice")
    for path, method, op in operations(doc):
        check_operation(doc, path, method, op, tags)
    check_schemas(doc, doc)
    check_used(doc)
    return len(ids)


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        document = json.load(f)
    try:
        n = check_document(document)
    except (Wrong, jsonschema.SchemaError) as e:
        sys.exit("FAIL: %s" % e)
    print("%s: %d operations are right" % (document["info"]["title"], n))
