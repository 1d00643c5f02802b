"""A small HTTP API on loopback: the tides of two harbours. python tides_api.py PORT"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TIDES = {"hamburg": [{"at": "04:12", "metres": 3.6}], "bergen": [{"at": "05:50", "metres": 1.2}]}


class Tides(BaseHTTPRequestHandler):
    def do_GET(self):
        place = self.path.removeprefix("/tides/")
        found = list(TIDES) if self.path == "/harbours" else TIDES.get(place)
        body = json.dumps({"error": f"no harbour {place}"} if found is None else found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Tides) as server:
        sys.stderr.write(f"http://127.0.0.1:{server.server_address[1]}\n")
        sys.stderr.flush()
        server.serve_forever()
