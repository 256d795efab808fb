"""What cells allow: ranges on one ordered line.

Whether two cells can be of one person is whether two of their ranges overlap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import LimitError

# A place on the line of a column: a number or a text, and whether it lies just before (-1), at (0)
# or just behind (1) it, for intervals without their ends.
LinePlace = tuple[Any, int]
Range = tuple[LinePlace, LinePlace]
Ranges = tuple[Range, ...]

LOWEST: LinePlace = ("below all", -1)
HIGHEST: LinePlace = ("above all", 1)
_ABSENT: LinePlace = ("absent", 2)
GONE: Range = (_ABSENT, _ABSENT)  # a missing value: behind all that is given
EVERYTHING: Ranges = ((LOWEST, _ABSENT),)
OUTER = (LOWEST, HIGHEST, _ABSENT)

MOST_PAIRS = 2**32  # of distinct cells of a column: a byte each
_BLOCK = 2**26


def find_overlaps(cells: Sequence[Ranges], others: Sequence[Ranges]) -> NDArray[np.bool_]:
    """Test which cells of two lists allow a common value, bool (cells, others).

    Raises
    ------
    LimitError
        There are too many pairs of them.
    """
    if len(cells) * len(others) > MOST_PAIRS:
        raise LimitError(
            f"a column has {max(len(cells), len(others)):,} different values; round it, or leave "
            "it out"
        )
    places = {place for cell in (*cells, *others) for ends in cell for place in ends}
    rank = {place: number for number, place in enumerate(sorted(places - {*OUTER}), 1)}
    rank |= {LOWEST: 0, HIGHEST: len(rank) + 1, _ABSENT: len(rank) + 2}
    mine, theirs = _lay_out(cells, rank), _lay_out(others, rank)
    found = np.empty((len(cells), len(others)), dtype=np.bool_)
    step = max(1, _BLOCK // (mine.most * len(theirs.low)))
    for first in range(0, len(found), step):
        own = mine.cut(first, first + step)
        pairs = (own.low[:, None] <= theirs.high) & (theirs.low <= own.high[:, None])
        by_cell = np.logical_or.reduceat(pairs, own.start, axis=0)
        found[first : first + step] = np.logical_or.reduceat(by_cell, theirs.start, axis=1)
    return found


@dataclass(frozen=True)
class _Laid:
    """Ranges side by side: those of a cell begin at its `start`."""

    start: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @property
    def most(self) -> int:
        """The most ranges of a cell."""
        return int(np.diff(self.start, append=len(self.low)).max())

    def cut(self, first: int, stop: int) -> "_Laid":
        """The ranges of some cells."""
        begin = int(self.start[first])
        end = int(self.start[stop]) if stop < len(self.start) else len(self.low)
        return _Laid(self.start[first:stop] - begin, self.low[begin:end], self.high[begin:end])


def _lay_out(cells: Sequence[Ranges], rank: Mapping[LinePlace, int]) -> _Laid:
    counts = np.array([len(cell) for cell in cells])
    ends = np.array([[rank[low], rank[high]] for cell in cells for low, high in cell])
    return _Laid(np.cumsum(counts) - counts, ends[:, 0].copy(), ends[:, 1].copy())
