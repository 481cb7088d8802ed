"""An agent behind an address, in any language; here in Python.

    python examples/http_agent.py                        # serves it and plays against it
    python examples/http_agent.py serve 8000             # only serves it; then, elsewhere:
    crmbench run demo --agent http://127.0.0.1:8000/turn --sample 4

Each turn is posted to it, with an address (`call_url`) that it posts its tool calls to.
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import dumps, loads
from urllib.request import Request, urlopen

from crmbench import run


class Turn(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = loads(self.rfile.read(int(self.headers["Content-Length"])))
        call = {"name": "client_search", "arguments": {"status": "Active"}}
        with urlopen(Request(asked["call_url"], dumps(call).encode(), method="POST")) as answer:
            result = loads(answer.read())  # {"ok": true, "value": {...}}
        body = dumps({"reply": f"{result['value']['total_count']} clients are active."}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int((sys.argv[2:] or [0])[0])), Turn)
    if sys.argv[1:2] == ["serve"]:
        server.serve_forever()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    result = run("demo", f"http://127.0.0.1:{server.server_port}/turn", sample=4)
    print(f"{result.success:.0%} of {len(result)} conversations")
