"""Narrowing over ranks: each narrows its parts, and all learn who then holds their rows."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_core.jit.kernel import spread_work
from anon_core.spread import Ranks


def narrow_on_ranks(
    narrow_range: Callable[[int, int], None],
    parts: list[NDArray[np.int64]],
    holders: NDArray[np.int32],
    recount: Callable[[], None],
    *,
    ranks: Ranks,
) -> None:
    """Narrow the own parts on the threads of this rank; see `NarrowParts`."""
    mine = ranks.over(len(parts))
    spread_work(
        lambda begin, end: narrow_range(mine.low + begin, mine.low + end), mine.high - mine.low
    )
    held = np.zeros((len(parts), max(map(len, parts)), holders.shape[1]), dtype=holders.dtype)
    for part, rows in zip(held, parts, strict=True):
        part[: len(rows)] = holders[rows]
    mine.share(held)
    for part, rows in zip(held, parts, strict=True):
        holders[rows] = part[: len(rows)]
    recount()
