"""Memory that a stage freed goes back to the system."""

import ctypes
import gc
import subprocess
import sys

import pytest

from crowdcover.tasks.orchestration import memory
from crowdcover.tasks.orchestration.memory import give_back_memory

MANY, SIZE = 400_000, 100  # objects that the allocator of C keeps by itself


def resident():
    return memory._count_resident_bytes()


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc gives memory back when asked"
)
def test_what_was_freed_is_given_back(monkeypatch):
    monkeypatch.setattr(memory._seen, "least", 0)
    monkeypatch.setattr(memory, "LARGE", 1)
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


def test_memory_is_given_back_where_a_process_has_grown(monkeypatch):
    collected, held = [], memory.LARGE * 3
    monkeypatch.setattr(gc, "collect", lambda: collected.append(True))
    monkeypatch.setattr(memory, "_count_resident_bytes", lambda: held)
    monkeypatch.setattr(memory._seen, "least", held)
    give_back_memory()
    assert collected == []  # much, but held for good
    held += memory.LARGE - 1
    give_back_memory()
    assert collected == []
    held += 1
    give_back_memory()
    assert collected == [True]
    give_back_memory()
    assert collected == [True]  # what it could not give back is held for good, too
    held -= memory.LARGE
    give_back_memory()
    held += memory.LARGE
    give_back_memory()
    assert collected == [True, True]


def test_a_command_looks_for_garbage_rarely():
    """The settings of a process that imports the library stay."""
    program = "import gc; from crowdcover.flows import cli; before = gc.get_threshold()[0]\n"
    program += "try: cli.main(['show', 'nowhere'])\nexcept SystemExit: pass\n"
    program += "print(before, gc.get_threshold()[0])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    before, during = map(int, done.stdout.split())
    assert before < memory.RARELY == during
