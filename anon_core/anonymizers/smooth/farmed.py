"""The search for near records and the blocks of each pass as tasks of a farm.

What travels: items by number, demands, which records are near each other, and which share a group
so far; no name of an item. A reader of the workers' memory can read that. To search, each worker
gets the items of all records.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.neighbours import BYTES_OF_SEARCH, NEAREST
from anon_core.anonymizers.smooth.smooth import Smooth
from anon_core.matrices.records import GroupedMatrix, SparseMatrix
from anon_core.spread import Chunk, Farm, Ground, TaskResult, in_flight
from anon_core.steps import Observer, State


def memory(anonymizer: Smooth, data: SparseMatrix, *, workers: int) -> int:
    """Return the bytes that this process and its workers hold at most; see `Farmed.memory`.

    This process holds the blocks of a pass, or what is known of all neighbours, as they are,
    packed, and on their way through the scheduler, which may run here. Each thread of a worker
    holds a block.
    """
    of_record = max(4 * NEAREST + 24, BYTES_OF_SEARCH)
    travelling = in_flight(4 * data.entries + of_record * data.records)
    at_once = min(numba.get_num_threads(), -(-data.records // anonymizer.block))
    each = anonymizer.memory(data) + at_once * anonymizer.memory_of_block(data) + travelling
    return (1 + workers) * each


def anonymize(
    anonymizer: Smooth,
    data: SparseMatrix,
    farm: Farm,
    *,
    tie_order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> GroupedMatrix:
    """Do as `Smooth.anonymize`, the search and the blocks of each pass spread over a farm."""
    each = partial(run_on_farm, farm=farm)
    return anonymizer.spread(data, each, tie_order=tie_order, observer=observer, resume=resume)


def run_on_farm(
    task: Callable[[Ground, Chunk], TaskResult],
    ground: Ground,
    chunks: Iterable[Chunk],
    *,
    farm: Farm,
) -> Iterator[tuple[Chunk, TaskResult]]:
    """Do the task on a farm; see `Each`."""
    return farm.each(partial(run_worker_task, task), ground, list(chunks))


def run_worker_task(
    task: Callable[[Ground, Chunk], TaskResult], ground: Ground, chunk: Chunk, _threads: int
) -> TaskResult:
    """Do the task on a worker.

    A worker runs as many tasks as it has threads, so each takes one thread of numba.
    """
    numba.set_num_threads(1)
    return task(ground, chunk)
