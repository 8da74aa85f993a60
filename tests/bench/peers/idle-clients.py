# SPDX-License-Identifier: Apache-2.0
"""Many clients that wait: open them, say so, hold them until stdin ends.

usage: idle-clients.py HOST PORT COUNT PATH [websocket]

Each sends a GET of PATH, for Server-Sent Events or with the handshake of a
WebSocket, and is counted when the status that belongs to it has come.
"""
import resource
import socket
import sys

host, port, count, path = sys.argv[1:5]
websocket = "websocket" in sys.argv[5:]
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

head = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
if websocket:
    head += ("Connection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
want = b"HTTP/1.1 101 " if websocket else b"HTTP/1.1 200 "
clients = []
for _ in range(int(count)):
    client = socket.create_connection((host, int(port)), timeout=20)
    client.sendall((head + "\r\n").encode())
    if not client.recv(4096).startswith(want):
        sys.exit(f"client {len(clients)} was not served")
    clients.append(client)
print(len(clients), flush=True)
sys.stdin.read()
