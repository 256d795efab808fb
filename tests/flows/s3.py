"""An S3 server of its own, behind a door that can be closed: what it holds stays."""

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
import time

from tests.flows.processes import terminate

STARTS_WITHIN = 60


class Door:
    """A port that leads to another one, as long as it is open."""

    def __init__(self, port):
        self.port = port
        self.is_open = True
        self.requests = 0
        self.close_before = None  # the number of the PUT that finds the door closed
        self.bytes_left = None  # what the server may still answer; then the door is closed
        self.environment = {}  # leads here
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.number = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                visitor, _ = self._listening.accept()
                threading.Thread(target=self._lead, args=(visitor,), daemon=True).start()

    def _lead(self, visitor):
        with visitor, contextlib.suppress(OSError):
            if not self.is_open:
                return
            with socket.create_connection(("127.0.0.1", self.port)) as server:
                while True:
                    for ready in select.select([visitor, server], [], [])[0]:
                        content = ready.recv(2**16)
                        if ready is visitor and content.startswith(b"PUT "):
                            self.requests += 1
                            if self.requests == self.close_before:
                                self.is_open = False
                        if ready is server and self.bytes_left is not None:
                            self.bytes_left -= len(content)
                            self.is_open = self.bytes_left > 0
                        if not content or not self.is_open:
                            return
                        (server if ready is visitor else visitor).sendall(content)

    def end(self):
        self._listening.close()


@contextlib.contextmanager
def storage():
    """A running server; yields its door, and sets the environment that leads there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    door = Door(port)
    door.environment = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{door.number}",
        "AWS_ACCESS_KEY_ID": "zq7key",
        "AWS_SECRET_ACCESS_KEY": "zq7secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    os.environ.update(door.environment)
    try:
        end = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield door
    finally:
        door.end()
        terminate(server, 10)
