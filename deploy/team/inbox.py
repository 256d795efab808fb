"""A webhook for trying: prints what automations send, a line for each message.

python deploy/team/inbox.py 8765
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Inbox(BaseHTTPRequestHandler):
    """Takes a message by POST."""

    def do_POST(self) -> None:
        """Print the message."""
        length = int(self.headers.get("Content-Length", 0))
        print(self.rfile.read(length).decode(errors="replace"), flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing else."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Inbox).serve_forever()
