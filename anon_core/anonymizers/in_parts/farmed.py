"""The parts of a table as tasks of a farm: each travels to a worker, and its rows come back.

What travels: levels by number, demands and who owns which record, by number; no text of a cell and
no name of a column. A reader of the workers' memory can read that.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Arrays
from anon_core.anonymizers.in_parts.cut import Assembly, Cut
from anon_core.anonymizers.in_parts.threaded import memory_of_parts, memory_of_whole
from anon_core.spread import Farm, in_flight
from anon_core.steps import Observer, State, Step
from anon_core.tables.records import BinaryTable, MaskedTable


def memory(method: Any, data: BinaryTable) -> int:
    """Return the bytes that this process, or a worker, holds at most beyond its input."""
    cut = Cut.of(data, None, method.records_of_part)
    travelling = in_flight(data.records * (4 * len(data.codebook.attributes) + 24))
    return max(memory_of_whole(cut) + travelling, *memory_of_parts(method, cut))


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

    def __init__(self, number: int, cut: Cut) -> None:
        part, self.order = cut.take_part(number)
        self.number = number
        self.document, arrays = part.pack_arrays()
        self.arrays = dict(arrays)


class PartGround:
    """The method that all tasks run for a table of so many records. Its repr is opaque."""

    def __init__(self, method: Any, records: int) -> None:
        self.method = method.take_as_one_part(records)


def make_part(
    ground: PartGround, chunk: PartChunk, _threads: int
) -> tuple[Arrays, tuple[Step, ...], int]:
    """Make a part on a worker, which runs as many tasks as it has threads."""
    numba.set_num_threads(1)
    part = BinaryTable.unpack_arrays(chunk.document, chunk.arrays)
    made: MaskedTable = ground.method.anonymize(part, tie_order=chunk.order)
    return made.arrays(), made.steps, made.result_step


def anonymize(
    method: Any,
    data: BinaryTable,
    farm: Farm,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Make each part as a task of a farm; see `Farmed.anonymize`."""
    cut = Cut.of(data, tie_order, method.records_of_part)
    made, watch = Assembly(cut), observer or Observer()
    if len(cut.places) > 1:
        made.resume(resume)
        watch.expects(len(cut.places))
    chunks = [PartChunk(number, cut) for number in np.flatnonzero(~made.done).tolist()]
    for chunk, (arrays, steps, kept) in farm.each(
        make_part, PartGround(method, data.records), chunks
    ):
        if len(cut.places) == 1:
            return report_one_part(data, arrays, steps, kept, watch)
        made.put(chunk.number, arrays)
        watch.on_step(made.report_state())
    return made.finish()


def report_one_part(
    data: BinaryTable, arrays: Arrays, steps: tuple[Step, ...], kept: int, watch: Observer
) -> MaskedTable:
    """Return the one part, its steps told only now."""
    for number in range(1, len(steps) + 1):
        watch.on_step(State(arrays, steps[:number]))
    return data.restore_result(arrays, steps, kept)
