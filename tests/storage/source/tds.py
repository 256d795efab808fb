"""A server that speaks enough of TDS 7.4 for a driver of SQL Server: logins, batches, errors.

It is no SQL Server: it answers each SELECT with the same rows, or with the error that it names.
"""

import socketserver
import struct
import threading
from contextlib import contextmanager

PRELOGIN, LOGIN, BATCH, REPLY = 0x12, 0x10, 0x01, 0x04
NO_ENCRYPTION = 2
DONE = struct.pack("<BHHQ", 0xFD, 0, 0, 0)
FAILED = struct.pack("<BHHQ", 0xFD, 2, 0, 0)
ROWS = [(2, "x"), (1, "zq7 y"), (None, None)]


def _short(text):
    return bytes([len(text)]) + text.encode("utf-16-le")


def _long(text):
    return struct.pack("<H", len(text)) + text.encode("utf-16-le")


def _error(number, text, severity=16):
    content = (
        struct.pack("<IBB", number, 1, severity) + _long(text) + _short("zq7server") + _short("")
    )
    content += struct.pack("<I", 1)
    return struct.pack("<BH", 0xAA, len(content)) + content + FAILED


def _table():
    """Columns b, whole numbers, and a, texts."""
    head = struct.pack("<BH", 0x81, 2)
    head += struct.pack("<IHBB", 0, 1, 0x26, 4) + _short("b")
    head += struct.pack("<IHBH5s", 0, 1, 0xE7, 200, bytes(5)) + _short("a")
    rows = b""
    for number, text in ROWS:
        rows += b"\xd1" + (b"\0" if number is None else struct.pack("<Bi", 4, number))
        if text is None:
            rows += b"\xff\xff"
        else:
            rows += struct.pack("<H", 2 * len(text)) + text.encode("utf-16-le")
    return head + rows + struct.pack("<BHHQ", 0xFD, 0x10, 0xC1, len(ROWS))


class _Visit(socketserver.StreamRequestHandler):
    def handle(self):
        while head := self.rfile.read(8):
            kind, status, length = struct.unpack(">BBH", head[:4])
            content = self.rfile.read(length - 8)
            while not status & 1:
                _, status, length = struct.unpack(">BBH", self.rfile.read(8)[:4])
                content += self.rfile.read(length - 8)
            answer = {PRELOGIN: self._hello, LOGIN: self._login, BATCH: self._batch}[kind](content)
            if answer is None:
                return
            self.wfile.write(struct.pack(">BBHHBB", REPLY, 1, len(answer) + 8, 0, 1, 0) + answer)

    def _hello(self, _):
        return struct.pack(">BHHBHHB", 0, 11, 6, 1, 17, 1, 0xFF) + bytes(6) + bytes([NO_ENCRYPTION])

    def _login(self, content):
        def text(place):
            start, length = struct.unpack_from("<HH", content, place)
            return content[start : start + 2 * length]

        hidden = bytes(byte ^ 0xA5 for byte in text(44))
        password = bytes((byte << 4 | byte >> 4) & 0xFF for byte in hidden).decode("utf-16-le")
        user, database = text(40).decode("utf-16-le"), text(68).decode("utf-16-le")
        self.server.notes.append((user, password, database))
        if password != self.server.password:
            return _error(18456, f"Login failed for user '{user}'.", 14)
        if database == "zq7none":
            return _error(4060, f'Cannot open database "{database}" requested by the login.', 11)
        name = "Microsoft SQL Server"
        content = bytes([1]) + bytes.fromhex("74000004") + _short(name) + bytes([16, 0, 0, 0])
        return struct.pack("<BH", 0xAD, len(content)) + content + DONE

    def _batch(self, content):
        words = content[struct.unpack_from("<I", content)[0] :].decode("utf-16-le")
        self.server.notes.append(words)
        if "gone" in words:
            return None
        if "error" in words:
            return _error(int(words.split()[-1]), f"a message that quotes zq7 of {words}")
        return _table() if words.startswith("select") else DONE


@contextmanager
def serving(password):
    """A running server: its `server_address`, and `notes` of what it was sent."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Visit) as server:
        server.daemon_threads, server.notes, server.password = True, [], password
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
