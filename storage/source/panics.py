"""Panics of Rust code, such as polars', kept from standard error.

Where a damaged file makes Rust code panic, it writes a message of its own to file descriptor 2, and
that may quote cells. Python cannot prevent it, so the descriptor is held while a file is read.
"""

import contextlib
import faulthandler
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import IO

PANIC = re.compile(rb"^\n?thread '[^\n]*panicked at ", re.MULTILINE)
_ONE_AT_A_TIME = threading.RLock()  # a process has one standard error


@contextlib.contextmanager
def silence_panics() -> Iterator[None]:
    """Hold what is written to standard error meanwhile; drop it from the first panic on.

    What was written before a panic follows when the block ends, or all of it if there was none.
    """
    # Reentrant: blocks nest, and an inner one writes on into what the outer one holds.
    with _ONE_AT_A_TIME, contextlib.ExitStack() as undone:
        try:
            outside = os.dup(2)
        except OSError:  # there is no standard error
            yield
            return
        undone.callback(os.close, outside)
        held = undone.enter_context(_open_memory_file())
        if not faulthandler.is_enabled():
            # Of an abort, such as for want of memory, nothing else would be told.
            faulthandler.enable(outside, all_threads=False)
            undone.callback(faulthandler.disable)
        # Python's own buffer goes first: it was written before the block.
        _flush_stderr()
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            _flush_stderr()
            os.dup2(outside, 2)
            held.seek(0)
            _write_stderr(PANIC.split(held.read(), maxsplit=1)[0])


def _open_memory_file() -> IO[bytes]:
    """A file in memory where the system has such files: a full disk must not get in the way."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("stderr"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _flush_stderr() -> None:
    with contextlib.suppress(OSError, ValueError):  # closed, or a pipe that nobody reads
        sys.stderr.flush()


def _write_stderr(text: bytes) -> None:
    with contextlib.suppress(OSError):
        while text:
            text = text[os.write(2, text) :]
