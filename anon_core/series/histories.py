"""How many histories the rows of earlier versions leave to each chain, by the value they carry."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_core.series.fits import Fits
from anon_core.series.histories_kernels import number_strong_components
from anon_core.tables.pasts import MOST_WAYS, Pasts


class ValueCounts(NamedTuple):
    """Cells, by what the rows that may be a record's carry in the columns that never change.

    Attributes
    ----------
    records : int64 (n,)
        Number of each record's chain: what one record owns over time. A chain in several cells
        stands there once for each.
    chain, value, rows : int64 (pairs,)
        Matchable rows of a chain that carry a value: how many.
    """

    records: NDArray[np.int64]
    chain: NDArray[np.int64]
    value: NDArray[np.int64]
    rows: NDArray[np.int64]


def count_matchable_rows(
    chain: NDArray[np.int64], value: NDArray[np.int64], fits: Fits
) -> ValueCounts:
    """Count the matchable rows of each record by value.

    Parameters
    ----------
    chain, value : int64 (n,)
        Chain of each record, and what its row carries.
    fits : Fits
        Of the records of a cell, or of several cells, each record among those of its cell.
    """
    part = number_components(fits.start, fits.row)
    record = fits.record
    keep = part[record] == part[fits.row]
    # One number for record and value, so that one `unique` counts rows by both.
    span = int(value.max(initial=0)) + 1
    pair, count = np.unique(record[keep] * span + value[fits.row[keep]], return_counts=True)
    record, carried = np.divmod(pair, span)
    return ValueCounts(chain, chain[record], carried, count)


def find_pasts(
    cells: Sequence[ValueCounts], chain: NDArray[np.int64], value: NDArray[np.int64]
) -> Pasts:
    """Count the histories that withdrawn rows leave to each of some records.

    Parameters
    ----------
    cells : sequence of ValueCounts
        Cells whose rows were withdrawn.
    chain, value : int64 (n,)
        Of the records that are asked for: chains need not be in any cell.

    Notes
    -----
    Perfect matchings of different cells combine freely. So with value j a chain has the product,
    over its cells, of its matchable rows that carry j (docs/theory.md, 10). A chain without any
    value that all of its cells allow keeps its own, in no way.
    """
    return look_up_pasts(merge_cells(cells), chain, value)


def merge_cells(cells: Sequence[ValueCounts]) -> ValueCounts:
    """Merge cells whose rows were withdrawn into one that leaves the same histories.

    Its `rows` are those products, at most `MOST_WAYS`; chains and values ascend.
    """
    nothing = np.empty(0, dtype=np.int64)
    owner, carried, count = (
        np.concatenate([nothing, *(cell[at] for cell in cells)]) for at in (1, 2, 3)
    )
    number, in_cells = np.unique(
        np.concatenate([nothing, *(cell.records for cell in cells)]), return_counts=True
    )
    order = np.lexsort([carried, owner])
    owner, carried, count = owner[order], carried[order], count[order]
    new = np.ones(len(owner), dtype=np.bool_)
    new[1:] = (np.diff(owner) != 0) | (np.diff(carried) != 0)
    first = np.flatnonzero(new)
    ways = np.empty(0)
    if len(first):
        with np.errstate(over="ignore"):
            # Floats stay large where integers would wrap, and are exact up to `MOST_WAYS`.
            ways = np.multiply.reduceat(count.astype(np.float64), first)
    # A chain has one record in a cell, so the pairs of a value count the cells that allow it. A
    # value that one of its cells lacks has no history.
    listed = np.diff(np.append(first, len(owner)))
    in_all = listed == in_cells[np.searchsorted(number, owner[first])]
    owner, carried = owner[first[in_all]], carried[first[in_all]]
    ways = np.minimum(ways[in_all], MOST_WAYS).astype(np.int64)
    return ValueCounts(number, owner, carried, ways)


def look_up_pasts(merged: ValueCounts, chain: NDArray[np.int64], value: NDArray[np.int64]) -> Pasts:
    """Count the histories of records as `find_pasts` does, after `merge_cells`."""
    closed, owner, carried, ways = merged
    first, last = np.searchsorted(owner, chain), np.searchsorted(owner, chain, side="right")
    lost = np.isin(chain, closed) & (first == last)
    count = np.where(lost, 1, last - first)
    start = np.concatenate([[0], np.cumsum(count)])
    place = np.arange(start[-1]) + np.repeat(first - start[:-1], count)
    single = np.repeat(lost, count)
    # Any valid place: what stands there is replaced below.
    place[single] = 0
    own = np.repeat(value, count)
    return Pasts(
        value,
        start,
        np.where(single, own, np.append(carried, 0)[place]),
        np.where(single, 0, np.append(ways, 0)[place]),
    )


def number_components(start: NDArray[np.int64], row: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number the strong components of the graph that leads to owners of rows that fit, int64 (n,).

    Row i is the one that record i owns. A pair is matchable iff it lies in one component
    (docs/theory.md, 5).
    """
    numbers: NDArray[np.int64] = number_strong_components(start, row)
    return numbers
