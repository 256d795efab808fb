"""How often a source is opened and queried."""

import ctypes
import os
import sqlite3
import struct
from contextlib import contextmanager


def between(monkeypatch, change):
    """Let something happen after the source was read and before it is checked."""
    import crowdcover.kinds.table.pipeline.ingest as module

    reading = module.read_table

    def read_table(*arguments, **options):
        answer = reading(*arguments, **options)
        change()
        return answer

    monkeypatch.setattr(module, "read_table", read_table)


IN_OPEN, IN_CLOSE = 0x20, 0x10


@contextmanager
def opens_counted(path):
    """Count how often any code, Python's or not, opens a file; the kernel keeps the count."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(os.O_NONBLOCK)
    assert handle >= 0
    assert libc.inotify_add_watch(handle, os.fsencode(path), IN_OPEN | IN_CLOSE) >= 0
    opened = []
    try:
        yield opened
        try:
            events = os.read(handle, 2**16)
        except BlockingIOError:
            events = b""
        masks = [struct.unpack_from("iIII", events, at)[1] for at in range(0, len(events), 16)]
        opened += [mask for mask in masks if mask & IN_OPEN]
    finally:
        os.close(handle)


@contextmanager
def queries_counted(monkeypatch):
    """Count the statements that SQLite runs."""
    asked, connect = [], sqlite3.connect

    def traced(*arguments, **settings):
        connection = connect(*arguments, **settings)
        connection.set_trace_callback(asked.append)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", traced)
        yield asked
