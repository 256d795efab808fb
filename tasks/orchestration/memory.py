"""Give back memory between stages: allocators keep most of what a stage has freed."""

import ctypes
import gc
import os
import sys
from pathlib import Path

LARGE = (
    2**30
)  # bytes in memory below which nothing is given back: that takes some tenths of a second


def give_back_memory() -> None:
    """Return unused memory to the system, where this process holds much."""
    if _count_resident_bytes() < LARGE:
        return
    gc.collect()  # tables that only circles of objects still hold
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # of glibc only
        trim(0)
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()


def _count_resident_bytes() -> int:
    """Return the bytes of this process in memory; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
