"""The parts of a table as tasks of a farm: each travels to a worker, and its rows come back.

What travels: levels by number, demands and who owns which record, by number; no text of a cell and
no name of a column. A reader of the workers' memory can read that.
"""

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Arrays
from anon_core.anonymizers.in_parts.cut import Cut, assemble_parts, make_whole
from anon_core.anonymizers.in_parts.threaded import list_row_bytes, memory_of_parts, memory_of_whole
from anon_core.spread import Farm, in_flight
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable


def memory(method: Any, data: BinaryTable, *, workers: int) -> int:
    """Return the bytes that this process and its workers hold at most; see `Farmed.memory`.

    All parts lie here, also on their way. A thread of a worker holds a part.
    """
    cut = Cut.of(data, None, method.records_of_part)
    if len(cut.places) == 1:
        return max(memory_of_parts(method, cut))
    sent = 5 * len(data.codebook.attributes) + 24
    travelling = in_flight(data.records * (sent + sum(list_row_bytes(method, cut))))
    threads = max(numba.get_num_threads(), workers) if workers else 0  # of all workers
    at_once = min(threads, len(cut.places))
    here = memory_of_whole(method, cut) + travelling
    return here + at_once * max(memory_of_parts(method, cut))


class PartChunk:
    """A part on its way to a worker. Its repr is opaque.

    Attributes
    ----------
    number : int
    document, arrays
        Of `BinaryTable.pack_arrays`.
    order : int64 (m,)
        See `Cut.take_part`.
    """

    def __init__(self, number: int, cut: Cut, *, numbers: bool) -> None:
        part, self.order = cut.take_part(number)
        self.number = number
        self.document, arrays = part.pack_arrays(numbers=numbers)
        self.arrays = dict(arrays)


class PartGround:
    """The method that all tasks run for a table of so many records. Its repr is opaque."""

    def __init__(self, method: Any, records: int) -> None:
        self.method = method.take_as_one_part(records)


def make_part(ground: PartGround, chunk: PartChunk, _threads: int) -> Arrays:
    """Make a part on a worker, which runs as many tasks as it has threads."""
    numba.set_num_threads(1)
    part = BinaryTable.unpack_arrays(chunk.document, chunk.arrays)
    made: MaskedTable = ground.method.anonymize(part, tie_order=chunk.order)
    return made.arrays()


def anonymize(
    method: Any,
    data: BinaryTable,
    farm: Farm,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Make each part as a task of a farm; see `Farmed.anonymize`. One part alone is made here."""
    cut = Cut.of(data, tie_order, method.records_of_part)
    if len(cut.places) == 1:
        return make_whole(method, data, tie_order=tie_order, observer=observer, resume=resume)

    def send_parts(numbers: list[int]) -> Iterator[tuple[int, Arrays]]:
        ground = PartGround(method, data.records)
        chunks = [PartChunk(number, cut, numbers=method.reads_numbers) for number in numbers]
        for chunk, arrays in farm.each(make_part, ground, chunks):
            yield chunk.number, arrays

    return assemble_parts(cut, send_parts, observer, resume)
