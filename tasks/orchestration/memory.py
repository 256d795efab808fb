"""Give back memory between stages: allocators keep most of what a stage has freed."""

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Bytes that a process has grown by; less is kept, since giving it back takes some tenths of a
# second.
LARGE = 2**29
# New objects until Python looks for garbage: 700 by default, which took 0.6 s of a release of 100
# rows. Circles that hold tables are collected by `give_back_memory`.
RARELY = 50_000


def collect_rarely() -> None:
    """Let Python look for garbage after more new objects than by default, in a command's process.

    Most objects of a command are made by imports and stay; a library leaves this to its caller.
    """
    gc.set_threshold(RARELY)


@contextmanager
def keep_all_objects() -> Iterator[None]:
    """Collect no garbage while modules are imported: what they define stays.

    A tenth of the time of an import goes into looking for garbage otherwise.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.freeze()  # nor look through it later
            gc.enable()


def give_back_memory() -> None:
    """Return unused memory to the system, where this process has grown much since it last did.

    What it holds for good, such as all that a long session has imported, is no reason to look
    through it after each stage.
    """
    held = _count_resident_bytes()
    if held - _seen.least < LARGE:
        _seen.least = min(_seen.least, held)
        return
    gc.collect()  # tables that only circles of objects still hold
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # of glibc only
        trim(0)
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()
    _seen.least = _count_resident_bytes()


def _count_resident_bytes() -> int:
    """Return the bytes of this process in memory; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


@dataclass
class _Seen:
    """The bytes that this process held when it held least, since memory was last given back."""

    least: int


_seen = _Seen(_count_resident_bytes())
