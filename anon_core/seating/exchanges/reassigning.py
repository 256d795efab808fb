"""Assign shares of rows anew, many rows at a time, so that they hide less."""

import math

import numpy as np
from numpy.typing import NDArray

from anon_core.seating.exchanges.reassigning_kernels import all_costs, hand_over
from anon_core.seating.exchanges.swapping import parties_of, prices_of
from anon_core.seating.exchanges.swapping_kernels import HeldRows, unite_rows
from anon_core.seating.record_classes import RecordClasses
from anon_core.tables.records import BinaryTable

SEGMENT = 500  # rows at a time: time and memory grow with its cube and square


def reassign_shares(
    table: BinaryTable,
    classes: RecordClasses,
    holders: NDArray[np.int32],
    blank: NDArray[np.uint64],
    weights: tuple[NDArray[np.int32], NDArray[np.int32]],
    passes: int,
) -> None:
    """Give the holders of one share of many rows the rows that then hide least in all.

    Parameters
    ----------
    table : BinaryTable
        Each record is a person.
    classes : RecordClasses
    holders : int32 (n, D)
        By row and share the class that holds it, first that of the own record; changed.
    blank : uint64 (n, words)
        What a row hides in any case.
    weights : int32 (f,) and int32 (attributes,)
    passes : int

    Notes
    -----
    This is a round of Hungarian (Doka et al., section 7) on rows that are full: one share of each
    row is taken out, and an assignment of least cost puts it back. It finds cycles of many rows,
    where `swap_shares` finds cycles of two. Each pass puts the rows into another lexicographic
    order and cuts it into segments. No assignment makes the rows hide more. Costs are whole and
    below 2^53, so the result is exact. Time O(passes n D SEGMENT^2), memory O(SEGMENT^2).
    """
    from scipy.optimize import linear_sum_assignment  # takes a third of a second to import

    n, words = blank.shape
    hides, once = np.empty((2, n, words), dtype=np.uint64)
    relief = np.empty(holders.shape, dtype=np.int32)
    shared = HeldRows(holders, hides, once, relief, np.empty(n, dtype=np.int32))
    prices, parties = prices_of(table, weights), parties_of(classes, holders)
    unite_rows(shared, classes.bits, table.bits, blank, prices)
    for turn in range(passes):
        order = np.lexsort(table.codes[turn_attributes(len(table.codes), turn)])
        for rows in np.array_split(order, -(-n // SEGMENT)):
            costs = np.empty((len(rows), len(rows)))
            for share in range(1, holders.shape[1]):
                all_costs(rows, share, shared, classes.bits, table.bits, parties, prices, costs)
                giver, row = linear_sum_assignment(costs)
                hand_over(
                    rows[row], rows[giver], share, shared,
                    classes.bits, table.bits, blank, prices,
                )  # fmt: skip


def turn_attributes(attributes: int, turn: int) -> NDArray[np.int64]:
    """An order of the attributes: each turn begins elsewhere and takes another stride."""
    strides = [s for s in range(1, attributes + 1) if math.gcd(s, attributes) == 1]
    return (turn + strides[turn % len(strides)] * np.arange(attributes)) % attributes
