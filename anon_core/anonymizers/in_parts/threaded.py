"""The parts of a table on the threads of this process, as many at a time as memory allows."""

import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Arrays
from anon_core.anonymizers.in_parts.cut import Cut, assemble_parts, make_whole
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable


def memory(method: Any, data: BinaryTable) -> int:
    """Return the bytes held at most beyond the input where one part is at work."""
    cut = Cut.of(data, None, method.records_of_part)
    return memory_of_whole(method, cut) + max(memory_of_parts(method, cut))


def memory_of_whole(method: Any, cut: Cut) -> int:
    """Return the bytes of the order, of what is made, and of a copy that is kept for a rerun."""
    if len(cut.places) == 1:
        return 0
    table, of_row = cut.table, list_row_bytes(method, cut)
    cutting = 8 * len(table.codebook.attributes) + 48 + 17 * numba.get_num_threads()
    return table.records * (2 * sum(of_row) + max(of_row) + cutting)


def list_row_bytes(method: Any, cut: Cut) -> list[int]:
    """Return the bytes of what is made of a row: what it hides, and who holds it."""
    even = "even seats" in method.promise.findings
    return [8 * cut.table.codebook.words, 4 * cut.shares if even else 0]


def memory_of_parts(method: Any, cut: Cut) -> list[int]:
    """Return the bytes that each part needs, with its records."""
    inner, sizes = method.take_as_one_part(cut.table.records), []
    if len(cut.places) == 1:
        return [inner.memory(cut.table)]
    for places in cut.places:
        part = cut.table.at(places)
        of_bits = 8 * part.codebook.words * part.records
        held = part.codes.nbytes + of_bits + part.blank.nbytes + 16 * part.records
        sizes.append(inner.memory(part) + held)
    return sizes


def anonymize(
    method: Any,
    data: BinaryTable,
    *,
    memory: int | None = None,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Make each part by itself, as many at a time as there are threads and memory for.

    The result depends on neither. `memory`: bytes beyond the input.
    """
    cut = Cut.of(data, tie_order, method.records_of_part)
    if len(cut.places) == 1:
        return make_whole(method, data, tie_order=tie_order, observer=observer, resume=resume)
    threads = numba.get_num_threads()
    at_once = threads
    if memory is not None:
        room = memory - memory_of_whole(method, cut)
        at_once = max(1, min(threads, room // max(memory_of_parts(method, cut))))
    return assemble_parts(
        cut,
        lambda numbers: make_parts(method, cut, numbers, at_once, threads // at_once),
        observer,
        resume,
    )


class _Stopped(Observer):
    """Ends the work on a part once another one has failed, or the run was interrupted."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def report_records(self, _records: int) -> None:
        """See `Observer`."""
        # A running thread cannot be stopped from outside; methods report often.
        if self._stop.is_set():
            raise CancelledError

    def on_step(self, _state: State) -> None:
        """See `Observer`."""
        self.report_records(0)


def make_parts(
    method: Any, cut: Cut, numbers: list[int], at_once: int, threads: int
) -> Iterator[tuple[int, Arrays]]:
    """Yield parts as they are done; `at_once` are at work, each on so many threads.

    As many wait for a thread, so that none is idle while a part that is done is taken over.
    """
    inner, left = method.take_as_one_part(cut.table.records), iter(numbers)
    stop = threading.Event()

    def make(number: int) -> Arrays:
        # numba keeps this number by thread.
        numba.set_num_threads(threads)
        part, order = cut.take_part(number)
        made: MaskedTable = inner.anonymize(part, tie_order=order, observer=_Stopped(stop))
        return made.arrays()

    with ThreadPoolExecutor(at_once, "part") as pool:
        running: dict[Future[Arrays], int] = {}
        try:
            while True:
                while len(running) < 2 * at_once and (number := next(left, None)) is not None:
                    running[pool.submit(make, number)] = number
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    arrays = future.result()
                    yield running.pop(future), arrays
        finally:
            stop.set()
            for future in running:
                future.cancel()
