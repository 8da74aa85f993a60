# SPDX-License-Identifier: Apache-2.0
"""host.py SOCKET SANDBOX VERSION: for sandboxctl, a host with one sandbox that
is ready: the object in the file SANDBOX.  Its ports are those of this machine,
and what is forwarded is really forwarded."""
import http.server
import json
import re
import socket
import socketserver
import sys
import threading

path, sandbox_file, version = sys.argv[1:]
forwards = {}  # by host port: the listening socket and the object


def relay(a, b):
    try:
        while True:
            data = a.recv(65536)
            if not data:
                break
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        for s in a, b:
            s.close()


def serve(listener, guest):
    while True:
        try:
            client = listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", guest))
        except ConnectionRefusedError:
            client.close()
            continue
        except OSError:
            return
        for pair in (client, server), (server, client):
            threading.Thread(target=relay, args=pair, daemon=True).start()


def add(guest):
    listener = socket.create_server(("127.0.0.1", 0))
    host = listener.getsockname()[1]
    o = {"host_addr": "127.0.0.1", "host": host, "guest": guest}
    forwards[host] = (listener, o)
    threading.Thread(target=serve, args=(listener, guest), daemon=True).start()
    return o


def remove(host):
    listener = forwards.pop(host)[0]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "sandboxctl"

    def log_message(self, *args):
        pass

    def answer(self, status, o=None):
        body = json.dumps(o).encode() if o is not None else b""
        self.send(status, "application/json", body)

    def send(self, status, kind, body):
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def problem(self, status, code):
        self.answer(status, {"status": status, "code": code, "message": code})

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with open(sandbox_file) as file:
            sandbox = json.load(file)
        ours = r"/v1/sandboxes/(?:%s|%s)" % (sandbox["id"], sandbox["name"])
        what = self.command + " " + re.sub("^" + ours + r"\b", "@", self.path)
        rm = re.fullmatch(r"DELETE @/ports/(\d+)", what)
        if what == "GET /health":
            self.answer(200, {"version": version})
        elif what == "GET @":
            self.answer(200, sandbox)
        elif what == "GET @/console/screenshot":
            with open(sandbox["console"], "rb") as file:
                self.send(200, "image/png", file.read())
        elif what == "GET @/ports":
            self.answer(200, {"ports": [o for _, o in forwards.values()]})
        elif what == "POST @/ports" and sandbox.get("full"):
            self.problem(413, "limit")
        elif what == "POST @/ports":
            self.answer(201, add(json.loads(body)["guest"]))
        elif rm and int(rm[1]) in forwards:
            remove(int(rm[1]))
            self.answer(204)
        else:
            self.problem(404, "not-found")

    do_GET = do_POST = do_DELETE = do


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


Server(path, Handler).serve_forever()
