# SPDX-License-Identifier: Apache-2.0
"""A bad line: forwards TCP to a port of this machine, but cuts a connection
once so many bytes have come back.  Prints the port that it listens on."""
import socket
import sys
import threading

target, limit = int(sys.argv[1]), int(sys.argv[2])


def forward(a, b, left):
    try:
        while left > 0:
            data = a.recv(min(left, 65536))
            if not data:
                break
            b.sendall(data)
            left -= len(data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", target))
    for args in (client, server, 1 << 60), (server, client, limit):
        threading.Thread(target=forward, args=args, daemon=True).start()
