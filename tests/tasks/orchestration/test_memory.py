"""Memory that a stage freed goes back to the system."""

import ctypes
import gc

import pytest

from tasks.orchestration import memory
from tasks.orchestration.memory import give_back_memory

MANY, SIZE = 400_000, 100  # objects that the allocator of C keeps by itself


def resident():
    return memory._count_resident_bytes()


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc gives memory back when asked"
)
def test_what_was_freed_is_given_back(monkeypatch):
    monkeypatch.setattr(memory, "LARGE", 0)
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    allocate = ctypes.CDLL(None).malloc
    allocate.restype = ctypes.c_void_p
    places = [allocate(SIZE * 100) for _ in range(MANY // 100)]
    for place in places:
        ctypes.memset(place, 1, SIZE * 100)
    last = allocate(SIZE)  # so that the top of the heap stays in use
    for place in places:
        free(place)
    before = resident()
    give_back_memory()
    assert resident() < before - MANY * SIZE // 2
    free(last)


def test_little_memory_is_left_as_it_is(monkeypatch):
    collected = []
    monkeypatch.setattr(memory, "_count_resident_bytes", lambda: memory.LARGE - 1)
    monkeypatch.setattr(gc, "collect", lambda: collected.append(True))
    give_back_memory()
    assert collected == []
    monkeypatch.setattr(memory, "_count_resident_bytes", lambda: memory.LARGE)
    give_back_memory()
    assert collected == [True]
