"""The blocks of each pass as tasks of a farm; all else is done by the process that asks.

What travels: items by number, demands, which records of a block are near each other, and which
share a group so far; no name of an item. A reader of the workers' memory can read that. The nearest
records are found by the process that asks.
"""

from collections.abc import Iterable, Iterator
from functools import partial

import numba
import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.blocks import Block, Ground, Result, grouped
from anon_core.anonymizers.smooth.neighbours import NEAREST
from anon_core.anonymizers.smooth.smooth import Smooth
from anon_core.matrices.records import GroupedMatrix, SparseMatrix
from anon_core.spread import Farm, in_flight
from anon_core.steps import Observer, State


def memory(maker: Smooth, data: SparseMatrix) -> int:
    """Return the bytes that this process, or a worker, holds at most beyond its input.

    This process holds the blocks of a pass as they are, packed, and on their way through the
    scheduler, which may run here. Each thread of a worker holds a block.
    """
    travelling = in_flight(4 * data.entries + (4 * NEAREST + 24) * data.records)
    at_once = min(numba.get_num_threads(), -(-data.records // maker.block))
    return maker.memory(data) + at_once * maker.memory_of_block(data) + travelling


def anonymize(
    maker: Smooth,
    data: SparseMatrix,
    farm: Farm,
    *,
    order: NDArray[np.int64] | None = None,
    observer: Observer | None = None,
    resume: State | None = None,
) -> GroupedMatrix:
    """Do as `Smooth.anonymize`, the blocks of each pass spread over a farm."""
    each = partial(on_farm, farm=farm)
    return maker.spread(data, each, order=order, observer=observer, resume=resume)


def on_farm(
    ground: Ground, blocks: Iterable[Block], *, farm: Farm
) -> Iterator[tuple[Block, Result]]:
    """Group the blocks on a farm; see `Each`."""
    return farm.each(group_block, ground, list(blocks))


def group_block(ground: Ground, block: Block, _threads: int) -> Result:
    """Group a block on a worker.

    A worker runs as many tasks as it has threads, so each takes one thread of numba.
    """
    numba.set_num_threads(1)
    return grouped(ground, block)
