# SPDX-License-Identifier: Apache-2.0
"""Clients that mean no good, for test-hostile.sh.

usage: hostile.py PORT PID CASE [ARGUMENT...]
"""
import http.client
import json
import os
import socket
import sys
import time

port, pid, case = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
arguments = sys.argv[4:]
HEAD = "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
MIB = 1024 * 1024


def connect():
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    return client


def ask(method, path, body=None):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    client.request(method, path, json.dumps(body) if body else None)
    answer = client.getresponse()
    return answer.status, answer.read()


def alive():
    status, _ = ask("GET", "/health")
    assert status == 200, status


def rss():
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024


def is_closed(client):
    """Whether the server has closed it; reads what came before."""
    client.setblocking(False)
    try:
        while client.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def wait_for(what, true, seconds=60):
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, f"gave up on: {what}"
        time.sleep(0.05)


def flood(client, data, count):
    """Send data up to count times; what the server does not want is fine."""
    try:
        for _ in range(count):
            client.sendall(data)
    except (ConnectionError, socket.timeout):
        pass


def first_line(client):
    data = b""
    try:
        while b"\r\n" not in data:
            piece = client.recv(4096)
            if not piece:
                break
            data += piece
    except ConnectionError:
        pass
    return data.split(b"\r\n")[0].decode()


def huge_head():
    """10 MB of headers: refused, or cut; and never kept."""
    before = rss()
    for field in (b"X: " + b"a" * 8192 + b"\r\n", b"x" * 8192):
        client = connect()
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        flood(client, field, 1280)
        line = first_line(client)
        assert line == "" or " 413 " in line, line
    assert rss() - before < 8 * MIB, rss() - before
    alive()


def huge_body():
    """More than the limit, said beforehand, and chunk by chunk."""
    client = connect()
    client.sendall(b"POST /v1/shell/exec HTTP/1.1\r\nHost: localhost\r\n"
                   b"Content-Length: 99999999\r\n\r\n")
    assert " 413 " in first_line(client)
    client = connect()
    client.sendall(b"POST /v1/shell/exec HTTP/1.1\r\nHost: localhost\r\n"
                   b"Transfer-Encoding: chunked\r\n\r\n")
    flood(client, b"10000\r\n" + b"x" * 65536 + b"\r\n", 1000)
    line = first_line(client)
    assert line == "" or " 413 " in line, line
    alive()


def slow_loris():
    """Hundreds of heads that never end: others are served, they are closed."""
    clients = [connect() for _ in range(400)]
    for client in clients:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: loc")
    alive()
    status, body = ask("POST", "/v1/shell/exec", {"command": "echo served"})
    assert status == 200 and json.loads(body)["stdout"] == "served\n", body
    wait_for("slow heads to be closed",
             lambda: all(is_closed(client) for client in clients))
    alive()


def never_reads():
    """Clients that ask for much and take nothing: it stays where it is."""
    status, body = ask("POST", "/v1/shell/exec", {
        "command": "head -c 50000000 /dev/zero | tr '\\0' x; sleep 60",
        "background": True})
    assert status == 202, body
    process = json.loads(body)["id"]
    before = rss()
    clients = []
    for path in (f"/v1/file/download?path={arguments[0]}",
                 f"/v1/processes/{process}/output?follow=1"):
        for _ in range(20):
            client = connect()
            client.sendall((HEAD % path).encode())
            clients.append(client)
    for client in clients:
        assert client.recv(1, socket.MSG_PEEK) == b"H"

    def is_all_there():
        _, answer = ask("GET", f"/v1/processes/{process}/output?"
                        "offset=49999999&limit=1")
        return json.loads(answer).get("data") == "x"
    wait_for("the output", is_all_there)
    for _ in range(50):
        alive()
    grown = rss() - before
    assert grown < 96 * MIB, f"{grown // MIB} MiB more than before"
    status, _ = ask("DELETE", f"/v1/processes/{process}")
    assert status == 204, status


def processes_of(marker):
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if marker in file.read().split(b"\0"):
                    found.append(name)
        except OSError:
            pass
    return found


def fork_bomb():
    """Many processes at once: others go on, all are gone after the timeout."""
    marker, in_groups = f"600.{os.getpid()}", arguments[0] == "groups"
    # 2^7 of them; those of the last step leave their session, if they can be
    # caught there.  They end by themselves, should all else fail.
    leave = "setsid" if in_groups else ""
    bomb = ("b() { if [ $1 -gt 0 ]; then b $(($1 - 1)) & b $(($1 - 1)) & wait;"
            f" else {leave} sleep {marker}; fi; }}; b 7")
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    client.request("POST", "/v1/shell/exec",
                   json.dumps({"command": bomb, "timeout": 6}))
    wait_for("the bomb", lambda: len(processes_of(marker.encode())) > 20)
    alive()
    status, body = ask("POST", "/v1/shell/exec", {"command": "echo fine"})
    assert status == 200 and json.loads(body)["stdout"] == "fine\n", body
    answer = json.loads(client.getresponse().read())
    assert answer["timed_out"], answer
    wait_for("all of it to be gone",
             lambda: not processes_of(marker.encode()))
    alive()


{"huge-head": huge_head, "huge-body": huge_body, "slow-loris": slow_loris,
 "never-reads": never_reads, "fork-bomb": fork_bomb}[case]()
