"""The segments of each round as tasks of a farm; all else is done by the process that asks.

What travels: levels by number, and which record of a segment holds which row so far; no text of a
cell and no name of a column. A reader of the workers' memory can read that. The exchanges at the
end run over all records, in the process that asks.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.freeform.freeform import Freeform
from anon_core.anonymizers.freeform.freeform_kernels import RowHolders, enter_holders
from anon_core.anonymizers.freeform.segments import SegmentMethod, Starts, assign_rows, cut_segment
from anon_core.anonymizers.loss_kernels import LevelCells
from anon_core.spread import Farm, in_flight
from anon_core.steps import Observer, State
from anon_core.tables.records import BinaryTable, MaskedTable

ROUND_TASKS = 128  # tasks of a round: enough for as many threads


def memory(anonymizer: Freeform, data: BinaryTable) -> int:
    """Return the bytes that this process, or a worker, holds at most beyond its input."""
    return anonymizer.memory(data) + memory_of_travelling(data)


def memory_of_travelling(data: BinaryTable) -> int:
    """Return the bytes of a round's tasks beyond what `Freeform.memory` states.

    The process that asks holds the chunks as they are, packed, and on their way through the
    scheduler, which may run here.
    """
    per_chunk_record = 4 * len(data.codebook.attributes) + 4 * int(data.k.max(initial=1)) + 8
    return in_flight(data.records * per_chunk_record)


def anonymize(
    anonymizer: Freeform,
    data: BinaryTable,
    farm: Farm,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> MaskedTable:
    """Do as `Freeform.anonymize`, the segments of each round spread over a farm."""
    assign = partial(assign_on_farm, farm=farm)
    return anonymizer.anonymize_by(
        data, assign, tie_order=tie_order, observer=observer, resume=resume
    )


class RoundGround:
    """What all tasks of a round read. Its repr is opaque.

    Attributes
    ----------
    method : {"greedy", "sort-greedy", "hungarian"}
    done : int
        Rounds before this one.
    layout : tuple of ndarray
        `offsets`, `ordinal`, `whole`, `step`, `position`, `first` of `LevelCells`.
    """

    def __init__(self, method: SegmentMethod, done: int, layout: tuple[NDArray[Any], ...]) -> None:
        self.method, self.done, self.layout = method, done, layout


class SegmentChunk:
    """Segments that follow each other, each numbered from 0. Its repr is opaque.

    Attributes
    ----------
    starts : list of int
        First record of each, in the table.
    parts : list of (int32 (m, attributes), int32 (done, m), int64 (m,))
        Levels of its records, who took each row in each round, and how often each may.
    """

    def __init__(self, starts: list[int], parts: list[tuple[NDArray[Any], ...]]) -> None:
        self.starts, self.parts = starts, parts


def assign_on_farm(
    method: SegmentMethod,
    starts: Starts,
    done: int,
    space: RowHolders,
    report: Callable[[int], None],
    *,
    farm: Farm,
) -> None:
    """Do a round on a farm; see `Assign`. Segments take their places as they come back."""
    bounds = list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))
    size, seated = -(-len(bounds) // ROUND_TASKS), 0
    ground = RoundGround(method, done, space.cells[4:])
    chunks = [
        SegmentChunk(
            [first for first, _ in some],
            [_pack_segment(cut_segment(space, *ends), done) for ends in some],
        )
        for some in (bounds[at : at + size] for at in range(0, len(bounds), size))
    ]
    for chunk, holders in farm.each(take_chunk, ground, chunks):
        for first, holder in zip(chunk.starts, holders, strict=True):
            space.holder[done, first : first + len(holder)] = first + holder
            seated += len(holder)
        report(seated)


def take_chunk(ground: RoundGround, chunk: SegmentChunk, _threads: int) -> list[NDArray[np.int32]]:
    """Return the record that takes each row of each segment.

    A worker runs as many tasks as it has threads, so each takes one thread of numba.
    """
    numba.set_num_threads(1)
    return [
        assign_rows(ground.method, ground.done, _unpack_segment(packed, ground.layout))
        for packed in chunk.parts
    ]


def _pack_segment(space: RowHolders, done: int) -> tuple[NDArray[Any], ...]:
    return space.cells.codes, space.holder[:done], space.most


def _unpack_segment(
    packed: tuple[NDArray[Any], ...], layout: tuple[NDArray[Any], ...]
) -> RowHolders:
    """Make the rows again from those who took them; one more round is free."""
    codes, before, most = packed
    member = np.zeros((len(codes), int(layout[0][-1])), dtype=np.bool_)
    holder = np.full((len(before) + 1, len(codes)), -1, dtype=np.int32)
    holder[:-1] = before
    space = RowHolders(LevelCells(codes, codes.copy(), codes.copy(), member, *layout), holder, most)
    for done in range(len(before)):
        enter_holders(done, space)
    return space
