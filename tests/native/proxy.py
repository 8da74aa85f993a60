# SPDX-License-Identifier: Apache-2.0
"""The other ends of sandboxd's proxy.

proxy.py guest: a guest that answers with what it was sent, and with all that
it may try; it says "listening on port N".
proxy.py terminal PORT PATH: type into a terminal of a guest.
"""
import http.server
import sys

from ws import Closed, Refused, WebSocket

HOSTILE = [
    ("Content-Type", "text/html"),
    ("Set-Cookie", "stolen=1; Path=/"),
    ("Clear-Site-Data", '"*"'),
    ("Refresh", "0; url=/v1/sandboxes"),
    ("WWW-Authenticate", "Basic"),
    ("Alt-Svc", 'h2="evil:443"'),
    ("Access-Control-Allow-Origin", "*"),
    ("Content-Security-Policy", "default-src *"),
    ("X-Content-Type-Options", "sniff"),
    ("Keep-Alive", "timeout=1"),
    ("X-Hop", "1"),
    ("Connection", "close, X-Hop"),
    ("X-Mine", "1"),
]


class Guest(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        """What came, as it came; ?to=X: sent on to there, as X is."""
        self.close_connection = True
        text = f"{self.requestline}\n{self.headers}"
        to = self.path.partition("?to=")[2]
        self.send_response_only(307 if to else 200)
        for name, value in HOSTILE:
            self.send_header(name, value)
        if to:
            self.send_header("Location", to)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


def guest():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Guest)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()


def terminal(port, path):
    ws = WebSocket(int(port), path + "/v1/terminal/ws?command=cat")
    seen = b""
    ws.send(b"there and back\n")
    # Once by the terminal, once by cat.
    while seen.count(b"there and back") < 2:
        message = ws.recv()
        if isinstance(message, bytes):
            seen += message
    ws.send(b"\4")
    try:
        while True:
            ws.recv()
    except Closed:
        pass
    try:
        WebSocket(int(port), path + "/v1/no-such-thing")
        raise AssertionError("a WebSocket where there is none")
    except Refused as e:
        assert e.status == 404, e


if __name__ == "__main__":
    {"guest": guest, "terminal": terminal}[sys.argv[1]](*sys.argv[2:])
