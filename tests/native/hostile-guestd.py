# SPDX-License-Identifier: Apache-2.0
"""hostile-guestd.py ANSWERS: for sandboxctl, a guestd that says what the folder
ANSWERS has: a file for each path, its slashes as underscores.  What is named
in the file "endless" never ends.  Each request is a line of the file "asked".
Prints its port."""
import http.server
import os
import sys
import urllib.parse

answers = sys.argv[1]


def answer(name):
    try:
        with open(os.path.join(answers, name), "rb") as file:
            return file.read()
    except OSError:
        return b""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do(self):
        asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with open(os.path.join(answers, "asked"), "ab") as file:
            line = "%s %s " % (self.command, self.path)
            file.write(line.encode() + asked + b"\n")
        path = urllib.parse.urlsplit(self.path).path
        name = path.strip("/").replace("/", "_")
        body = answer(name) or b"{}"
        endless = answer("endless").strip() == name.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 40 if endless else len(body)))
        self.end_headers()
        self.wfile.write(body)
        while endless:
            try:
                self.wfile.write(bytes(1 << 20))
            except OSError:
                endless = False

    do_GET = do_POST = do_DELETE = do


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
