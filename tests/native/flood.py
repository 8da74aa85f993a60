# SPDX-License-Identifier: Apache-2.0
"""Ask without end and without waiting, on many connections, until the server
is gone.  Usage: flood.py PORT"""
import socket
import sys
import threading

ASK = b"GET /v1/processes HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50
begun = threading.Barrier(9)


def flood():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
    s.sendall(ASK)
    s.recv(65536)
    begun.wait()
    try:
        while s.recv(65536):
            s.sendall(ASK)
    except OSError:
        pass


threads = [threading.Thread(target=flood) for _ in range(8)]
for t in threads:
    t.start()
begun.wait()
print("begun", flush=True)
for t in threads:
    t.join()
